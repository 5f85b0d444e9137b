"""The solution draft of a run: which function gave the answer, its minimal program, and the check to replay."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agents_runner.distill.drafts import SolutionDraft
from agents_runner.distill.lessons import failed_alternatives
from agents_runner.distill.modules import imported_modules, third_party
from agents_runner.distill.program import Program, function_node, function_program, script_program
from agents_runner.distill.statements import parse
from agents_runner.distill.trajectory import FinalCall, StepData, Trajectory
from agents_runner.distill.wording import quote, title_of

CHECK_BYTES = 64 * 1024
EXAMPLE_CHARACTERS = 2_000
TAG_COUNT = 10


def solution_of(trajectory: Trajectory) -> SolutionDraft | None:
    """The draft of what the run found out, or None when no code of it worked."""
    if not any(step.worked for step in trajectory.steps):
        return None
    call = trajectory.final_call or _call_in_code(trajectory)
    recalled = {function.name for function in trajectory.recalled}
    if call is not None and call.entry_point:
        program = function_program(trajectory.steps, call.entry_point)
        if program is not None:
            return _draft(trajectory, program, recalled, call)
        if call.entry_point in recalled:
            return _draft(trajectory, Program("", frozenset({call.entry_point})), recalled, call)
    program = script_program(trajectory.steps)
    return _draft(trajectory, program, recalled, None) if program else None


def _draft(
    trajectory: Trajectory, program: Program, recalled: set[str], call: FinalCall | None
) -> SolutionDraft:
    node = function_node(program.code, call.entry_point) if call else None
    check, check_reason = _check(trajectory, call)
    imports = imported_modules(program.code)
    return SolutionDraft(
        title=title_of(trajectory.task),
        problem=trajectory.task,
        kind="function" if call else "script",
        code=program.code,
        entry_point=call.entry_point if call else None,
        signature=_signature(node) if node else "",
        usage_example=_usage_example(trajectory.steps, call) if call else "",
        check=check,
        check_reason=check_reason,
        failed_alternatives=failed_alternatives(trajectory.steps),
        environment=dict(trajectory.environment),
        input_profile=[dict(profile) for profile in trajectory.input_profile],
        tags=_tags(imports, trajectory.input_profile),
        imports=imports,
        depends_on=sorted(program.undefined & recalled),
        explanation=_explanation(trajectory.steps, call),
        complete=trajectory.outcome == "succeeded",
        reused_only=call is not None and not program.code,
    )


def _call_in_code(trajectory: Trajectory) -> FinalCall | None:
    """The call inside ``final_answer(f(...))`` of the last step, for executors that record none.

    It can be replayed when its arguments are literals.
    """
    step = trajectory.steps[-1]
    tree = parse(step.code) if step.worked and step.is_final else None
    for node in reversed(tree.body if tree else []):
        call = node.value if isinstance(node, ast.Expr) else None
        if not (
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "final_answer"
        ):
            continue
        inner = call.args[0] if call.args else None
        if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)):
            return None
        try:
            args = [ast.literal_eval(argument) for argument in inner.args]
            kwargs = {
                str(keyword.arg): ast.literal_eval(keyword.value) for keyword in inner.keywords if keyword.arg
            }
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return FinalCall(inner.func.id, reason="The arguments of the call are not known.")
        if len(kwargs) != len(inner.keywords):
            return FinalCall(inner.func.id, reason="The arguments of the call are not known.")
        return FinalCall(inner.func.id, args, kwargs, trajectory.answer, replayable=True)
    return None


def _check(trajectory: Trajectory, call: FinalCall | None) -> tuple[Mapping[str, Any] | None, str]:
    """The recorded call as a check, or None and the reason why there is none."""
    if call is None:
        return (
            None,
            "The final answer did not come from the call of a function, so there is no call to replay.",
        )
    if trajectory.outcome != "succeeded":
        return None, "The run did not end with a final answer."
    if not call.replayable:
        return None, call.reason or "The call cannot be replayed."
    check = {"args": list(call.args or ()), "kwargs": dict(call.kwargs or {}), "result": call.result}
    try:
        text = json.dumps(check, ensure_ascii=False, allow_nan=False)
        same = json.loads(text) == check
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError):
        same, size = False, 0
    if not same:
        return None, "The arguments or the result are no plain JSON values."
    if size > CHECK_BYTES:
        return None, f"The arguments and the result take {size:,} bytes; at most {CHECK_BYTES:,} are kept."
    return check, ""


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """ "clean(path: str, sep: str = ',') -> dict", as a person would read it."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def _usage_example(steps: Sequence[StepData], call: FinalCall) -> str:
    """The last call of the entry point at top level of a step, as written there if its arguments are literals;
    else with the recorded arguments."""
    written = ""
    for step in reversed(steps):
        tree = parse(step.code) if step.worked else None
        calls = [
            node
            for statement in (tree.body if tree else [])
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            for node in ast.walk(statement)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == call.entry_point
        ]
        if calls:
            written = ast.get_source_segment(step.code, calls[-1]) or ""
            values = [*calls[-1].args, *(keyword.value for keyword in calls[-1].keywords)]
            if all(isinstance(value, ast.Constant) for value in values):
                return written[:EXAMPLE_CHARACTERS]
            break
    if call.replayable:
        arguments = [repr(value) for value in call.args or ()]
        arguments += [f"{name}={value!r}" for name, value in (call.kwargs or {}).items()]
        written = f"{call.entry_point}({', '.join(arguments)})"
    return written if len(written) <= EXAMPLE_CHARACTERS else ""


def _explanation(steps: Sequence[StepData], call: FinalCall | None) -> str:
    """The agent's words before the step that holds the solution: it defined the entry point, or was the last."""
    worked = [step for step in steps if step.worked]
    defining = [step for step in worked if call and function_node(step.code, call.entry_point)]
    return quote((defining or worked)[-1].thought)


def _tags(imports: Sequence[str], profiles: Sequence[Mapping[str, Any]]) -> list[str]:
    kinds = sorted({str(profile["kind"]) for profile in profiles if profile.get("kind")})
    return [*third_party(imports), *kinds][:TAG_COUNT]
