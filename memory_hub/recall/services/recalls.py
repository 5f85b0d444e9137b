"""One recall: ask, choose, pack, and write down what was offered and why."""

import time
from collections.abc import Mapping, Sequence
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
from memory_hub.recall.callables import callables_of
from memory_hub.recall.inputs import MAX_PROFILES
from memory_hub.recall.models import Recall, RecallItem
from memory_hub.recall.offers import offers
from memory_hub.recall.packing import pack
from memory_hub.recall.search import search
from memory_hub.recall.values import ErrorDetails, OfferedItem, RecallAnswer, RecallRequest
from memory_hub.recall.worth import Place
from memory_hub.runs.masking import mask
from memory_hub.runs.models import Run

from .lessons import add_lessons, find_lessons

MAX_TOP_K = 20
MAX_TOKENS = 20_000
FILTERS = ("kind", "status", "verification")
_QUERY_CHARACTERS = 20_000


def recall_make(
    *, actor: Actor, project: Project, query: RecallRequest, run: Run | None = None
) -> RecallAnswer:
    """Return what the memory offers for a task, an error, or both, and record it in the caller's transaction.

    Raises InvalidInput for an empty question, a filter that there is not, or a number out of its bounds. Filters
    narrow; they never reach beyond the actor's project.
    """
    require(actor, Permission.RECALL, project)
    _require_sensible(query)
    started = time.monotonic()
    items: list[OfferedItem] = []
    rejected: OfferedItem | None = None
    model_id = ""
    if query.task.strip():
        found = search(text=query.task, projects=[project.id])
        model_id = found.model_id
        threshold = found.threshold if query.threshold is None else query.threshold
        filters = {name: _as_list(value) for name, value in query.filters.items()}
        ranked = offers(
            actor, project, found.scored, filters=filters, top_k=query.top_k, place=_place(query, run)
        )
        fitting = [item for item in ranked if item.score >= threshold]
        items = [replace(item, rank=rank) for rank, item in enumerate(fitting[: query.top_k], start=1)]
        rejected = max(
            (item for item in ranked if item.score < threshold), key=lambda item: item.score, default=None
        )
    lessons = find_lessons(actor, project, query.error)[: query.top_k] if query.error else []
    functions = callables_of(actor, project, items)
    packed = pack(items, {function.revision_id for function in functions}, query.max_tokens)
    recall = Recall.objects.create(
        team_id=project.team_id,
        project=project,
        query=_kept(query.task),
        error=_kept_error(query.error),
        filters={name: _as_list(value) for name, value in query.filters.items()},
        sandbox=storable(query.sandbox)[:20],
        run=run,
        user_id=actor.user_id,
        key_id=actor.through_id if actor.kind is ActorKind.KEY else None,
        no_match=not items and not lessons,
        tokens=packed.tokens,
        embedding_model=model_id,
        milliseconds=(time.monotonic() - started) * 1000,
    )
    _add_items(recall, items)
    if lessons:
        add_lessons(recall, lessons)
    record(
        actor=actor, event=Event.RECALLED, object_kind="recall", object_id=recall.id, team_id=project.team_id,
        project_id=project.id,
        data={
            "revisions": [item.revision_id for item in items],
            "lessons": [str(item.lesson.id) for item in lessons],
        },
    )  # fmt: skip
    return RecallAnswer(
        recall=recall,
        items=items,
        block=packed.text,
        # A function of which the prompt says nothing would only be in the way.
        callables=[function for function in functions if function.revision_id in packed.revision_ids],
        lessons=lessons,
        no_match=recall.no_match,
        best_rejected=rejected if query.explain else None,
    )


def _place(query: RecallRequest, run: Run | None) -> Place:
    """Return where the answer is to be used: what was said, and else what is known of the run that asks."""
    inputs = query.inputs
    if run is not None and not inputs:
        inputs = {item.name: item.profile for item in run.inputs.all() if item.profile}
    packages = run.environment.get("packages") if run is not None else None
    return Place(query.sandbox, packages if isinstance(packages, Mapping) else {}, inputs)


def _require_sensible(query: RecallRequest) -> None:
    if not query.task.strip() and query.error is None:
        raise InvalidInput("Say what the task is, or which error was met.", fields={"task": "Empty."})
    if not 1 <= query.top_k <= MAX_TOP_K:
        raise InvalidInput(f"top_k is 1 to {MAX_TOP_K}.", fields={"top_k": f"1 to {MAX_TOP_K}"})
    if not 1 <= query.max_tokens <= MAX_TOKENS:
        raise InvalidInput(f"max_tokens is 1 to {MAX_TOKENS}.", fields={"max_tokens": f"1 to {MAX_TOKENS}"})
    if len(query.inputs) > MAX_PROFILES:
        message = f"At most {MAX_PROFILES} profiles of inputs."
        raise InvalidInput(message, fields={"inputs": message})
    if query.threshold is not None and not 0 <= query.threshold <= 1:
        raise InvalidInput("threshold is 0 to 1.", fields={"threshold": "0 to 1"})
    if unknown := sorted(set(query.filters) - set(FILTERS)):
        message = f"There is no filter {', '.join(unknown)}; there are {', '.join(FILTERS)}."
        raise InvalidInput(message, fields={"filters": message})


def _as_list(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _kept(text: str) -> str:
    return mask(storable(text[:_QUERY_CHARACTERS]))[0]


def _kept_error(error: ErrorDetails | None) -> dict[str, str] | None:
    return {name: _kept(value) for name, value in asdict(error).items()} if error else None


def _add_items(recall: Recall, items: Sequence[OfferedItem]) -> None:
    RecallItem.objects.bulk_create(
        RecallItem(
            team_id=recall.team_id,
            project_id=recall.project_id,
            recall=recall,
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
    )
