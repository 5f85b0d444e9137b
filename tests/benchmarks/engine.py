"""Measures of the engine: what a run of ours takes over bare smolagents, same replies, same sandbox executor.

python -m tests.benchmarks.engine

Both ask the same small HTTP server. Ours recalls, looks up the error, shows each step in the database, watches its
lease, and ends the run; bare smolagents does none of that. Queueing and write-back are not part of either.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from memory_hub.benchmark.scratch import scratch_hub
from tests.fake_openai import Answer, FakeOpenAI, Messages, Reply, code, script

TASK = "Add up the amounts of the file by region. Amounts are written with a decimal comma."
ROWS = [
    "region;amount",
    *(f"{['north', 'south', 'east', 'west'][n % 4]};{n},{n % 100:02d}" for n in range(2_000)),
]
SOURCE = (
    "def totals(path):\n"
    "    frame = pd.read_csv(path, sep=';', decimal=',')\n"
    "    return {name: round(float(value), 2) for name, value in frame.groupby('region')['amount'].sum().items()}\n"
)
REPLIES = (
    code("print(open('/inputs/sales.csv').read()[:200])", "I look at the file."),
    code("import pandas as pd\nframe = pd.read_csv('/inputs/sales.csv', sep=';')\nprint(frame.dtypes)"),
    code("print(frame['amount'].astype(float).sum())", "I add them up."),  # fails: decimal commas
    code(f"{SOURCE}\nprint(totals('/inputs/sales.csv'))"),
    code("final_answer(totals('/inputs/sales.csv'))"),
)
LATENCIES = ((0.5, 8), (0.0, 12))


def main() -> None:
    """Print the table, and where the time goes."""
    with scratch_hub():
        from tests.cast import make_cast

        cast = make_cast()
        print(
            f"{len(REPLIES)} steps a run, the runs take turns; the fastest says most on a machine that does other work"
        )
        print(f"{'seconds':>36}{'bare':>9}{'ours':>9}{'added':>10}{'per step':>12}{'overhead':>10}")
        for latency, repeats in LATENCIES:
            with FakeOpenAI(_late(latency)) as server:
                _compare(cast, server, latency, repeats)


def _late(seconds: float) -> Answer:
    answer = script(*REPLIES)

    def late(messages: Messages) -> Reply:
        return Reply(str(answer(messages)), delay=seconds)

    return late


def _compare(cast: Any, server: FakeOpenAI, latency: float, repeats: int) -> None:
    from tests.runner.engine_support import connect

    connection = connect(cast, server, name=f"Model {latency}")
    for memory_on in (True, False):
        _bare(server), _ours(cast, connection, memory_on)  # loads what is loaded once per process
        bare, ours = [], []
        for _ in range(repeats):
            bare.append(_bare(server))
            ours.append(_ours(cast, connection, memory_on))
        name = f"{latency:g} s a reply, {'memory' if memory_on else 'no memory'}"
        _tell(f"{name}, fastest of {repeats}", min(bare), min(ours))
        _tell("median", statistics.median(bare), statistics.median(ours))


def _tell(title: str, bare: float, ours: float) -> None:
    added = (ours - bare) * 1000
    print(
        f"{title:>36}{bare:9.3f}{ours:9.3f}{added:7.0f} ms{added / len(REPLIES):9.1f} ms{(ours - bare) / bare:10.1%}"
    )


def _timed(deed: Callable[[], Any]) -> float:
    began = time.perf_counter()
    deed()
    return time.perf_counter() - began


def _bare(server: FakeOpenAI) -> float:
    """Seconds of a run of smolagents as its documents show it, on our executor."""
    import tempfile

    from smolagents import CodeAgent, LogLevel, OpenAIModel

    from agents_runner.sandboxes.executor import SandboxExecutor

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.csv"
        path.write_text("\n".join(ROWS))

        def work() -> None:
            model = OpenAIModel(
                "fake-1", api_base=server.base_url, api_key="none", flatten_messages_as_text=True
            )
            with SandboxExecutor(inputs={"sales.csv": path}) as executor:
                agent = CodeAgent(
                    tools=[], model=model, executor=executor, max_steps=8, verbosity_level=LogLevel.OFF,
                    additional_authorized_imports=executor.authorized_imports,
                )  # fmt: skip
                answer = agent.run(f"{TASK}\n\nInput files (read-only):\n- /inputs/sales.csv")
            assert len(answer) == 4

        return _timed(work)


def _ours(cast: Any, connection: Any, memory_on: bool) -> float:
    """Seconds from the claim of a queued run to its end."""
    from agents_runner.engine import drive
    from memory_hub.runs.models import Run
    from tests.runner.engine_support import again, queue

    run = queue(cast, connection, TASK, memory_on=memory_on, inputs={"sales.csv": "\n".join(ROWS).encode()})
    identity: UUID = run.id
    seconds = _timed(lambda: drive(identity, "benchmark"))
    done = again(run)
    assert (done.state, done.step_count) == (Run.State.SUCCEEDED, len(REPLIES)), done.reason
    return seconds


if __name__ == "__main__":
    main()
