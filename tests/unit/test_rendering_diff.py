"""A difference shows every change, in both views, and no more."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_hub.web.rendering.diff import MAX_LINES, changed_words, diff

LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "", "c = a + b", "    return c"]), max_size=14)


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@settings(max_examples=200, deadline=None)
@given(old=LINES, new=LINES)
def test_both_texts_can_be_read_back_from_the_rows(old, new):
    result = diff("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new), context=10_000)
    if result.is_empty:
        assert old == new
        return
    assert [plain(row.html) for row in result.rows if row.kind in ("same", "del")] == old
    assert [plain(row.html) for row in result.rows if row.kind in ("same", "add")] == new


@settings(max_examples=200, deadline=None)
@given(old=LINES, new=LINES, context=st.integers(0, 3))
def test_both_views_show_the_same_lines_in_order(old, new, context):
    result = diff("\n".join(old), "\n".join(new), context=context)
    pairs = list(result.pairs())
    assert [pair.old for pair in pairs if pair.old] == [
        row for row in result.rows if row.kind in ("same", "del")
    ]
    assert [pair.new for pair in pairs if pair.new] == [
        row for row in result.rows if row.kind in ("same", "add")
    ]
    assert sum(pair.gap for pair in pairs) == sum(row.skipped for row in result.rows)


def test_numbers_count_the_lines_of_each_side():
    result = diff("a\nb\nc\n", "a\nx\ny\nc\n")
    assert [(row.kind, row.old_number, row.new_number) for row in result.rows] == [
        ("same", 1, 1), ("del", 2, None), ("add", None, 2), ("add", None, 3), ("same", 3, 4),
    ]  # fmt: skip
    assert (result.added, result.removed) == (2, 1)


def test_far_lines_become_gaps_that_say_how_many():
    old = "\n".join(f"line {n}" for n in range(100))
    result = diff(old, old.replace("line 50", "line fifty"), context=2)
    assert [row.skipped for row in result.rows if row.kind == "gap"] == [48, 47]


def test_the_changed_words_are_marked_and_only_they():
    result = diff("total = float(row)\n", "total = int(row)\n")
    assert [re.findall(r"<mark>(.*?)</mark>", row.html) for row in result.rows] == [
        ['<span class="t">float</span>'], ['<span class="t">int</span>'],
    ]  # fmt: skip


def test_lines_with_nothing_in_common_are_not_marked_all_over():
    assert changed_words("import csv", "raise ValueError(text)") == ([], [])


def test_a_changed_line_end_is_a_change_that_is_seen():
    result = diff("a = 1\n", "a = 1\r\n")
    assert (result.added, result.removed) == (1, 1)
    assert "␍" in result.rows[-1].html


def test_a_missing_last_line_end_is_no_silent_change():
    result = diff("a", "a\n")
    assert result.final_newline == "added"
    assert not result.is_empty


def test_indentation_by_tab_instead_of_spaces_is_a_change():
    assert diff("    x\n", "\tx\n").added == 1


def test_invisible_characters_are_reported_when_the_new_text_brings_them():
    assert diff("a\n", "a\u202e\n").hidden == ["U+202E"]
    assert diff("a\u202e\n", "a\u202e\nb\n").hidden == []


def test_code_is_escaped():
    assert "<script>" not in diff("", "<script>x</script>").rows[0].html


def test_a_giant_text_is_refused_rather_than_compared_for_minutes():
    result = diff("x\n" * (MAX_LINES + 1), "y\n")
    assert result.too_large
    assert not result.is_empty
    assert list(result.pairs()) == []


def test_equal_texts_are_empty():
    assert diff("a\n", "a\n").is_empty
    assert diff("", "").is_empty
