"""What the rehearsal plays for each sample task: the attempts that really fail on its file, then the one that works.

The working functions are the files of solutions/, read as text, so that they are checked like any code of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_runner.samples import SampleTask

SOLUTIONS = Path(__file__).parent / "solutions"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One scripted reply. ``fails_with`` must occur in the error that the code really raises; ``""`` for success."""

    thought: str
    code: str
    fails_with: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """The attempts of one kind of task, and words that tell whether an offered function is about it."""

    solution: str
    function: str
    insight: str
    subjects: tuple[str, ...]
    failing: tuple[Attempt, ...]

    def attempts(self, path: str) -> Sequence[Attempt]:
        """All attempts in order, for the input file at ``path`` inside the sandbox."""
        failing = [Attempt(a.thought, a.code.replace("{path}", path), a.fails_with) for a in self.failing]
        source = (SOLUTIONS / self.solution).read_text(encoding="utf-8")
        return [*failing, Attempt(self.insight, f'{source}\n\nfinal_answer({self.function}("{path}"))')]


_CASTING_TOTALS = Attempt(
    "The header is where pandas expects it. I add up the TOTAL column.",
    'import pandas as pd\n\ntable = pd.read_csv("{path}")\nprint(table["TOTAL"].astype(int).sum())',
    "invalid literal for int()",
)
_TOTALS_INSIGHT = (
    "The totals are text with thousands separators, and title lines, notes and blank rows stand around the data. "
    "So I look for the header by its TOTAL cell, take only rows with a two-letter state, and remove the commas."
)
_TOTALS_SUBJECTS = ("education benefits", "TOTAL column")

_GERMAN = Script(
    solution="german_table.py",
    function="summarise_german_table",
    insight=(
        "The last column is text with decimal commas, between title lines and footnotes, in ISO-8859-1. So I read "
        "the rows with csv and keep those whose last cell is a German number or a mark for a missing value."
    ),
    subjects=("german statistics", "german_table", "decimal comma"),
    failing=(
        Attempt(
            "The cells are separated by semicolons. I read the table with pandas and look at it.",
            'import pandas as pd\n\ntable = pd.read_csv("{path}", sep=";")\nprint(table.tail())',
            "codec can't decode",
        ),
        Attempt(
            "The file is not UTF-8; German exports are often ISO-8859-1. I skip the title lines as well.",
            "import pandas as pd\n\n"
            'table = pd.read_csv("{path}", sep=";", encoding="iso-8859-1", skiprows=5)\n'
            "values = table.iloc[:, -1].dropna().astype(float)\n"
            "print(values.min(), values.max())",
            "could not convert string to float",
        ),
    ),
)
_WEATHER = Script(
    solution="sunniest_day.py",
    function="find_sunniest_day",
    insight=(
        "24:00 is the end of the last hour of the day, since the clock marks the end of each hour. The start of the "
        "hour is one earlier: always valid, and on the right day."
    ),
    subjects=("TMY3", "sunniest", "sunlight"),
    failing=(
        Attempt(
            "The first line describes the station, the header is the second. I build a timestamp from date and time.",
            "import pandas as pd\n\n"
            'hours = pd.read_csv("{path}", skiprows=1)\n'
            'stamp = pd.to_datetime(hours["Date (MM/DD/YYYY)"] + " " + hours["Time (HH:MM)"])\n'
            'print(hours["GHI (W/m^2)"].groupby(stamp.dt.date).sum())',
            "time data",
        ),
    ),
)
_CATALOGUE = Script(
    solution="longest_period.py",
    function="find_longest_period",
    insight=(
        "The periods are written in many ways, but each names its years. I take the first and the last year that "
        "occur in the text, and read a span such as 2015/16 as ending in its later year."
    ),
    subjects=("longest period", "covers most years", "longest_period"),
    failing=(
        Attempt(
            "Three columns, separated by commas. I go through the lines and split each.",
            'with open("{path}", encoding="utf-8") as file:\n'
            "    next(file)\n"
            "    for line in file:\n"
            '        code, content, time = line.rstrip("\\n").split(",")\n'
            "        print(code, time)",
            "values to unpack",
        ),
        Attempt(
            "Some contents are quoted and run over several lines, so a line is not a record. The csv module reads "
            "them. The periods look like dates.",
            "import csv\nfrom datetime import datetime\n\n"
            'with open("{path}", encoding="utf-8", newline="") as file:\n'
            "    for table in csv.DictReader(file):\n"
            '        first, _, last = table["Time"].partition(" - ")\n'
            '        span = datetime.strptime(last, "%d.%m.%Y") - datetime.strptime(first, "%d.%m.%Y")\n'
            '        print(table["Code"], span.days)',
            "time data",
        ),
    ),
)
_SURPLUS = Script(
    solution="items_by_number.py",
    function="summarise_items",
    insight=(
        "The stock number is no key of this file: the same item was shipped many times. So I group by it and add up "
        "quantity and cost, without dropping the repeated rows."
    ),
    subjects=("surplus", "stock number"),
    failing=(
        Attempt(
            "I make one entry per item, looked up by its stock number.",
            "import pandas as pd\n\n"
            'shipments = pd.read_csv("{path}")\n'
            'items = shipments.set_index("nsn").to_dict(orient="index")\n'
            'print(len(items), max(items, key=lambda number: items[number]["total_cost"]))',
            "index must be unique",
        ),
    ),
)

SCRIPTS: dict[str, Script] = {
    "va-education-2010": Script(
        solution="state_totals.py",
        function="summarise_state_totals",
        insight=_TOTALS_INSIGHT,
        subjects=_TOTALS_SUBJECTS,
        failing=(
            Attempt(
                "I read the table with pandas and add up its TOTAL column.",
                'import pandas as pd\n\ntable = pd.read_csv("{path}")\nprint(table["TOTAL"].sum())',
                "KeyError",
            ),
            Attempt(
                "There is no such column because title lines stand above the header. I skip them.",
                "import pandas as pd\n\n"
                'table = pd.read_csv("{path}", skiprows=2)\n'
                'print(table["TOTAL"].astype(int).sum())',
                "invalid literal for int()",
            ),
        ),
    ),
    "va-education-2009": Script(
        solution="state_totals.py",
        function="summarise_state_totals",
        insight=_TOTALS_INSIGHT,
        subjects=_TOTALS_SUBJECTS,
        failing=(_CASTING_TOTALS,),
    ),
    "german-area": _GERMAN,
    "german-investment": _GERMAN,
    "weather-sand-point": _WEATHER,
    "weather-greensboro": _WEATHER,
    "regional-tables": _CATALOGUE,
    "federal-tables": _CATALOGUE,
    "surplus-a-j": _SURPLUS,
    "surplus-k-z": _SURPLUS,
}


def attempts_for(sample: SampleTask) -> Sequence[Attempt]:
    """The attempts for a sample, in order; the last is the one that works."""
    return SCRIPTS[sample.key].attempts(input_path(sample))


def input_path(sample: SampleTask) -> str:
    """Where the code finds the sample's file inside the sandbox."""
    return f"/inputs/{sample.inputs[0].name}"
