"""Gaps: what was asked and had no answer, recorded by whoever asked, closed with a solution or dismissed."""

from memory_hub.access.actor import Actor
from memory_hub.access.models import Project
from memory_hub.access.permissions import Permission
from memory_hub.access.policy import require
from memory_hub.audit.events import Event
from memory_hub.audit.services import record
from memory_hub.common.clock import now
from memory_hub.common.errors import Conflict, InvalidInput, NotFound
from memory_hub.common.text import sha256_hex, shorten, storable
from memory_hub.library.models import Solution
from memory_hub.library.secret_scan import refuse_secrets
from memory_hub.library.texts import prose
from memory_hub.recall.models import Gap, GapAsker
from memory_hub.recall.query_words import Asked, pairs_of, word_of
from memory_hub.runs.masking import mask

MAX_QUESTION = 8_000
MAX_NOTE = 2_000


def gap_record(*, actor: Actor, project: Project, asked: Asked) -> Gap:
    """Keep a question, with its filters, as an open gap of the project; the same one counts up. Returns its row.

    Secrets in the question are masked: it is what somebody pasted. Raises InvalidInput for an empty question.
    """
    require(actor, Permission.GAP_RECORD, project)
    question = mask(storable(asked.words.strip()[:MAX_QUESTION]))[0]
    filters = {name: [mask(storable(value))[0] for value in values] for name, values in asked.filters.items()}
    if not question and not filters:
        raise InvalidInput("Say what was asked.", fields={"question": "Empty."})
    gap, created = Gap.objects.get_or_create(
        project=project,
        question_hash=question_hash(question, filters),
        state=Gap.State.OPEN,
        defaults={
            "team_id": project.team_id,
            "question": question,
            "filters": filters,
            "asked_by_id": actor.user_id,
        },
    )
    if not created:
        gap = Gap.objects.select_for_update(of=("self",)).get(id=gap.id)
        gap.times += 1
        gap.last_asked_at = now()
        gap.save(update_fields=["times", "last_asked_at"])
    if actor.user_id is not None:
        GapAsker.objects.get_or_create(
            gap=gap, user_id=actor.user_id, defaults={"team_id": project.team_id, "project": project}
        )
    _record(actor, Event.GAP_RECORDED, gap, {"times": gap.times})
    return gap


def gap_close(*, actor: Actor, gap: Gap, solution: Solution, note: str = "") -> Gap:
    """Close an open gap with the solution that answers it now.

    Raises NotFound for a solution of another project, InvalidInput for one that is archived, Conflict where the gap is
    not open any more.
    """
    if solution.project_id != gap.project_id:
        raise NotFound
    if solution.archived_at is not None:
        raise InvalidInput(
            "This solution is archived: nobody would find it.", fields={"solution": "It is archived."}
        )
    return _settle(actor, gap, Gap.State.CLOSED, Event.GAP_CLOSED, solution, note)


def gap_dismiss(*, actor: Actor, gap: Gap, note: str = "") -> Gap:
    """Say that a gap needs no answer here. Raises Conflict where it is not open any more."""
    return _settle(actor, gap, Gap.State.DISMISSED, Event.GAP_DISMISSED, None, note)


def question_hash(question: str, filters: dict[str, list[str]]) -> str:
    """Return what is the same for the same question and filters, however they are spaced, ordered and capitalised."""
    words = sorted(word_of(name, value) for name, values in filters.items() for value in values)
    return sha256_hex(" ".join([*question.split(), *words]).casefold())


def _settle(
    actor: Actor, gap: Gap, state: Gap.State, event: Event, solution: Solution | None, note: str
) -> Gap:
    require(actor, Permission.GAP_CLOSE, gap)
    note = prose(note, "note", limit=MAX_NOTE)
    refuse_secrets({"note": note})
    gap = Gap.objects.select_for_update(of=("self",)).get(id=gap.id)
    if gap.state != Gap.State.OPEN:
        raise Conflict("Somebody has settled this gap already.", code="gap_settled")
    gap.state, gap.solution, gap.note = state, solution, note
    gap.closed_by_id, gap.closed_at = actor.user_id, now()
    gap.save(update_fields=["state", "solution", "note", "closed_by", "closed_at"])
    _record(actor, event, gap, {"solution": str(solution.id)} if solution else {})
    return gap


def _record(actor: Actor, event: Event, gap: Gap, data: dict[str, object]) -> None:
    record(
        actor=actor,
        event=event,
        object_kind="gap",
        object_id=gap.id,
        object_label=shorten(label_of(gap), 120),
        team_id=gap.team_id,
        project_id=gap.project_id,
        data=data,
    )


def label_of(gap: Gap) -> str:
    """Return a gap as one would type it into the search box."""
    words = [word_of(name, value) for name, value in pairs_of(gap.filters)]
    return " ".join([*gap.question.split(), *words])
