"""Our values to and from the JSON of the REST API. A wrong answer is a HubError here, not a surprise later."""

from __future__ import annotations

from typing import Any

from .types import (
    ErrorQuery,
    LessonHint,
    OfferedCallable,
    OutcomeReport,
    RecalledItem,
    RecallQuery,
    RecallResult,
)


class HubError(Exception):
    """The hub could not be reached, refused, or answered something that is not its API."""


def recall_body(query: RecallQuery) -> dict[str, Any]:
    """Body of POST .../recall/ for a task."""
    return {
        "task": query.task,
        "error": {"message": query.error} if query.error else None,
        "sandbox": query.sandbox,
        "top_k": query.top_k,
        "max_tokens": query.max_tokens,
    }


def error_body(query: ErrorQuery) -> dict[str, Any]:
    """Body of POST .../recall/ for an error."""
    return {
        "error": {
            "type": query.exception_type,
            "message": query.message,
            "failing_line": query.failing_line,
            "traceback": query.traceback,
            "code": query.code,
        },
        "sandbox": query.sandbox,
        "recall": query.recall_id,
    }


def outcome_body(report: OutcomeReport) -> dict[str, Any]:
    """Body of POST recalls/{id}/outcome/."""
    return {
        "used": list(report.used_revision_ids),
        "outcome": "success" if report.success else "failure",
        "metrics": [
            {
                "name": metric.name,
                "value": metric.value,
                "unit": metric.unit,
                "higher_is_better": metric.higher_is_better,
            }
            for metric in report.metrics
        ],
    }


def recall_result(data: Any) -> RecallResult:
    """The answer to a recall. Raises HubError when it has another shape."""
    answer = _mapping(data)
    items = tuple(_item(entry) for entry in _list(answer, "items"))
    callables = tuple(
        OfferedCallable(
            _text(entry, "name"), _text(entry, "signature"), _text(entry, "source"), _text(entry, "revision")
        )
        for entry in map(_mapping, _list(answer, "callables"))
    )
    block = _text(answer, "block")
    return RecallResult(
        recall_id=_optional(answer, "id"),
        items=items,
        block=block,
        callables=callables,
        no_match=bool(answer.get("no_match", not (items or block or callables))),
    )


def first_lesson(data: Any) -> LessonHint | None:
    """The best lesson of an answer to an error, if any. Raises HubError when it has another shape."""
    for entry in map(_mapping, _list(_mapping(data), "lessons")):
        return LessonHint(
            lesson_id=_text(entry, "id"), text=_text(entry, "text"), title=_text(entry, "title")
        )
    return None


def _item(entry: Any) -> RecalledItem:
    item = _mapping(entry)
    try:
        score, rank = float(item.get("score") or 0.0), int(item.get("rank") or 0)
    except (TypeError, ValueError) as error:
        raise HubError("the hub's answer has a score or rank that is no number") from error
    return RecalledItem(
        revision_id=_text(item, "revision"),
        solution_id=_text(item, "solution"),
        title=_text(item, "title"),
        score=score,
        rank=rank,
        reason=_text(item, "reason"),
        status=_text(item, "status"),
        verification=_text(item, "verification"),
        entry_point=_optional(item, "entry_point"),
        signature=_optional(item, "signature"),
        code=_text(item, "code"),
        kind=_text(item, "kind"),
    )


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise HubError(f"the hub answered a JSON {type(value).__name__} where an object belongs")
    return value


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise HubError(f"{name!r} in the hub's answer is not a list")
    return found


def _optional(value: dict[str, Any], name: str) -> str | None:
    found = value.get(name)
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return str(found)
    raise HubError(f"{name!r} in the hub's answer is not text")


def _text(value: dict[str, Any], name: str) -> str:
    return _optional(value, name) or ""
