"""The program that runs inside a sandbox: standard library only, no import from outside this folder.

bundle.py compiles these modules into the one file `worker.pyc`. supervisor.py is process 1 of the sandbox and talks
to the host; it forks the worker (confine.py, interpreter.py), which runs the hostile code and talks to it alone.
codec.py is also used by the host, so that both sides speak one language.
"""
