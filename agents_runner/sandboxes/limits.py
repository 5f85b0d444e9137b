"""What one sandbox may use: every limit in one frozen value, with its unit."""

from __future__ import annotations

from dataclasses import dataclass, fields

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Hard limits of a sandbox. The defaults suit a data task on a file of some tens of megabytes.

    memory_bytes:          address space of each process inside (bytes); above it Python raises MemoryError and
                           the variables survive.
    total_memory_bytes:    resident memory of all processes inside together (bytes, file pages not counted);
                           above it everything inside is killed and the variables are lost.
    process_count:         processes and threads inside at the same time (the worker itself counts).
    cpu_seconds:           processor time of one step, summed over all processes inside (seconds).
    step_seconds:          wall time of one step (seconds); the time a tool runs on the host does not count.
    grace_seconds:         after the wall limit the step gets KeyboardInterrupt and this long (seconds) to end with
                           its variables intact; then everything inside is killed.
    file_bytes:            size of one written file (bytes), and of each writable folder as a whole.
    file_count:            files and folders in the writable folders together.
    open_file_count:       open file descriptors of each process.
    output_bytes:          printed text kept per step (bytes of UTF-8); the middle of longer output is dropped.
    value_bytes:           size of a value that leaves or enters the sandbox, as JSON (bytes); larger values
                           arrive as shortened text.
    tool_calls_per_step:   calls of host tools one step may make.
    start_seconds:         time a sandbox may take to start (seconds) before it counts as broken.
    """

    memory_bytes: int = 1024 * MEBIBYTE
    total_memory_bytes: int = 1536 * MEBIBYTE
    process_count: int = 32
    cpu_seconds: float = 120.0
    step_seconds: float = 60.0
    grace_seconds: float = 1.0
    file_bytes: int = 64 * MEBIBYTE
    file_count: int = 10_000
    open_file_count: int = 128
    output_bytes: int = 64 * 1024
    value_bytes: int = 8 * MEBIBYTE
    tool_calls_per_step: int = 200
    start_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that is not positive: there is no 'unlimited'."""
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name} must be greater than 0")
