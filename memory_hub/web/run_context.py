"""What the run page shows, whole or piece by piece: the same templates for a reload and for the live log."""

import json
from collections.abc import Iterable
from typing import Any

from django.template.loader import render_to_string

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import can
from memory_hub.common.clock import now
from memory_hub.common.text import first_sentence
from memory_hub.runs import selectors
from memory_hub.runs.feed import LogEntry
from memory_hub.runs.models import Run, RunEvent

from .answers import url_in


def run_row(project: Project, run: Run) -> dict[str, Any]:
    """Return a run as components/run_row.html shows it."""
    return {
        "title": first_sentence(run.task), "url": url_in(project, "run", run.id), "state": run.state,
        "author": run.starter.name, "when": run.created_at, "steps": run.step_count if run.started_at else None,
        "seconds": _seconds(run), "tokens": run.input_tokens + run.output_tokens, "model": run.model_label,
        "memory": None if run.memory_on else "memory off",
    }  # fmt: skip


def run_page(actor: Actor, project: Project, run: Run) -> dict[str, Any]:
    """Return the context of the whole page."""
    moments = selectors.moments(actor, run)
    own = run.starter_id == actor.user_id
    may_cancel = can(actor, Permission.RUN_START if own else Permission.RUN_CANCEL_ANY, run)
    return {
        **progress(run),
        **_pieces(run, moments.values()),
        "run": run,
        "title": first_sentence(run.task),
        "inputs": list(selectors.inputs(actor, run)),
        "step_rows": list(selectors.steps(actor, run)),
        "live": not run.is_settled,
        "stream_url": f"{url_in(project, 'run_stream', run.id)}?after={run.last_sequence}",
        "cancel_url": url_in(project, "run_cancel", run.id) if may_cancel and not run.has_ended else "",
        "cancelling": run.cancel_requested_at is not None and not run.has_ended,
        "again_url": f"{url_in(project, 'run_new')}?like={run.id}"
        if can(actor, Permission.RUN_START, project)
        else "",
        "team_slug": project.team.slug,
        "project_slug": project.slug,
    }


def event_html(entry: LogEntry, team_slug: str, project_slug: str) -> str:
    """Return what one entry of the log adds to the page or replaces in it. Reads nothing from the database."""
    event, run = entry.event, entry.run
    context = {
        **progress(run),
        **_pieces(run, entry.moments.values()),
        "kind": event.kind, "run": run, "step": event.step, "team_slug": team_slug, "project_slug": project_slug,
    }  # fmt: skip
    return render_to_string("runs/parts/event.html", context)


def progress(run: Run) -> dict[str, Any]:
    """Return what components/run_progress.html shows."""
    return {
        "run_state": run.state, "steps": run.step_count, "seconds": _seconds(run),
        "tokens": run.input_tokens + run.output_tokens, "model": run.model_label,
    }  # fmt: skip


def _pieces(run: Run, events: Iterable[RunEvent]) -> dict[str, Any]:
    data = {event.kind: event.data for event in events}
    failed = data.get(RunEvent.Kind.CAPTURE_FAILED)
    return {
        "recalled": _recalled(data.get(RunEvent.Kind.RECALLED), run.memory_use.get("used") or []),
        "captured": data.get(RunEvent.Kind.CAPTURED),
        "capture_failed": failed["reason"] if failed else "",
        "answer_json": _pretty(run.answer),
        "environment": _facts_of(run.environment),
    }


def _recalled(data: dict[str, Any] | None, used: list[str]) -> dict[str, Any] | None:
    """Return what was recalled with each item whole: a program elsewhere may have written less."""
    if data is None:
        return None
    items = [item for item in data.get("items") or [] if isinstance(item, dict)]
    names = ("solution", "title", "status", "verification")
    return {
        "items": [
            {
                **{name: str(item.get(name) or "") for name in names},
                "reason": _why(item, used),
                "score": item["score"] if isinstance(item.get("score"), int | float) else None,
            }
            for item in items
        ]
    }


def _why(item: dict[str, Any], used: list[str]) -> str:
    """Return why the item was recalled, how it was offered, and whether the agent used it."""
    said = [str(item.get("reason") or "").strip()]
    if item.get("entry_point"):
        said.append(f"Offered as the function {item['entry_point']}().")
    if item.get("revision") in used:
        said.append("Used.")
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in said if part)


def _seconds(run: Run) -> float | None:
    if run.started_at is None or run.ended_at is not None:
        return run.seconds
    return (now() - run.started_at).total_seconds()


def _pretty(answer: str) -> str:
    """Return an answer that is a JSON object or list, indented; empty for any other."""
    try:
        value = json.loads(answer)
    except ValueError:
        return ""
    return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, dict | list) else ""


def _facts_of(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """Return versions and names as (what, value), packages one by one."""
    facts: list[tuple[str, str]] = []
    for name, value in environment.items():
        if isinstance(value, dict):
            facts.extend((str(package), str(version)) for package, version in value.items())
        elif isinstance(value, str | int | float) and value != "" and name not in ("model", "sandbox"):
            facts.append((str(name), str(value)))
    return facts
