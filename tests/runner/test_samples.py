"""The shipped sample tasks are real: the first attempt fails on its file, the proven function solves both files."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agents_runner.rehearsal.attempts import SCRIPTS, attempts_for
from agents_runner.samples import SAMPLES, find_sample, first_pair, normalise_task
from agents_runner.samples.catalogue import FILES
from tests.runner.sample_support import run_code

BY_KEY = {sample.key: sample for sample in SAMPLES}
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)


def lines_of(key, encoding="utf-8"):
    return BY_KEY[key].inputs[0].read_bytes().decode(encoding).replace("\r\n", "\n").split("\n")


# The expected answers, worked out by other means than the scripted functions: regular expressions over the lines.


def expected_totals(key):
    totals = {}
    for line in lines_of(key):
        match = re.match(r'([^,]+),([A-Z]{2}),.*?("[\d,]+"|\d+),?$', line)
        if match:
            totals[match[1]] = int(match[3].strip('"').replace(",", ""))
    ranked = sorted((total, state) for state, total in totals.items())
    return {
        "states": len(totals),
        "total": sum(totals.values()),
        "largest": {"state": ranked[-1][1], "total": ranked[-1][0]},
        "smallest": {"state": ranked[0][1], "total": ranked[0][0]},
    }


def expected_german(key):
    values, missing = {}, 0
    for line in lines_of(key, "latin-1"):
        area = re.findall(r"^([A-ZÄÖÜ][^;]*);(\d+,\d+)$", line)
        investment = re.findall(r"^2020;\d+; *([^;]+);[^;]+;[^;]+;([^;]+)$", line)
        name, figure = (area or investment or [("", "")])[0]
        if figure in ("-", "."):
            missing += 1
        elif figure and name != "Insgesamt":
            values[name] = float(figure.replace(",", "."))
    by_value = sorted(values, key=values.get)
    return {
        "numbers": len(values),
        "missing": missing,
        "smallest": {"name": by_value[0], "value": values[by_value[0]]},
        "largest": {"name": by_value[-1], "value": values[by_value[-1]]},
    }


def expected_sunlight(key):
    lines = [line.split(",") for line in lines_of(key) if line]
    daily = Counter()
    for fields in lines[2:]:
        month, day, year = fields[0].split("/")
        daily[f"{year}-{month}-{day}"] += int(fields[4])
    best, sunlight = daily.most_common(1)[0]
    return {
        "station": lines[0][1].strip('"'),
        "days": len(daily),
        "sunniest_day": best,
        "sunlight": sunlight,
        "mean_sunlight": round(sum(daily.values()) / len(daily), 1),
    }


def expected_period(key):
    text = "\n".join(lines_of(key)[1:])
    record = re.compile(r'^([^\s,"]+),("(?:[^"]|"")*"|[^"\n]*),([^,\n]*)$', re.MULTILINE)
    tables, unknown, best = 0, 0, (-1, None)
    for code, content, time in record.findall(text):
        tables += 1
        first, _, last = time.partition(" - ")
        if not first:
            unknown += 1
            continue
        first_year = int(re.search(r"\d{4}", first)[0])
        span = re.search(r"(\d{2})(\d{2})/(\d{2})$", last)
        last_year = int(span[1] + span[3]) if span else int(re.search(r"\d{4}", last)[0])
        if last_year - first_year > best[0]:
            title = " ".join(content.removeprefix('"').removesuffix('"').replace('""', '"').split())
            best = (
                last_year - first_year,
                {"code": code, "content": title, "first_year": first_year, "last_year": last_year},
            )
    return {"tables": tables, "without_period": unknown, "longest": best[1]}


def expected_surplus(key):
    lines = [line for line in lines_of(key)[1:] if line]
    names, units, value = {}, Counter(), Counter()
    for line in lines:
        fields = [plain or quoted for quoted, plain in re.findall(r'(?:^|,)(?:"([^"]*)"|([^,]*))', line)]
        nsn = fields[3]
        names.setdefault(nsn, fields[4])
        units[nsn] += int(fields[5])
        value[nsn] += round(float(fields[8]) * 100)
    top = value.most_common(1)[0][0]
    return {
        "rows": len(lines),
        "repeated_rows": len(lines) - len(set(lines)),
        "items": len(units),
        "units": sum(units.values()),
        "value": sum(value.values()) / 100,
        "most_valuable": {"nsn": top, "name": names[top], "units": units[top], "value": value[top] / 100},
    }


EXPECTED = {
    "va-education-2010": expected_totals,
    "va-education-2009": expected_totals,
    "german-area": expected_german,
    "german-investment": expected_german,
    "weather-sand-point": expected_sunlight,
    "weather-greensboro": expected_sunlight,
    "regional-tables": expected_period,
    "federal-tables": expected_period,
    "surplus-a-j": expected_surplus,
    "surplus-k-z": expected_surplus,
}


@each_sample
def test_every_attempt_but_the_last_really_fails_as_the_script_says(sample):
    *failing, _ = attempts_for(sample)
    assert failing
    for attempt in failing:
        answer, error = run_code(attempt.code, sample.inputs)
        assert answer is None
        assert error is not None
        assert attempt.fails_with in f"{error[0]}: {error[1]}"


@each_sample
def test_the_last_attempt_solves_the_sample(sample):
    answer, error = run_code(attempts_for(sample)[-1].code, sample.inputs)
    assert error is None
    assert answer == EXPECTED[sample.key](sample.key)


@each_sample
def test_the_function_proven_on_a_sample_solves_its_twin(sample):
    twin = BY_KEY[sample.twin_key]
    code = attempts_for(sample)[-1].code.replace(
        f"/inputs/{sample.inputs[0].name}", f"/inputs/{twin.inputs[0].name}"
    )
    answer, error = run_code(code, twin.inputs)
    assert error is None
    assert answer == EXPECTED[twin.key](twin.key)


@each_sample
def test_a_sample_and_its_twin_name_each_other_and_differ_in_words_and_file(sample):
    twin = BY_KEY[sample.twin_key]
    assert twin.twin_key == sample.key
    assert twin.title != sample.title
    assert twin.inputs != sample.inputs
    assert SCRIPTS[twin.key].function == SCRIPTS[sample.key].function


@each_sample
def test_a_task_names_its_files_and_begins_with_a_title(sample):
    for path in sample.inputs:
        assert f"/inputs/{path.name}" in sample.task
    assert 20 < len(sample.title) <= 120
    assert re.match(re.escape(sample.title) + " [A-Z]", sample.task)
    assert sample.title[-1] in ".?"


def test_every_file_is_used_has_its_licence_noted_and_is_small():
    used = {path for sample in SAMPLES for path in sample.inputs}
    shipped = {path for path in FILES.iterdir() if path.name not in ("LICENSES.md", ".gitattributes")}
    notes = (FILES / "LICENSES.md").read_text(encoding="utf-8")
    assert shipped == used
    for path in shipped:
        assert f"`{path.name}`" in notes
        assert path.stat().st_size < 200_000
    assert sum(path.stat().st_size for path in shipped) < 1_000_000


def test_a_sample_is_recognised_however_it_is_wrapped_and_a_changed_task_is_not():
    for sample in SAMPLES:
        assert find_sample(sample.task) is sample
        assert find_sample("New task:\n" + sample.task.replace(". ", ".\n") + "\n\nmore") is sample
    assert find_sample(SAMPLES[0].task.replace("largest", "oldest")) is None
    assert normalise_task(" a \n b ") == "a b"


def test_the_first_pair_is_a_sample_and_its_twin():
    first, twin = first_pair()
    assert first.twin_key == twin.key
