import csv
import re
from pathlib import Path

# a year, or a span of years such as 2015/16 (a winter term) or 1991/93
YEAR = re.compile(r"\b(\d{4})(?:/(\d{2}))?\b")


def last_year_of(year: str, suffix: str) -> int:
    """The later year of a span: ("2015", "16") is 2016, ("1999", "00") is 2000, ("2015", "") is 2015."""
    if not suffix:
        return int(year)
    last = int(year[:2] + suffix)
    return last if last >= int(year) else last + 100


def find_longest_period(path: str) -> dict[str, object]:
    """Find the table that covers most years in a catalogue with the columns Code, Content and Time.

    Content may run over several lines inside its quotes. Time is "FIRST - LAST", each end written as a year, a
    date, a month, a quarter, a half-year or a winter term (WS 2015/16), or is empty when the period is unknown.

    Returns {"tables": count, "without_period": count, "longest": {"code", "content", "first_year", "last_year"}}.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        tables = list(csv.DictReader(file))

    periods: list[tuple[int, int, dict[str, str]]] = []
    for table in tables:
        years = YEAR.findall(table["Time"])
        if years:
            periods.append((int(years[0][0]), last_year_of(*years[-1]), table))

    first_year, last_year, table = max(periods, key=lambda period: period[1] - period[0])
    return {
        "tables": len(tables),
        "without_period": len(tables) - len(periods),
        "longest": {
            "code": table["Code"],
            "content": " ".join(table["Content"].split()),
            "first_year": first_year,
            "last_year": last_year,
        },
    }
