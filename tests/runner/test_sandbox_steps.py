"""Running steps: state, tools, variables, output, errors, limits, cancelling. The same in every sandbox."""

from __future__ import annotations

import datetime
import decimal
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents_runner.sandboxes.errors import (
    CannotCross,
    CodeRaised,
    SandboxError,
    StepFailed,
    StepInterrupted,
    StepKilled,
    StepTimedOut,
)
from agents_runner.sandboxes.executor import SandboxExecutor
from agents_runner.sandboxes.inside import processes
from agents_runner.sandboxes.limits import MEBIBYTE, SandboxLimits

SANDBOXES = ["bubblewrap", "landlock"]
LIMITS = SandboxLimits(step_seconds=20, tool_calls_per_step=20, output_bytes=4000)
QUICK = SandboxLimits(step_seconds=1.5, grace_seconds=0.5)

STUBBORN = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"

Make = Callable[..., SandboxExecutor]


@pytest.fixture(params=SANDBOXES)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    made: list[SandboxExecutor] = []

    def make(**options: Any) -> SandboxExecutor:
        options.setdefault("limits", LIMITS)
        made.append(SandboxExecutor(request.param, **options))
        return made[-1]

    yield make
    for executor in made:
        executor.cleanup()


@pytest.fixture
def executor(make: Make) -> SandboxExecutor:
    return make()


def failed(executor: SandboxExecutor, code: str) -> StepFailed:
    with pytest.raises(StepFailed) as caught:
        executor(code)
    assert executor.last_step is not None
    assert executor.last_step.error is caught.value.error
    return caught.value


# -- state and values


def test_names_imports_and_classes_are_kept_between_steps(executor: SandboxExecutor) -> None:
    executor("import math\nx = 2\nclass Box:\n    size = 3\ndef area(r):\n    return math.floor(r * x)")
    assert executor("area(Box.size) + x").output == 8


def test_the_last_expression_is_the_value_and_nothing_else_is(executor: SandboxExecutor) -> None:
    assert executor("1 + 1").output == 2
    assert executor("x = 5").output is None
    assert executor("for i in range(3): i").output is None
    assert executor("").output is None


def test_it_is_real_python(executor: SandboxExecutor) -> None:
    code = """
from functools import lru_cache
@lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def numbers():
    yield from range(3)
first, *rest = numbers()
match rest:
    case [a, b]: answer = (first, a, b, fib(80), [f() for f in [lambda: i for i in range(3)]])
answer
"""
    assert executor(code).output == (0, 1, 2, 23416728348467685, [2, 2, 2])


def test_values_come_back_as_what_they_are(executor: SandboxExecutor) -> None:
    code = """
import datetime, decimal
[2**80, float("inf"), (1, {2}), {3: b"x"}, datetime.date(2024, 2, 29), decimal.Decimal("1.10"), "\\u00e9", True, None]
"""
    assert executor(code).output == [
        2**80, float("inf"), (1, {2}), {3: b"x"}, datetime.date(2024, 2, 29), decimal.Decimal("1.10"), "é", True, None,
    ]  # fmt: skip


def test_a_value_without_a_safe_form_comes_back_as_text(executor: SandboxExecutor) -> None:
    assert executor("object()").output.startswith("<object object at")
    assert executor("list(range(10**6))").output.startswith("[0, 1, 2")


def test_numpy_and_pandas_work_and_their_values_come_back(executor: SandboxExecutor) -> None:
    frame = executor(
        "import numpy as np, pandas as pd\n"
        "pd.DataFrame({'a': np.arange(3), 'b': ['x', None, 'z'], 'c': pd.date_range('2024-01-01', periods=3)})"
    ).output
    assert list(frame.columns) == ["a", "b", "c"]
    assert frame["a"].tolist() == [0, 1, 2]
    assert str(frame["c"].dtype).startswith("datetime64")
    assert executor("np.linalg.inv(np.eye(2) * 2)").output.tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert executor("np.float64(0.5)").output == 0.5


def test_only_the_packages_of_the_profile_can_be_imported(executor: SandboxExecutor) -> None:
    for package in ("django", "smolagents", "requests"):
        assert failed(executor, f"import {package}").error.exception_type == "ModuleNotFoundError"
    assert {"numpy", "pandas", "json", "re"} <= set(executor.authorized_imports)
    assert "django" not in executor.authorized_imports


# -- tools and variables


def test_tools_run_on_the_host_with_json_arguments(executor: SandboxExecutor) -> None:
    calls: list[Any] = []

    def look_up(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs, threading.get_ident()))
        return {"found": (1, 2)}

    executor.send_tools({"look_up": look_up})
    output = executor("look_up('a', [1, None], deep={'x': (1.5, {2})})").output
    assert output == {"found": (1, 2)}
    assert calls == [(("a", [1, None]), {"deep": {"x": (1.5, {2})}}, threading.get_ident())]
    assert executor.last_step is not None
    assert executor.last_step.tool_calls == 1


def test_an_error_of_a_tool_can_be_caught_inside(executor: SandboxExecutor) -> None:
    class OddError(Exception):
        pass

    def broken(kind: str) -> None:
        raise {"value": ValueError("bad value"), "odd": OddError("odd")}[kind]

    executor.send_tools({"broken": broken})
    code = "try:\n    broken('value')\nexcept ValueError as error:\n    caught = str(error)\ncaught"
    assert executor(code).output == "bad value"
    assert "OddError: odd" in str(failed(executor, "broken('odd')"))


def test_what_cannot_cross_is_refused_where_it_stands(executor: SandboxExecutor) -> None:
    executor.send_tools({"echo": lambda value: value})
    error = failed(executor, "x = 1\necho(lambda: 1)").error
    assert (error.exception_type, error.line) == ("TypeError", 2)
    with pytest.raises(CannotCross, match="callback"):
        executor.send_variables({"callback": print})


def test_tool_calls_of_a_step_are_counted(executor: SandboxExecutor) -> None:
    calls = []
    executor.send_tools({"count": lambda: calls.append(1)})
    assert "more than 20 tool calls" in str(failed(executor, "while True: count()"))
    assert len(calls) == 20
    executor("count()")


def test_waiting_for_a_tool_does_not_count_as_time_of_the_step(make: Make) -> None:
    executor = make(limits=QUICK)
    executor.send_tools({"slow": lambda: time.sleep(2)})
    executor("slow()\nx = 1")
    assert executor.last_step is not None
    assert executor.last_step.tool_seconds > 1.9


def test_tools_are_reached_by_their_names_only(executor: SandboxExecutor) -> None:
    executor.send_tools({"echo": lambda value: value})
    code = "call = echo.__closure__[1].cell_contents if callable(echo.__closure__[0].cell_contents) is False else None\n"
    code += "interpreter = [c.cell_contents for c in echo.__closure__ if hasattr(c.cell_contents, 'call_tool')][0]\n"
    assert (
        failed(executor, code + "interpreter.call_tool('__init__', (), {})").error.exception_type
        == "NameError"
    )


def test_variables_are_defined_inside(executor: SandboxExecutor) -> None:
    executor.send_variables({"threshold": 0.5, "rows": [{"a": (1, 2)}]})
    assert executor("threshold, rows[0]['a']").output == (0.5, (1, 2))


def test_input_files_are_in_inputs(make: Make, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    source = tmp_path / "private" / "sälés 1.csv"
    source.write_text("a,b\n1,2\n")
    source.chmod(0o600)
    executor = make(inputs={"sälés 1.csv": source})
    code = """
import os, pandas as pd
name = os.listdir("/inputs")[0]
by_glob = __import__("glob").glob("/inputs/*.csv")
[open("/inputs/sälés 1.csv").read(), open(f"/inputs/{name}").read(), open(INPUTS + "/" + name).read(),
 open(os.path.join(os.environ["INPUTS_DIR"], name)).read(), len(pd.read_csv("/inputs/sälés 1.csv")),
 by_glob, os.path.exists("/inputs/none.csv")]
"""
    text = "a,b\n1,2\n"
    assert executor(code).output == [text, text, text, text, 1, ["/inputs/sälés 1.csv"], False]
    error = failed(executor, "open('/inputs/none.csv')").error
    assert "'/inputs/none.csv'" in error.message


def test_a_path_in_a_variable_or_from_a_tool_means_the_same_file(make: Make, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    executor = make(inputs={"a.txt": tmp_path / "a.txt"})
    seen: list[str] = []
    executor.send_tools({"pick": lambda path: seen.append(path) or "/inputs/a.txt"})
    executor.send_variables({"path": "/inputs/a.txt"})
    assert executor("open(path).read(), open(pick(path)).read(), path").output == (
        "content",
        "content",
        "/inputs/a.txt",
    )
    assert seen == ["/inputs/a.txt"]


def test_a_missing_input_file_or_a_bad_name_is_said_at_once(make: Make, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"gone\.csv does not exist"):
        make(inputs={"gone.csv": tmp_path / "gone.csv"}).start()
    with pytest.raises(SandboxError, match="not the name"):
        make(inputs={"../x": tmp_path}).start()


def test_the_work_folder_is_empty_and_writable(executor: SandboxExecutor) -> None:
    code = """
import os, tempfile, shutil
before = os.listdir()
open("a.txt", "w").write("x")
open("/tmp/b.txt", "w").write("y")
shutil.copy("a.txt", "c.txt")
tempfile.NamedTemporaryFile().close()
[before, sorted(os.listdir("/work")), open("/tmp/b.txt").read(), os.getcwd()]
"""
    assert executor(code).output == [[], ["a.txt", "c.txt"], "y", "/work"]


# -- output


def test_what_was_printed_is_kept_in_order_also_when_the_step_fails(executor: SandboxExecutor) -> None:
    code = "import os, sys\nprint('one')\nprint('two', file=sys.stderr)\nos.write(1, b'three\\n')\nprint('four', end='')\n1/0"
    failed(executor, code)
    assert executor.last_step is not None
    assert executor.last_step.logs == "one\ntwo\nthree\nfour"
    assert executor.state["_print_outputs"] == "one\ntwo\nthree\nfour"
    assert executor("print('again')").logs == "again\n"


def test_the_middle_of_too_much_output_is_dropped(executor: SandboxExecutor) -> None:
    logs = executor("print('first')\nfor i in range(200_000): print('x' * 50)\nprint('last')").logs
    assert logs.startswith("first\n")
    assert logs.endswith("last\n")
    assert len(logs) < 4200
    assert executor.last_step is not None
    assert executor.last_step.logs_dropped > 10_000_000 - 4200


def test_output_that_is_no_text_can_still_be_stored(executor: SandboxExecutor) -> None:
    logs = executor("import os\nprint('\\ud800')\nos.write(1, bytes(range(256)));").logs
    assert "\0" not in logs
    assert logs.encode("utf-8")


# -- errors


def test_the_error_record_names_the_failing_line(executor: SandboxExecutor) -> None:
    executor("def parse(text):\n    # decimal commas\n    return float(text)")
    error = failed(executor, "rows = ['1', '1,5']\nfor row in rows:\n    parse(row)").error
    assert (error.kind, error.exception_type) == ("exception", "ValueError")
    assert error.message == "could not convert string to float: '1,5'"
    assert (error.source_name, error.line, error.source_line) == ("<step 1>", 3, "return float(text)")
    assert error.traceback.splitlines() == [
        "Traceback (most recent call last):",
        '  File "<step 2>", line 3, in <module>',
        "    parse(row)",
        '  File "<step 1>", line 3, in parse',
        "    return float(text)",
        "ValueError: could not convert string to float: '1,5'",
    ]
    assert not error.state_lost
    assert str(CodeRaised(error)).startswith("ValueError: could not convert")


def test_an_error_in_a_library_names_our_line_and_the_library(executor: SandboxExecutor) -> None:
    error = failed(executor, "import pandas as pd\ntable = pd.DataFrame({'a': [1]})\ntable['b']").error
    assert (error.exception_type, error.message, error.line) == ("KeyError", "'b'", 3)
    assert "/sbx/site/pandas/core/frame.py" in error.traceback
    assert error.traceback.count("direct cause") == 1
    error = failed(executor, "pd.read_csv('/work/none.csv')").error
    assert error.exception_type == "FileNotFoundError"
    error = failed(executor, "import io\npd.read_csv(io.StringIO(''))").error
    assert error.exception_type == "pandas.errors.EmptyDataError"


def test_a_syntax_error_names_its_line(executor: SandboxExecutor) -> None:
    error = failed(executor, "x = 1\nif x\n    pass").error
    assert (error.exception_type, error.message, error.line) == ("SyntaxError", "expected ':'", 2)
    assert error.source_line == "if x"


def test_an_exception_that_cannot_be_shown_is_still_an_error(executor: SandboxExecutor) -> None:
    error = failed(
        executor, "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd"
    ).error
    assert error.exception_type == "Odd"
    assert len(failed(executor, "raise ValueError('x' * 10**7)").error.message) < 9000
    assert failed(executor, "def f(): f()\nf()").error.exception_type == "RecursionError"
    assert failed(executor, "import sys\nsys.exit(3)").error.exception_type == "SystemExit"


# -- limits


def test_a_step_that_takes_too_long_keeps_its_variables_when_it_can_be_stopped(make: Make) -> None:
    executor = make(limits=QUICK)
    executor("kept = 41")
    began = time.monotonic()
    error = failed(executor, "kept += 1\nprint('working')\nwhile True:\n    pass")
    assert isinstance(error, StepTimedOut)
    assert time.monotonic() - began < 4
    assert (error.error.kind, error.error.state_lost, error.error.line in (3, 4)) == ("timeout", False, True)
    assert executor.state["_print_outputs"] == "working\n"
    assert executor("kept").output == 42


def test_a_step_that_cannot_be_stopped_is_killed_and_says_that_its_variables_are_gone(make: Make) -> None:
    executor = make(limits=QUICK)
    executor.send_tools({"echo": lambda value: value})
    executor.send_variables({"given": 7})
    executor.define("def helper():\n    return 'defined'")
    executor("lost = 1\nopen('file', 'w').write('x')")
    error = failed(executor, STUBBORN)
    assert isinstance(error, StepTimedOut)
    assert error.error.state_lost
    assert "variables, imports and files of earlier steps are gone" in str(error)
    assert failed(executor, "lost").error.exception_type == "NameError"
    assert executor("import os\n[given, echo(1), helper(), os.listdir()]").output == [7, 1, "defined", []]


def test_too_much_memory_is_a_memory_error_and_variables_survive(make: Make) -> None:
    executor = make(limits=SandboxLimits(memory_bytes=400 * MEBIBYTE, step_seconds=5))
    executor("kept = 1")
    error = failed(executor, "blocks = []\nwhile True:\n    blocks.append(bytearray(1 << 24))").error
    assert (error.exception_type, error.state_lost) == ("MemoryError", False)
    assert executor("del blocks\nkept").output == 1


def test_memory_of_all_processes_together_is_limited(make: Make) -> None:
    limits = SandboxLimits(memory_bytes=300 * MEBIBYTE, total_memory_bytes=500 * MEBIBYTE, step_seconds=10)
    executor = make(limits=limits)
    code = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        x = bytearray(200 << 20)\n"
    error = failed(executor, code + "        time.sleep(60)\ntime.sleep(9)")
    assert isinstance(error, StepKilled)
    assert (error.error.kind, error.error.state_lost) == ("memory", True)


def test_processor_time_of_all_processes_is_limited(make: Make) -> None:
    executor = make(limits=SandboxLimits(cpu_seconds=1, step_seconds=20))
    began = time.monotonic()
    error = failed(executor, "import os\nos.fork()\nwhile True: pass").error
    assert error.kind == "cpu"
    assert time.monotonic() - began < 6


def test_processes_and_threads_are_limited(make: Make) -> None:
    executor = make(limits=SandboxLimits(process_count=10, step_seconds=5))
    code = """
import os, time
started = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
        started += 1
except OSError:
    pass
started
"""
    assert executor(code).output < 30
    assert executor("1").output == 1


def test_the_size_of_a_file_is_limited(make: Make) -> None:
    executor = make(limits=SandboxLimits(file_bytes=4 * MEBIBYTE, step_seconds=5))
    error = failed(executor, "open('big', 'wb').write(b'x' * (8 << 20))").error
    assert error.exception_type == "OSError"


@pytest.mark.parametrize("code", ["import os\nos._exit(1)", "import ctypes\nctypes.string_at(1)"])
def test_a_crash_is_reported_and_the_next_step_works(executor: SandboxExecutor, code: str) -> None:
    error = failed(executor, f"print('before')\n{code}")
    assert isinstance(error, StepKilled)
    assert (error.error.kind, error.error.state_lost) == ("died", True)
    assert executor.state["_print_outputs"] == "before\n"
    assert executor("1 + 1").output == 2


def test_a_worker_that_is_killed_between_two_steps_is_missed_at_the_next(executor: SandboxExecutor) -> None:
    executor("x = 1")
    session = executor._session
    assert session is not None
    assert session.started is not None
    os.kill(processes.descendants(session.started.process.pid)[-1], signal.SIGKILL)
    time.sleep(0.1)
    error = failed(executor, "x").error
    assert (error.kind, error.state_lost) == ("died", True)
    assert failed(executor, "x").error.exception_type == "NameError"


def test_a_sandbox_that_is_killed_from_outside_is_replaced(executor: SandboxExecutor) -> None:
    executor.send_variables({"given": 7})
    executor("x = 1")
    session = executor._session
    assert session is not None
    assert session.started is not None
    os.kill(session.started.process.pid, signal.SIGKILL)
    session.started.kill()
    time.sleep(0.1)
    error = failed(executor, "x").error
    assert (error.kind, error.state_lost) == ("died", True)
    assert executor("given").output == 7


# -- cancelling


def test_another_thread_can_interrupt_a_step(executor: SandboxExecutor) -> None:
    executor("kept = 1")
    timer = threading.Timer(0.3, executor.interrupt)
    timer.start()
    began = time.monotonic()
    error = failed(executor, "import time\ntime.sleep(1000)")
    assert isinstance(error, StepInterrupted)
    assert time.monotonic() - began < 2
    assert executor("kept").output == 1


def test_a_step_that_ignores_an_interrupt_is_killed_within_a_second(make: Make) -> None:
    executor = make(limits=SandboxLimits(step_seconds=30, grace_seconds=20))
    executor.start()
    threading.Timer(0.3, executor.interrupt).start()
    began = time.monotonic()
    error = failed(executor, STUBBORN)
    assert isinstance(error, StepInterrupted)
    assert error.error.state_lost
    assert time.monotonic() - began < 3


def test_an_interrupt_while_a_tool_runs_ends_the_step_when_it_returns(executor: SandboxExecutor) -> None:
    executor.send_tools({"slow": lambda: time.sleep(0.8)})
    executor.start()
    threading.Timer(0.3, executor.interrupt).start()
    error = failed(executor, "while True: slow()")
    assert isinstance(error, StepInterrupted)
    assert executor.last_step is not None
    assert executor.last_step.tool_calls == 1
    assert executor("1 + 1").output == 2


def test_an_interrupt_without_a_running_step_does_nothing(executor: SandboxExecutor) -> None:
    assert executor.interrupt() is False
    executor("x = 1")
    assert executor.interrupt() is False
    assert executor("x").output == 1


def test_an_exception_on_the_host_leaves_no_half_finished_step(executor: SandboxExecutor) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    executor.send_tools({"stop": stop})
    with pytest.raises(KeyboardInterrupt):
        executor("stop()")
    assert executor("1 + 1").output == 2
