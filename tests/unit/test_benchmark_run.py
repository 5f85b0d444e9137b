"""The command line of the measures of recall: what it refuses, and how it passes on what it was told."""

import argparse
import json
from pathlib import Path

import pytest

from memory_hub.benchmark import corpus
from memory_hub.benchmark.baselines import Bm25
from memory_hub.benchmark.corpus import Item, Question
from memory_hub.benchmark.ranks import auroc, figures, place_of
from memory_hub.benchmark.run import add_arguments, as_arguments, main


def test_a_measure_of_data_says_that_data_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "conala"]) == 2
    assert "--data DIR" in capsys.readouterr().err


def test_a_folder_without_data_is_told_before_anything_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "no folder conala" in capsys.readouterr().err


def test_arguments_come_through_to_the_process_that_measures() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    line = ["--data", "x", "--only", "conala", "--only", "speed", "--json", "--rows", "10", "20"]
    options = parser.parse_args(line)
    assert parser.parse_args(as_arguments(vars(options))) == options


def test_places_become_figures() -> None:
    places = [place_of("a", found) for found in (["a", "b"], ["b", "a"], ["b"] * 12)]
    assert places == [1, 2, None]
    assert figures(places) == {
        "recall_at_1": 0.3333, "recall_at_5": 0.6667, "mrr_at_10": 0.5, "questions": 3,
    }  # fmt: skip
    assert auroc([0.9, 0.8], [0.1, 0.8]) == 0.875


def test_the_plain_search_finds_the_words() -> None:
    items = [
        Item("Sort a list", "", "sort"),
        Item("Read a file", "", "read"),
        Item("Read a list", "", "list"),
    ]
    assert Bm25(items)(["reading files"])[0][0] == "read"


def test_data_is_read_as_it_is_published(tmp_path: Path) -> None:
    folder = tmp_path / "conala"
    folder.mkdir()
    rows = [
        {
            "question_id": 1,
            "intent": "How to sort?",
            "rewritten_intent": "sort list `x`",
            "snippet": "sorted(x)",
        },
        {"question_id": 2, "intent": "Unclear", "rewritten_intent": None, "snippet": "y"},
    ]
    (folder / "conala-train.json").write_text(json.dumps(rows))
    assert corpus.conala(tmp_path) == (
        [Item("sort list `x`", "sorted(x)", "1")], [Question("How to sort?", "1")],
    )  # fmt: skip
    assert corpus.described('def f(x):\n\t"""\n\tAdd.\n\t>>> f(1)\n\t2\n\t>>>') == "Add.\n>>> f(1)\n2"
