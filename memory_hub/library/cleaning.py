"""What people, programs and runs hand in, checked and made ready for the columns of solutions and revisions."""

from collections.abc import Callable, Mapping
from typing import Any

from memory_hub.common.errors import InvalidInput

from .check_spec import clean_check
from .code_facts import signature_of
from .drafts import NewSolution
from .models import Solution
from .secret_scan import text_of
from .texts import MAX_ENTRIES, entries, prose, storable_json, tag_list, title_line

EDITABLE = ("title", "problem", "kind", "applies_when", "edge_cases", "tags")
# A run's task becomes the problem, so this is no tighter than what a run takes.
MAX_PROBLEM = 100_000


def solution_values(draft: NewSolution) -> dict[str, Any]:
    alternatives = [storable_json(item) for item in draft.failed_alternatives][-MAX_ENTRIES:]
    return {
        "title": title_line(draft.title),
        "problem": prose(draft.problem, "problem", limit=MAX_PROBLEM, required=True),
        "kind": _kind(draft.kind),
        "applies_when": prose(draft.applies_when, "applies_when"),
        "edge_cases": entries(draft.edge_cases, "edge_cases"),
        "failed_alternatives": alternatives,
        "tags": tag_list(draft.tags),
        "environment": storable_json(draft.environment),
        "input_profile": storable_json(draft.input_profile),
    }


def revision_values(draft: NewSolution, inputs: Mapping[str, str], *, captured: bool) -> dict[str, Any]:
    entry_point, missing = draft.entry_point, draft.check_missing
    try:
        signature = signature_of(draft.code, entry_point)
    except InvalidInput as error:
        if not captured:
            raise
        entry_point, signature, missing = "", "", error.message
    check = None
    if draft.check_spec is not None and entry_point:
        try:
            check = clean_check(draft.check_spec, inputs)
        except InvalidInput as error:
            if not captured:
                raise
            missing = error.message
    elif draft.check_spec is not None and not captured:
        message = "A check calls the entry point, and a script has none."
        raise InvalidInput(message, fields={"check_spec": message})
    return {
        "code": draft.code,
        "entry_point": entry_point,
        "signature": signature,
        "usage_example": prose(draft.usage_example, "usage_example"),
        "check_spec": check,
        "check_missing": "" if check else prose(missing, "check_missing") or _why_none(entry_point),
        "explanation": prose(draft.explanation, "explanation"),
        "depends_on": [prose(name, "depends_on", limit=120) for name in draft.depends_on],
        "needs_verification": check is not None,
    }


def _why_none(entry_point: str) -> str:
    return "Its author gave none." if entry_point else "A script has no function to call."


def texts_of(draft: NewSolution) -> dict[str, str]:
    """Return every text of a draft by the name of its field, for the secret scan."""
    names = ("title", "problem", "code", "applies_when", "usage_example", "explanation")
    others = ("edge_cases", "failed_alternatives", "environment", "input_profile", "check_spec", "tags")
    return {
        **{name: getattr(draft, name) for name in names},
        **{name: text_of(getattr(draft, name)) for name in others},
    }


def clean_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(changes) - set(EDITABLE)):
        raise InvalidInput(
            f"These cannot be changed: {', '.join(unknown)}. Code is changed by a new revision."
        )
    clean: dict[str, Callable[[Any], Any]] = {
        "title": title_line,
        "problem": lambda value: prose(value, "problem", limit=MAX_PROBLEM, required=True),
        "kind": _kind,
        "applies_when": lambda value: prose(value, "applies_when"),
        "edge_cases": lambda value: entries(value, "edge_cases"),
        "tags": tag_list,
    }
    return {name: clean[name](value) for name, value in changes.items()}


def _kind(value: str) -> str:
    if value not in Solution.Kind.values:
        message = f"“{value}” is no kind of solution; use one of {', '.join(Solution.Kind.values)}."
        raise InvalidInput(message, fields={"kind": message})
    return str(value)
