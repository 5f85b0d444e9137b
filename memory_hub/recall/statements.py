"""What a solution or a lesson says in words, for search and for people. Pure functions."""

from memory_hub.library.fingerprint import short_type
from memory_hub.library.models import Solution

TEXT_CHARACTERS = 8_000


def heading_of(solution: Solution) -> str:
    """Return the title where it says something else than the problem begins with."""
    title = solution.title.rstrip("….")
    return "" if solution.problem.startswith(title) else solution.title


def meaning_of(heading: str, statement: str) -> str:
    """Return what questions are compared with, and what is embedded."""
    return f"{heading}\n{statement}".strip()[:TEXT_CHARACTERS]


def statement_of(solution: Solution) -> str:
    """Return the problem, led by the title where that says something else."""
    return f"{heading_of(solution)}\n{solution.problem}".strip()


def error_statement(exception_type: str, message: str) -> str:
    """Return an error as lessons are compared: the class without its module, and the message."""
    return f"{short_type(exception_type)}: {message}"
