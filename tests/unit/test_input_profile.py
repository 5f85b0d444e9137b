"""What is written down about an input file, and that no file whatever harms the host that reads it."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_runner.distill.cells import Column, classify
from agents_runner.distill.input_profile import profile_file
from agents_runner.samples import SAMPLES

INPUTS = {sample.key: sample.inputs[0] for sample in SAMPLES}


@pytest.fixture
def profile(tmp_path):
    def of(content, name="file.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return profile_file(path, **options)

    return of


def columns(profile):
    return {column.name: column.type for column in profile.columns}


def test_a_german_export_is_seen_with_its_traps():
    found = profile_file(INPUTS["german-area"])
    assert (found.kind, found.encoding, found.delimiter, found.decimal_mark) == (
        "csv",
        "iso-8859-1",
        ";",
        ",",
    )
    assert "lines above the header" in found.quirks
    assert "line breaks inside quotes" in found.quirks


def test_marks_for_missing_values_and_two_header_rows_are_seen():
    found = profile_file(INPUTS["german-investment"])
    last = found.columns[-1]
    assert last.name == "Verhältnis zum Umsatz (Akt. Bruttoanlageninvestitionen)"
    assert (last.type, last.missing, set(last.missing_marks)) == ("decimal", 4, {"-", "."})


def test_thousands_separators_and_title_lines_are_seen():
    found = profile_file(INPUTS["va-education-2010"])
    assert {"thousands separators", "lines above the header", "line ends CRLF"} <= set(found.quirks)
    assert columns(found)["TOTAL"] == "integer"


def test_repeated_rows_are_seen():
    found = profile_file(INPUTS["surplus-a-j"])
    assert "repeated rows" in found.quirks
    assert (found.rows, found.rows_exact) == (712, True)


def test_records_are_counted_not_lines():
    assert profile_file(INPUTS["federal-tables"]).rows == 1000


def test_mixed_date_formats_are_named(profile):
    found = profile("id,when\n1,2024-02-01\n2,13/02/2024\n3,01/02/2024\n4,Feb 3 2024\n5,4.2.2024\n")
    assert found.columns[1].type == "date"
    assert list(found.columns[1].date_formats) == ["%Y-%m-%d", "%b %d %Y", "%d.%m.%Y", "%d/%m/%Y"]
    assert "mixed date formats" in found.quirks


def test_a_table_without_a_header_has_numbered_columns(profile):
    assert columns(profile("1,2.5,oak\n2,3.5,elm\n")) == {
        "column 1": "integer",
        "column 2": "decimal",
        "column 3": "text",
    }


def test_no_value_of_the_file_is_kept(profile):
    found = profile("name,card\nAnna Secret,4111111111111111\nBob Hidden,4222222222222222\n")
    text = json.dumps(found.as_dict())
    assert "Secret" not in text
    assert "4111" not in text


def test_a_profile_is_a_json_object(profile):
    found = profile("a,b\nx,1\n", name="x.csv").as_dict()
    assert found["name"] == "x.csv"
    assert found["columns"][1] == {
        "name": "b",
        "type": "integer",
        "date_formats": [],
        "missing": 0,
        "missing_marks": [],
    }


def test_json_and_json_lines_have_columns_too(profile):
    rows = [{"a": 1, "when": "2024-01-01", "x": None}, {"a": 2.5, "when": "", "deep": {"b": []}}]
    found = profile(json.dumps(rows, indent=1))
    assert (found.kind, found.rows, columns(found)) == (
        "json",
        2,
        {"a": "decimal", "when": "date", "x": "empty", "deep": "object"},
    )
    found = profile("\n".join(map(json.dumps, rows)))
    assert (found.kind, found.rows) == ("jsonl", 2)


@pytest.mark.parametrize(
    ("content", "kind", "encoding"),
    [
        (b"", "empty", ""),
        (b"PK\x03\x04rest", "zip", ""),
        (b"\x00\x01\x02", "binary", ""),
        (b"\x01\x02\x03\xff" * 50, "binary", ""),
        ("One line.\nAnother one, longer.\n", "text", "ascii"),
        ("\ufeffa,b\nx,y\n".encode(), "csv", "utf-8-sig"),
        ("a\tb\nx\ty\n".encode("utf-16"), "csv", "utf-16"),
        ("a;b\nä;“ö”\n".encode("cp1252"), "csv", "cp1252"),
        (b"[1, 2", "text", "ascii"),
        (b'{"a": ' + b"[" * 100_000, "text", "ascii"),
        (b"\n\n\n", "text", "ascii"),
        (b'a,b\nc,d\n"' + b"x" * 200_000, "csv", "ascii"),
    ],
)
def test_kind_and_encoding(profile, content, kind, encoding):
    found = profile(content)
    assert (found.kind, found.encoding) == (kind, encoding)


def test_a_file_that_is_no_file_is_unreadable_and_never_waited_for(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, tmp_path / "none", Path("/dev/zero"), "\x00"):
        assert profile_file(path).kind == "unreadable"


@pytest.mark.parametrize(
    "content",
    [
        b'"' * 3_000_000,
        b"," * 3_000_000,
        b"a,b\n" * 3_000_000,
        b"x" * 20_000_000,
        b"[" * 1_900_000,
        b"[[]," * 450_000 + b"[]]",
        b'{"a":1}\n' * 1_000_000,
        b"1" * 1_900_000,
        b"[" + b"9" * 1_000_000 + b"]",
        b"\r" * 3_000_000,
        b"a;" + b"1,1.1.1," * 300_000,
    ],
    ids=lambda content: repr(content[:8]),
)
def test_a_hostile_file_is_read_in_bounded_time_and_memory(profile, content):
    tracemalloc.start()
    began = time.monotonic()
    profile(content, seconds=0.5)
    peak = tracemalloc.get_traced_memory()[1] - len(content)
    tracemalloc.stop()
    assert time.monotonic() - began < 5
    assert peak < 200_000_000


def test_a_count_that_was_stopped_says_so(profile):
    found = profile("a,b\n" + "x,1\n" * 400_000, seconds=0.05)
    assert not found.rows_exact
    assert found.rows < 400_000


@given(st.binary(max_size=400))
def test_no_bytes_whatever_make_it_fail(content):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(content)
        json.dumps(profile_file(path).as_dict())


@given(st.text(alphabet=',;"\n\r\t|a1.-[{}]: é', max_size=200))
def test_no_text_whatever_makes_it_fail(content):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(content, encoding="utf-8", newline="")
        json.dumps(profile_file(path).as_dict())


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("", "missing"),
        ("n/a", "missing"),
        ("-12", "integer"),
        ("1.5e3", "decimal"),
        ("3,5", "decimal comma"),
        ("1.234,56", "decimal comma"),
        ("1,234,567", "thousands"),
        ("2024-02-01T10:00:00Z", "%Y-%m-%d"),
        ("1/5/2011 00:00:00", "%d/%m/%Y or %m/%d/%Y"),
        ("5/19/2006 0:00:00", "%m/%d/%Y"),
        ("24:00", "time"),
        ("12 March 1998", "%d %b %Y"),
        ("yes", "boolean"),
        ("١٢", "integer"),
        ("__import__('os')", "text"),
        ("9" * 5000, "text"),
    ],
)
def test_a_cell_is_classified_by_its_shape(cell, kind):
    assert classify(cell) == kind


@given(st.text())
def test_any_cell_is_classified(cell):
    column = Column("x")
    column.add(cell)
    assert column.type()


def test_a_column_of_two_kinds_is_mixed():
    column = Column("x")
    for cell in ("1", "2", "three", "2024-01-01"):
        column.add(cell)
    assert column.type() == "mixed"
