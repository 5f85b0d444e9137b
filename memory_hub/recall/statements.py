"""What a solution or a lesson says in words, for search and for people. Pure functions."""

from memory_hub.library.fingerprint import short_type
from memory_hub.library.models import Solution


def statement_of(solution: Solution) -> str:
    """Return the problem, led by the title where that says something else."""
    title = solution.title.rstrip("….")
    return solution.problem if solution.problem.startswith(title) else f"{solution.title}\n{solution.problem}"


def error_statement(exception_type: str, message: str) -> str:
    """Return an error as lessons are compared: the class without its module, and the message."""
    return f"{short_type(exception_type)}: {message}"
