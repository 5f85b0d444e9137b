"""Sandboxes: where the code of an agent runs, cut off from the host. No Django here.

Names are imported from the modules (`from agents_runner.sandboxes.executor import SandboxExecutor`),
so that asking which sandboxes work does not load smolagents.
"""
