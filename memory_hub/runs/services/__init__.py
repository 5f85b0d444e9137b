"""Writes of the runs room, one module per noun. What others use is named here.

People and keys: run_start, run_cancel, run_record, connection_*; the caller holds acting_as(actor).
Workers: everything else; each acts as the hub itself in a short transaction of its own, so it needs no caller's.
"""

from memory_hub.runs.values import Captured, RecordedRun, RunEnd, RunSignal, StepData, UploadedInput

from .capture import run_capture_begin, run_capture_failed, run_captured
from .connections import connection_change, connection_create, connection_retire
from .execution import run_claim, run_end, run_prepared, run_renew
from .inputs import input_path, input_profile_set
from .log import LeaseLost
from .records import run_record
from .runs import actor_of_run, run_cancel, run_start
from .steps import event_append, step_append, step_set_hint
from .sweep import files_sweep, runs_sweep

__all__ = [
    "Captured", "LeaseLost", "RecordedRun", "RunEnd", "RunSignal", "StepData", "UploadedInput",
    "actor_of_run", "connection_change", "connection_create", "connection_retire", "event_append", "files_sweep",
    "input_path", "input_profile_set", "run_cancel", "run_capture_begin", "run_capture_failed", "run_captured",
    "run_claim", "run_end", "run_prepared", "run_record", "run_renew", "run_start", "runs_sweep", "step_append",
    "step_set_hint",
]  # fmt: skip
