"""A profile of an input file: what a solution worked on, so that recall can tell where it applies.

Reads untrusted bytes on the host, so it is bounded in time and memory, evaluates nothing, decompresses nothing and
keeps no values: only column names, types, formats and counts.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from agents_runner.distill.csv_profile import find_delimiter, profile_csv
from agents_runner.distill.json_profile import profile_json, profile_json_lines
from agents_runner.distill.profiles import FileProfile, clean_name

SECONDS = 2.0
SAMPLE_BYTES = 64 * 1024
JSON_BYTES = 2 * 1024 * 1024
LINE_CHARACTERS = 64 * 1024

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"PAR1", "parquet"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"\xd0\xcf\x11\xe0", "ole"),
)
_JSON_BEGIN = re.compile(r'\s*(?:\{\s*"|\[\s*["\[{\d-])')


def profile_file(path: str | os.PathLike[str], *, name: str = "", seconds: float = SECONDS) -> FileProfile:
    """Profile the file at ``path``; ``name`` is what it is called in the task. Never raises; takes about ``seconds``
    at most and a few tens of megabytes."""
    shown = clean_name(name or Path(path).name)
    deadline = time.monotonic() + seconds
    size = 0
    try:
        # O_NONBLOCK: opening a pipe must not wait for its other end
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            return FileProfile(shown, 0, "unreadable")
        size = status.st_size
        with os.fdopen(descriptor, "rb") as file:
            return _profile(file, shown, size, deadline)
    except (OSError, ValueError, RecursionError, MemoryError, OverflowError, csv.Error):
        return FileProfile(shown, size, "unreadable")


def _profile(file: io.BufferedReader, name: str, size: int, deadline: float) -> FileProfile:
    head = file.read(SAMPLE_BYTES)
    if not head:
        return FileProfile(name, size, "empty")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return FileProfile(name, size, kind)
    encoding = _encoding(head)
    if not encoding:
        return FileProfile(name, size, "binary")
    sample = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    base = FileProfile(name, size, "text", encoding, quirks=_line_quirks(sample, encoding))
    if sample.lstrip()[:1] in ("{", "["):
        with _lines(file, encoding) as lines:
            found = profile_json_lines(lines, base, deadline)
        if found is None and size <= JSON_BYTES:
            file.seek(0)
            found = profile_json(file.read(JSON_BYTES).decode(encoding), base)
        if found is None and size > JSON_BYTES and _JSON_BEGIN.match(sample):
            found = replace(base, kind="json")
        if found is not None:
            return found
    delimiter = find_delimiter(sample, whole=size <= SAMPLE_BYTES)
    with _lines(file, encoding) as lines:
        if delimiter:
            return profile_csv(lines, base, delimiter, base.quirks, deadline)
        count = sum(1 for _ in takewhile(lambda _: time.monotonic() <= deadline, lines))
        return replace(base, rows=count, rows_exact=not next(lines, ""))


@contextmanager
def _lines(file: io.BufferedReader, encoding: str) -> Iterator[Iterator[str]]:
    """The lines of the whole file with their ends, in pieces of at most 64 k characters; the file stays open."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
    try:
        yield iter(lambda: text.readline(LINE_CHARACTERS), "")
    finally:
        text.detach()


def _encoding(head: bytes) -> str:
    """The encoding of text that begins so, or "" for bytes that are no text."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        return ""
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError:
        pass
    else:
        return "ascii" if head.isascii() else "utf-8"
    control = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b" for byte in head)
    if control > len(head) / 100:
        return ""
    if any(0x80 <= byte <= 0x9F for byte in head):
        try:
            head.decode("cp1252")
        except UnicodeDecodeError:
            return "iso-8859-1"
        return "cp1252"
    return "iso-8859-1"


def _line_quirks(sample: str, encoding: str) -> list[str]:
    quirks = ["byte order mark"] if encoding in ("utf-8-sig", "utf-16", "utf-32") else []
    windows, old_mac = sample.count("\r\n"), sample.count("\r")
    unix = sample.count("\n") - windows
    if windows and unix:
        quirks.append("mixed line ends")
    elif windows:
        quirks.append("line ends CRLF")
    elif old_mac and not unix:
        quirks.append("line ends CR")
    return quirks
