"""The radial drawing: nothing overlaps, everything is inside, titles fit."""

import pytest

from memory_hub.web.rendering.graph import BOX_HEIGHT, BOX_WIDTH, Drawing, Item, draw, wrapped


def drawn(near: int, far: int = 0) -> Drawing:
    items = [Item("m", 0, "Middle"), *(Item(f"n{n}", 1, f"Near {n}") for n in range(near))]
    items += [Item(f"f{n}", 2, f"Far {n}") for n in range(far)]
    links = [("m", f"n{n}", "related") for n in range(near)]
    return draw(items, links + [(f"n{n % near}", f"f{n}", "depends on") for n in range(far)])


@pytest.mark.parametrize(
    ("near", "far"), [(0, 0), (1, 0), (2, 0), (3, 3), (5, 11), (16, 0), (1, 15), (24, 24)]
)
def test_no_two_boxes_touch_and_all_are_inside(near: int, far: int) -> None:
    drawing = drawn(near, far)
    spots = drawing.spots
    assert len(spots) == 1 + near + far
    for number, spot in enumerate(spots):
        assert spot.left >= 0
        assert spot.top >= 0
        assert spot.left + BOX_WIDTH <= drawing.width
        assert spot.top + BOX_HEIGHT <= drawing.height
        for other in spots[:number]:
            assert abs(spot.x - other.x) >= BOX_WIDTH or abs(spot.y - other.y) >= BOX_HEIGHT


def test_the_numbers_follow_the_order_given() -> None:
    assert [(spot.number, spot.lines[0]) for spot in drawn(2).spots] == [
        (1, "Middle"),
        (2, "Near 0"),
        (3, "Near 1"),
    ]


def test_several_links_between_two_are_one_line_with_all_words() -> None:
    items = [Item(1, 0, "One"), Item(2, 1, "Two")]
    drawing = draw(items, [(1, 2, "derived from"), (1, 2, "depends on"), (2, 1, "related")])
    assert [line.word for line in drawing.lines] == ["derived from, depends on", "related"]
    one, other = drawing.lines
    assert one.middle_y != other.middle_y
    assert {one.word_y, other.word_y} == {-8, 18}


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Short", ["Short"]),
        ("Add up the TOTAL column", ["Add up the TOTAL", "column"]),
        ("A" * 50, ["A" * 19, "A" * 18 + "…"]),
        (
            "Add up the TOTAL column of education benefits by state",
            ["Add up the TOTAL", "column of educatio…"],
        ),
    ],
)
def test_titles_are_wrapped_and_cut(title: str, lines: list[str]) -> None:
    assert wrapped(title) == lines


def test_every_line_of_a_title_fits_its_box() -> None:
    assert all(
        len(line) <= 19 for title in ("word " * 30, "x" * 99, "a bb ccc dddd") for line in wrapped(title)
    )
