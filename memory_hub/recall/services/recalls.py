"""One recall: ask, choose, pack, and write down what was offered and why."""

import time
from dataclasses import asdict, replace
from uuid import UUID

from memory_hub.access.actor import Actor, ActorKind
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.errors import InvalidInput
from memory_hub.common.text import storable
from memory_hub.library.models import Lesson
from memory_hub.recall.callables import callables_of
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.offers import offers
from memory_hub.recall.packing import estimate_tokens, pack
from memory_hub.recall.search import search
from memory_hub.recall.values import OfferedItem, RecallAnswer, RecallRequest
from memory_hub.runs.masking import mask
from memory_hub.runs.models import Run

from .lessons import find_lessons

MAX_TOP_K = 20
MAX_TOKENS = 20_000
_QUERY_CHARACTERS = 20_000
# Candidates looked at: many more than are offered, since some may not be served.
_ARM_SIZE = 40


def recall_make(
    *, actor: Actor, project: Project, query: RecallRequest, run: Run | None = None
) -> RecallAnswer:
    """Return what the memory offers for a task, an error, or both, and record it in the caller's transaction.

    Raises InvalidInput for an empty question. Filters narrow; they never reach beyond the actor's project.
    """
    require(actor, Permission.RECALL, project)
    _require_sensible(query)
    started = time.monotonic()
    items: list[OfferedItem] = []
    rejected: OfferedItem | None = None
    model_id = ""
    if query.task.strip():
        found = search(text=query.task, projects=[project.id], arm_size=_ARM_SIZE)
        model_id = found.model_id
        ranked = [item for item in offers(actor, project, found.scored) if _passes(item, query)]
        threshold = found.threshold if query.threshold is None else query.threshold
        fitting = [item for item in ranked if item.score >= threshold]
        items = [replace(item, rank=rank) for rank, item in enumerate(fitting[: query.top_k], start=1)]
        rejected = next((item for item in ranked if item.score < threshold), None)
    lessons = find_lessons(actor, project, query.error)[: query.top_k] if query.error else []
    offered_functions = callables_of(items)
    block = pack(items, offered_functions, query.max_tokens)
    recall = Recall.objects.create(
        team_id=project.team_id,
        project=project,
        query=mask(storable(query.task[:_QUERY_CHARACTERS]))[0],
        error=_storable_error(query),
        filters=dict(query.filters),
        sandbox=query.sandbox[:20],
        run=run,
        user_id=actor.user_id,
        key_id=actor.through_id if actor.kind is ActorKind.KEY else None,
        no_match=not items and not lessons,
        tokens=estimate_tokens(block),
        embedding_model=model_id,
        milliseconds=(time.monotonic() - started) * 1000,
    )
    _record_items(recall, items, lessons)
    record(
        actor=actor, event=Event.RECALLED, object_kind="recall", object_id=recall.id, team_id=project.team_id,
        project_id=project.id, data={"revisions": [item.revision_id for item in items]},
    )  # fmt: skip
    return RecallAnswer(
        recall=recall,
        items=items,
        block=block,
        callables=offered_functions,
        lessons=lessons,
        no_match=recall.no_match,
        best_rejected=rejected if query.explain else None,
    )


def _require_sensible(query: RecallRequest) -> None:
    if not query.task.strip() and query.error is None:
        raise InvalidInput("Say what the task is, or which error was met.", fields={"task": "Empty."})
    if not 1 <= query.top_k <= MAX_TOP_K:
        raise InvalidInput(f"top_k is 1 to {MAX_TOP_K}.", fields={"top_k": f"1 to {MAX_TOP_K}"})
    if not 1 <= query.max_tokens <= MAX_TOKENS:
        raise InvalidInput(f"max_tokens is 1 to {MAX_TOKENS}.", fields={"max_tokens": f"1 to {MAX_TOKENS}"})


def _passes(item: OfferedItem, query: RecallRequest) -> bool:
    wanted = query.filters
    return all(
        name not in wanted or getattr(item, name) in _as_list(wanted[name])
        for name in ("status", "verification", "kind")
    )


def _as_list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _storable_error(query: RecallRequest) -> dict[str, str] | None:
    if query.error is None:
        return None
    return {name: mask(storable(value[:_QUERY_CHARACTERS]))[0] for name, value in asdict(query.error).items()}


def _record_items(recall: Recall, items: list[OfferedItem], lessons: list[Lesson]) -> None:
    owner = {"team_id": recall.team_id, "project_id": recall.project_id, "recall": recall}
    rows = [
        RecallItem(
            **owner,
            rank=item.rank,
            score=item.score,
            score_parts=dict(item.score_parts),
            reason=item.reason,
            solution_id=UUID(item.solution_id),
            revision_id=UUID(item.revision_id),
            status=item.status,
            verification=item.verification,
        )
        for item in items
    ]
    rows += [
        RecallItem(**owner, rank=rank, score=1.0, reason="The same kind of error.", lesson=lesson)
        for rank, lesson in enumerate(lessons, start=len(items) + 1)
    ]
    RecallItem.objects.bulk_create(rows)
