"""Sample tasks on real public files, shipped so that a new hub can show a whole run without anybody's data."""

from agents_runner.samples.catalogue import SAMPLES, SampleTask, find_sample, first_pair, normalise_task

__all__ = ["SAMPLES", "SampleTask", "find_sample", "first_pair", "normalise_task"]
