import csv
from pathlib import Path


def summarise_state_totals(path: str) -> dict[str, object]:
    """Add up the TOTAL column of a table with one row per state.

    Title lines may stand above the header and notes, blank rows or an empty last column around the data; numbers
    may have thousands separators. A data row is one whose "State Abbreviate" holds two letters.

    Returns {"states": count, "total": sum, "largest": {"state", "total"}, "smallest": {"state", "total"}}.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file)]

    header_index = next(index for index, row in enumerate(rows) if "TOTAL" in row)
    header = rows[header_index]
    name, code, total = (header.index(title) for title in ("State Name", "State Abbreviate", "TOTAL"))

    totals: dict[str, int] = {}
    for row in rows[header_index + 1 :]:
        if len(row) > total and len(row[code]) == 2:
            totals[row[name]] = int(row[total].replace(",", ""))

    largest = max(totals, key=lambda state: totals[state])
    smallest = min(totals, key=lambda state: totals[state])
    return {
        "states": len(totals),
        "total": sum(totals.values()),
        "largest": {"state": largest, "total": totals[largest]},
        "smallest": {"state": smallest, "total": totals[smallest]},
    }
