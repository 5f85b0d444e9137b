"""The client's `Hub` protocol over our own services: what an attached agent in a worker talks to."""

from __future__ import annotations

from memory_hub.access.actor import acting_as
from memory_hub.recall.packing import pack_lesson
from memory_hub.recall.services import ErrorDetails, RecallRequest, lookup_error, recall_make
from memory_hub.runs.models import Run, RunEvent
from memory_hub.runs.services import actor_of_run, event_append
from memory_hub_client.types import (
    ErrorQuery,
    LessonHint,
    OfferedCallable,
    RecalledItem,
    RecallQuery,
    RecallResult,
    RunRecord,
)


class ServiceHub:
    """Memory for one run, under that run's rights. Each question is a short transaction of its own."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.recalled = RecallResult()
        self.recorded: RunRecord | None = None
        self._hint = ""

    def recall(self, query: RecallQuery) -> RecallResult:
        """Recall on the run's own task and note on the run what was offered."""
        run = self._run
        actor = actor_of_run(run)
        with acting_as(actor):
            answer = recall_make(
                actor=actor,
                project=run.project,
                query=RecallRequest(
                    task=run.task, sandbox=query.sandbox or "", top_k=query.top_k, max_tokens=query.max_tokens
                ),
                run=run,
            )
            event_append(
                run=run,
                kind=RunEvent.Kind.RECALLED,
                data={
                    "recall": str(answer.recall.id),
                    "no_match": answer.no_match,
                    "items": [
                        {
                            "solution": item.solution_id,
                            "revision": item.revision_id,
                            "title": item.title,
                            "rank": item.rank,
                            "score": item.score,
                            "reason": item.reason,
                            "status": item.status,
                            "verification": item.verification,
                            "entry_point": item.entry_point or "",
                        }
                        for item in answer.items
                    ],
                },
            )
        self.recalled = RecallResult(
            recall_id=str(answer.recall.id),
            items=tuple(
                RecalledItem(
                    revision_id=item.revision_id,
                    solution_id=item.solution_id,
                    title=item.title,
                    score=item.score,
                    rank=item.rank,
                    reason=item.reason,
                    status=item.status,
                    verification=item.verification,
                    entry_point=item.entry_point or None,
                    signature=item.signature or None,
                    code=item.code,
                    kind=item.kind,
                )
                for item in answer.items
            ),
            block=answer.block,
            callables=tuple(
                OfferedCallable(
                    name=item.name, signature=item.signature, source=item.source, revision_id=item.revision_id
                )
                for item in answer.callables
            ),
            no_match=answer.no_match,
        )
        return self.recalled

    def lookup_error(self, query: ErrorQuery) -> LessonHint | None:
        """Return the known fix for an error, and keep its words for the step that met it."""
        run = self._run
        actor = actor_of_run(run)
        with acting_as(actor):
            lesson = lookup_error(
                actor=actor,
                project=run.project,
                error=ErrorDetails(
                    exception_type=query.exception_type,
                    message=query.message,
                    failing_line=query.failing_line,
                    traceback=query.traceback,
                    code=query.code,
                ),
                run=run,
            )
        if lesson is None:
            return None
        self._hint = pack_lesson(lesson)
        return LessonHint(lesson_id=str(lesson.id), text=self._hint, title=str(lesson))

    def record(self, record: RunRecord) -> None:
        """Keep the record for the engine, which writes it with the end of the run."""
        self.recorded = record

    def take_hint(self) -> str:
        """Return the hint given since the last call, once."""
        hint, self._hint = self._hint, ""
        return hint
