"""Runs the code of a step in a fresh plain Python, with a sample's files in place of /inputs. The code is ours."""

import json
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import json, sys, traceback
code, marker = json.loads(sys.stdin.read())
def final_answer(value):
    print(marker + json.dumps(value))
try:
    exec(compile(code, "<step>", "exec"), {"__name__": "__main__", "final_answer": final_answer})
except Exception as error:
    print(marker + "failed " + json.dumps([type(error).__name__, str(error)]))
"""
_MARKER = "=== answer: "


def run_code(code, inputs):
    """(answer, None) or (None, (exception type, message)) of a program that reads /inputs/<name> of ``inputs``."""
    for path in inputs:
        code = code.replace(f"/inputs/{path.name}", str(path))
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps([code, _MARKER]),
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.rsplit(_MARKER, 1)
    if len(last) < 2:
        return None, None
    if last[1].startswith("failed "):
        return None, tuple(json.loads(last[1].removeprefix("failed ")))
    return json.loads(last[1]), None
