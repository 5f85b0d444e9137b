"""Other names for the same program, for the measure of errors."""

import ast

from memory_hub.benchmark.renaming import new_names, renamed, renamed_message

CODE = """
class Sums:
    def total(self, rows):
        acc = 0
        for row in rows:
            acc += row.count("rows")
            self.last = acc
        return acc + self.total([])
"""


def test_every_local_name_changes_and_the_program_stays_one() -> None:
    names = new_names(CODE, "seed")
    assert set(names) == {"total", "rows", "acc", "row", "last"}
    changed = renamed(CODE, names)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(CODE))
    assert not any(old in changed for old in ("acc", "self.last", "self.total"))


def test_attributes_of_others_builtins_and_strings_stay() -> None:
    changed = renamed("count = row.count('row')", {"count": "seen", "row": "line"})
    assert changed == "seen = line.count('row')"


def test_the_same_seed_gives_the_same_names() -> None:
    assert new_names(CODE, "a") == new_names(CODE, "a") != new_names(CODE, "b")


def test_code_that_does_not_parse_is_renamed_too() -> None:
    assert set(new_names("def total(rows:\n    acc = 0\n    for row in rows\n", "a")) >= {
        "total",
        "rows",
        "acc",
    }


def test_a_message_changes_where_it_quotes_a_name() -> None:
    names = {"acc": "sum_", "f": "g"}
    assert renamed_message("name 'acc' is not defined", names) == "name 'sum_' is not defined"
    assert renamed_message("f() missing 1 required positional argument: 'x'", names).startswith("g() missing")
    assert renamed_message("list index out of range", names) == "list index out of range"
