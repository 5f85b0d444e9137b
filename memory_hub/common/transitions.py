"""State machines as plain tables: which status may follow which."""

from collections.abc import Mapping

from .errors import IllegalTransition


def require_transition(table: Mapping[str, frozenset[str]], current: str, wanted: str, what: str) -> None:
    """Raise IllegalTransition unless `table` allows `what` to go from `current` to `wanted`."""
    if wanted not in table.get(current, frozenset()):
        allowed = ", ".join(sorted(table.get(current, frozenset()))) or "nothing more"
        raise IllegalTransition(f"This {what} is {current}; it cannot become {wanted} (possible: {allowed}).")
