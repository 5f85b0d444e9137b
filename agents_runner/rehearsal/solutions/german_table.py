import csv
import re
from pathlib import Path

GERMAN_NUMBER = re.compile(r"-?\d+(,\d+)?")
MISSING_MARKS = {"-", ".", "...", "/", "x"}
TOTAL_ROW = "Insgesamt"


def summarise_german_table(path: str) -> dict[str, object]:
    """Summarise the last column of a table exported by a German statistics office.

    Such exports are semicolon-separated ISO-8859-1 text with a decimal comma; title lines stand above the data
    and footnotes below, so a data row is known by its last cell: a number or a mark for a missing value. The row
    of the total is left out.

    Returns {"numbers": count, "missing": count, "smallest": {"name", "value"}, "largest": {"name", "value"}}.
    """
    with Path(path).open(encoding="iso-8859-1", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=";")]

    values: list[tuple[float, str]] = []
    missing = 0
    for row in rows:
        if len(row) < 2:
            continue
        if row[-1] in MISSING_MARKS:
            missing += 1
        elif GERMAN_NUMBER.fullmatch(row[-1]):
            # the name is the nearest text to the left of the figures
            name = next(
                cell
                for cell in reversed(row)
                if cell not in MISSING_MARKS and not GERMAN_NUMBER.fullmatch(cell)
            )
            if name != TOTAL_ROW:
                values.append((float(row[-1].replace(",", ".")), name))

    smallest, largest = min(values), max(values)
    return {
        "numbers": len(values),
        "missing": missing,
        "smallest": {"name": smallest[1], "value": smallest[0]},
        "largest": {"name": largest[1], "value": largest[0]},
    }
