"""The fingerprint of an error: the same for errors that differ only in names, numbers, paths and addresses.

It groups alike lessons. What is offered for an error is chosen by search, not by the fingerprint alone.
"""

import re
from collections.abc import Sequence

from memory_hub.common.text import sha256_hex

# The frames nearest to where it was raised; those above differ with the caller.
_FRAMES = 3
_MESSAGE_CHARACTERS = 500

# In this order: what stands in quotes may hold paths and numbers, a path may hold numbers.
_REPLACED = (
    (re.compile(r"0x[0-9a-fA-F]+"), "<address>"),
    (re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"), "<id>"),
    (re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`\n]*`|“[^”\n]*”"), "<value>"),
    (re.compile(r"(?<![\w<])(?:[A-Za-z]:)?[/\\][\w.\-/\\ ]*[\w.\-]"), "<path>"),
    (re.compile(r"[-+]?\d[\d.,_:eE+\-/]*"), "<number>"),
)
_LINE_NUMBER = re.compile(r":\d+( in |$)")


def error_fingerprint(exception_type: str, message: str, library_frames: Sequence[str] = ()) -> str:
    """Return 64 hexadecimal digits. Frames are "package/path.py:12 in function", outermost first."""
    frames = [_LINE_NUMBER.sub(r"\1", frame) for frame in library_frames[-_FRAMES:]]
    return sha256_hex("\n".join([short_type(exception_type), normalised_message(message), *frames]))


def short_type(exception_type: str) -> str:
    """Return the class without its module: libraries move their exceptions between modules."""
    return exception_type.strip().rpartition(".")[2]


def normalised_message(message: str) -> str:
    """Return the message with every value replaced by a placeholder, on one line, in lower case."""
    text = message[:_MESSAGE_CHARACTERS]
    for pattern, placeholder in _REPLACED:
        text = pattern.sub(placeholder, text)
    return " ".join(text.lower().split())
