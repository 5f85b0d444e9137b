"""How a run may move: the one table of its states."""

from .models import Run

_State = Run.State

RUN_TRANSITIONS: dict[str, frozenset[str]] = {
    # Failed without having run: whoever started it lost the right to.
    _State.QUEUED: frozenset({_State.RUNNING, _State.CANCELLED, _State.FAILED}),
    _State.RUNNING: frozenset({_State.SUCCEEDED, _State.FAILED, _State.CANCELLED, _State.LOST}),
}
