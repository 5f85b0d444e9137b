"""A smolagents model whose replies are scripted by us. It decides by nothing but the prompt it is given."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole, Model
from smolagents.monitoring import TokenUsage

from agents_runner.rehearsal.attempts import SCRIPTS, Attempt, input_path
from agents_runner.rehearsal.offered import MEMORY_MARK, offered_functions
from agents_runner.samples import SampleTask, find_sample

REHEARSAL_MODEL_ID = "rehearsal (scripted replies, no model)"


class RehearsalRefusedError(Exception):
    """The rehearsal has no reply for this prompt; the message says what to do."""


class RehearsalModel(Model):
    """Plays the shipped sample tasks, reply by reply.

    If the prompt offers a function from memory that is about the task, it calls that one by the name found there.
    Otherwise, or when that call failed, it plays the script: attempts that fail for a real reason, each followed
    (once its error stands in the prompt) by the next, up to the one that works. Any other task raises
    ``RehearsalRefusedError``, as does an error that the script does not expect.

    pause_seconds: wait before each reply, so that a person can watch the steps arrive.
    """

    def __init__(self, pause_seconds: float = 0.0, **kwargs: Any) -> None:
        super().__init__(model_id=REHEARSAL_MODEL_ID, flatten_messages_as_text=True, **kwargs)
        self.pause_seconds = max(0.0, pause_seconds)

    def generate(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        """The next reply. Raises RehearsalRefusedError."""
        if self.pause_seconds:
            time.sleep(self.pause_seconds)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=_reply(messages, stop_sequences or []),
            # no model, no tokens: a number here would be made up
            token_usage=TokenUsage(input_tokens=0, output_tokens=0),
        )

    def generate_stream(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatMessageStreamDelta]:
        """The same reply, line by line. Raises RehearsalRefusedError."""
        reply = self.generate(messages, stop_sequences)
        for line in str(reply.content).splitlines(keepends=True):
            yield ChatMessageStreamDelta(content=line)
        yield ChatMessageStreamDelta(content="", token_usage=reply.token_usage)


def _reply(messages: Sequence[ChatMessage], stop_sequences: Sequence[str]) -> str:
    opening, closing = _code_block_tags(stop_sequences)
    if not opening:
        # smolagents asks for a plan, or for a last word when the steps are used up: there is no script for these
        return "This is a rehearsal with scripted replies; it has nothing to say beyond its steps."

    task_index, task = next(
        ((index, text) for index, text in enumerate(map(_text, messages)) if "New task:" in text), (0, "")
    )
    # what memory quotes may hold the task of another run: only the words before it are this run's task
    sample = find_sample(task.partition(MEMORY_MARK)[0])
    if sample is None:
        raise RehearsalRefusedError(
            "The rehearsal answers only the sample tasks that come with Memory Hub. For a task of your own, add a "
            "model connection (any OpenAI-compatible server will do) and choose it for the run."
        )
    errors = [text for text in map(_text, messages[task_index + 1 :]) if _is_error(text)]
    attempt = _next_attempt(sample, task, errors)
    return f"Thought: {attempt.thought}\n{opening}\n{attempt.code}\n{closing}"


def _next_attempt(sample: SampleTask, task: str, errors: Sequence[str]) -> Attempt:
    """The reply after ``errors``. Raises RehearsalRefusedError when one of them is not the one the script expects."""
    script = SCRIPTS[sample.key]
    attempts = list(script.attempts(input_path(sample)))
    for function in offered_functions(task):
        if any(subject.lower() in function.text.lower() for subject in script.subjects):
            call = f'final_answer({function.name}("{input_path(sample)}"))'
            thought = f"Memory offers `{function.name}` for this kind of task; I call it on the input file."
            attempts.insert(0, Attempt(thought, call))
            break
    for attempt, error in zip(attempts, errors, strict=False):
        # a call of a remembered function has no expected error: whatever it was, the long way follows
        if attempt.fails_with not in error:
            raise RehearsalRefusedError(
                f"The rehearsal expected another error here, so it stops. It got: {error}"
            )
    if len(errors) >= len(attempts):
        raise RehearsalRefusedError("The attempt that should work has failed, so the rehearsal stops.")
    return attempts[len(errors)]


def _code_block_tags(stop_sequences: Sequence[str]) -> tuple[str, str]:
    """The tags the agent wants around code, told by what it wants the reply to stop at; ("", "") for no code."""
    if "</code>" in stop_sequences:
        return "<code>", "</code>"
    if "Observation:" in stop_sequences:
        return "```python", "```"
    return "", ""


def _is_error(text: str) -> bool:
    """Whether this message reports a failed step: "Error:" first, or after smolagents' line with the call's id."""
    first, _, rest = text.lstrip().partition("\n")
    return first.startswith("Error:") or (first.startswith("Call id:") and rest.startswith("Error:"))


def _text(message: ChatMessage) -> str:
    """A message's text, whether it is a string or a list of parts."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(
        str(part.get("text", "")) for part in message.content or [] if part.get("type") == "text"
    )
