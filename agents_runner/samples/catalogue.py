"""The sample tasks: what is asked, on which files. Expected answers are not here: only the tests know them.

Each task has a reworded twin on another file with the same kind of mess, so that what was learnt on the first can
be reused on the second. Where the files come from: files/LICENSES.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True, slots=True)
class SampleTask:
    """One sample: ``task`` is what the user would type (its first sentence works as a title)."""

    key: str
    twin_key: str
    task: str
    inputs: tuple[Path, ...]
    mess: str

    @property
    def title(self) -> str:
        """The first sentence of the task."""
        return re.split(r"(?<=[.?]) ", self.task, maxsplit=1)[0]


SAMPLES: tuple[SampleTask, ...] = (
    SampleTask(
        key="va-education-2010",
        twin_key="va-education-2009",
        task=(
            "Add up the TOTAL column of the VA education benefits by state, fiscal year 2010. "
            "The file is /inputs/va-education-2010.csv. Say how many states and territories are listed, the sum over "
            "all of them, and which has the largest and which the smallest total."
        ),
        inputs=(FILES / "va-education-2010.csv",),
        mess="title lines above the header, thousands separators in some columns only, a note over two lines below",
    ),
    SampleTask(
        key="va-education-2009",
        twin_key="va-education-2010",
        task=(
            "How many people received VA education benefits in fiscal year 2009, all states taken together? "
            "From /inputs/va-education-2009.csv report the number of states in the list, their combined TOTAL, and "
            "the states with the highest and the lowest number."
        ),
        inputs=(FILES / "va-education-2009.csv",),
        mess="thousands separators, an empty last column, a blank last row",
    ),
    SampleTask(
        key="german-area",
        twin_key="german-investment",
        task=(
            "Summarise the last column of a table from the German statistics office: the area of the German states. "
            "The export is /inputs/area-of-german-states.csv. Leaving out the row of the total, say how many rows "
            "hold a number and how many a mark for a missing value, and name the smallest and the largest with their "
            "values."
        ),
        inputs=(FILES / "area-of-german-states.csv",),
        mess="decimal commas, semicolons, ISO-8859-1, title lines above, a footnote with line breaks inside quotes",
    ),
    SampleTask(
        key="german-investment",
        twin_key="german-area",
        task=(
            "Which district invested least and which most for its turnover, says this German statistics export? "
            "Look at the last column of /inputs/investment-nrw-2020.csv, count the rows with a number and the rows "
            "marked as missing, and give the smallest and the largest value with their names."
        ),
        inputs=(FILES / "investment-nrw-2020.csv",),
        mess="decimal commas, semicolons, ISO-8859-1, two header rows, '-' and '.' for missing values",
    ),
    SampleTask(
        key="weather-sand-point",
        twin_key="weather-greensboro",
        task=(
            "Find the sunniest day in an hourly TMY3 weather file of Sand Point, Alaska. "
            "In /inputs/weather-sand-point.csv add up the global horizontal irradiance (GHI) of each day, then give "
            "the station, the number of days, the day with most sunlight, its sum in Wh/m^2 and the mean over all "
            "days."
        ),
        inputs=(FILES / "weather-sand-point.csv",),
        mess="a clock that runs from 01:00 to 24:00, dates written month first, a station line above the header",
    ),
    SampleTask(
        key="weather-greensboro",
        twin_key="weather-sand-point",
        task=(
            "On which day did Greensboro get the most sunlight? "
            "Use the hourly TMY3 weather in /inputs/weather-greensboro.csv: daily sums of GHI in Wh/m^2, how many "
            "days there are, the best day, and the average day."
        ),
        inputs=(FILES / "weather-greensboro.csv",),
        mess="a clock that runs from 01:00 to 24:00, dates written month first, a station line above the header",
    ),
    SampleTask(
        key="regional-tables",
        twin_key="federal-tables",
        task=(
            "Find the statistical table that covers the longest period in a catalogue of regional tables. "
            "The catalogue is /inputs/tables-regional.csv with the columns Code, Content and Time. Say how many "
            "tables it lists, how many have no period, and for the first with most years its code, its content on "
            "one line, and its first and last year."
        ),
        inputs=(FILES / "tables-regional.csv",),
        mess="line breaks inside quotes, periods written as years, as dates and as winter terms",
    ),
    SampleTask(
        key="federal-tables",
        twin_key="regional-tables",
        task=(
            "Which federal statistics table covers most years? "
            "The list of tables is /inputs/tables-federal.csv (Code, Content, Time). Report the number of tables, "
            "how many lack a period, and code, content, first and last year of the one that covers the longest "
            "period, the first of them if several do."
        ),
        inputs=(FILES / "tables-federal.csv",),
        mess="line breaks inside quotes, eleven ways to write a period (years, dates, months, quarters), some empty",
    ),
    SampleTask(
        key="surplus-a-j",
        twin_key="surplus-k-z",
        task=(
            "Merge the shipments of surplus military items into one entry per stock number, Kansas counties A to J. "
            "From /inputs/surplus-counties-a-j.csv report the number of rows, how many rows repeat an earlier one, "
            "the number of different items (nsn), all units, their total cost in dollars, and the item worth most "
            "in all. A repeated row is another shipment and counts."
        ),
        inputs=(FILES / "surplus-counties-a-j.csv",),
        mess="three of four rows are exact repetitions, each a shipment of its own; commas inside quotes",
    ),
    SampleTask(
        key="surplus-k-z",
        twin_key="surplus-a-j",
        task=(
            "What did the Kansas counties K to Z receive as surplus military items, summed up per stock number? "
            "Read /inputs/surplus-counties-k-z.csv, keep repeated rows since each is a shipment, and give rows, "
            "repeated rows, different items, units, total cost, and the most valuable item."
        ),
        inputs=(FILES / "surplus-counties-k-z.csv",),
        mess="three of four rows are exact repetitions, each a shipment of its own; commas inside quotes",
    ),
)


def normalise_task(text: str) -> str:
    """Task text with every run of white space as one space, so that a re-wrapped copy is still recognised."""
    return " ".join(text.split())


def find_sample(text: str) -> SampleTask | None:
    """The sample whose whole task stands in ``text`` (a task, or a prompt that holds one), else None."""
    normalised = normalise_task(text)
    return next((sample for sample in SAMPLES if normalise_task(sample.task) in normalised), None)


def first_pair() -> tuple[SampleTask, SampleTask]:
    """The sample and the twin that a new hub runs first."""
    first = SAMPLES[0]
    twin = next(sample for sample in SAMPLES if sample.key == first.twin_key)
    return first, twin
