"""What two errors have in common: the mistake stays the same while the names around it change."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_hub.recall.lesson_features import ErrorParts, LessonFeatures, compare_errors, prepare_error, shape

OUT_OF_RANGE = "list index out of range"


def common(one: ErrorParts, other: ErrorParts) -> LessonFeatures:
    return compare_errors(prepare_error(one), prepare_error(other))


def failing(line: str, message: str = OUT_OF_RANGE) -> ErrorParts:
    return ErrorParts("IndexError", message, line)


def test_other_names_make_no_other_shape() -> None:
    assert shape("rows[i] = rows[i + 1]") == shape("table[place] = table[place + 1]")


def test_which_name_stands_where_makes_the_shape() -> None:
    assert shape("a[i] + a[j]") != shape("a[i] + b[j]")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("len(x)", "sum(x)"),
        ("x.append(y)", "x.extend(y)"),
        ("x[0]", "x[1]"),
        ("x['a']", "x['b']"),
        ("np.array(x)", "math.floor(x)"),
        ("OrderedDict(x)", "DataFrame(x)"),
        ("x // y", "x / y"),
    ],
)
def test_what_a_program_did_not_name_itself_is_kept(one: str, other: str) -> None:
    assert shape(one) != shape(other)


def test_methods_of_ones_own_class_are_names_of_the_program() -> None:
    assert shape("self.total(x)") == shape("self.summed(x)")


def test_comments_and_the_kind_of_quotes_do_not_count() -> None:
    assert shape("x = row['a']  # why") == shape('x = row["a"]')


def test_numbers_in_strings_are_values_as_they_are_in_messages() -> None:
    assert shape("float('1,5')") == shape("float('7,2')")


def test_the_name_that_the_message_speaks_of_keeps_its_place() -> None:
    def undefined(name: str, line: str) -> ErrorParts:
        return ErrorParts("NameError", f"name '{name}' is not defined", line)

    first = undefined("count", "total = count + step")
    assert common(first, undefined("n", "s = n + k")).same_line_shape == 1.0
    assert common(first, undefined("k", "s = n + k")).same_line_shape == 0.0


def test_the_same_line_under_other_names_is_the_same_but_not_word_for_word() -> None:
    found = common(failing("rows[i] = rows[i + 1]"), failing("table[place] = table[place + 1]"))
    assert (found.same_line_shape, found.line_shape) == (1.0, 1.0)
    assert found.line < 1.0


def test_numbers_in_a_message_do_not_count() -> None:
    one, other = (
        "index 7 is out of bounds for axis 0 with size 5",
        "index 12 is out of bounds for axis 0 with size 9",
    )
    assert common(failing("", one), failing("", other)).same_words == 1.0


def test_words_in_a_message_count() -> None:
    assert common(ErrorParts("KeyError", "'host'"), ErrorParts("KeyError", "'port'")).same_words == 0.0


def test_frames_of_libraries_are_compared_without_line_numbers() -> None:
    one = ErrorParts("ValueError", "x", library_frames=["pandas/core/generic.py:10 in astype"])
    other = ErrorParts("ValueError", "x", library_frames=["pandas/core/generic.py:99 in astype"])
    assert common(one, other).frames == 1.0


def test_the_module_of_a_class_does_not_count() -> None:
    assert (
        common(ErrorParts("pandas.errors.ParserError", "x"), ErrorParts("a.ParserError", "x")).same_class
        == 1.0
    )


def test_where_nothing_is_known_of_a_line_no_line_is_the_same() -> None:
    found = common(failing(""), failing(""))
    assert (found.same_line_shape, found.line, found.line_shape) == (0.0, 0.0, 0.0)


_errors = st.builds(
    ErrorParts, st.text(max_size=20), st.text(max_size=60), st.text(max_size=60), st.text(max_size=90)
)


@given(_errors, _errors)
def test_all_is_from_0_to_1_and_the_same_from_both_sides(one: ErrorParts, other: ErrorParts) -> None:
    found = common(one, other)
    assert all(0.0 <= getattr(found, field.name) <= 1.0 for field in fields(found))
    named = prepare_error(one).words == prepare_error(other).words
    assert not named or found == common(other, one)


@given(st.text(max_size=200))
def test_nothing_of_a_text_is_lost_but_spaces_comments_and_names(code: str) -> None:
    assert all(token.strip() for token in shape(code))


@pytest.mark.parametrize(
    "text", ["'" * 50_000, '"""' * 20_000, "a." * 30_000, "#" * 90_000, "(" * 90_000, "'a\\" * 30_000]
)
def test_a_long_text_is_read_in_no_time(text: str) -> None:
    prepare_error(ErrorParts("E", text, text, text))
