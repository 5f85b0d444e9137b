"""One rating per person, changed in place; the evidence keeps the history and only the last counts."""

import pytest

from memory_hub.access.actor import acting_as, as_system
from memory_hub.access.models import User
from memory_hub.common.errors import Conflict, InvalidInput, PermissionDenied
from memory_hub.library.models import Evidence, Solution
from memory_hub.library.selectors import qualities_of_revisions
from memory_hub.library.services.revisions import revision_refine
from memory_hub.library.services.solutions import solution_archive
from memory_hub.review.models import Rating
from memory_hub.review.selectors import rating_of, rating_summaries, rating_summary
from memory_hub.review.services import solution_rate
from tests.cast import Cast
from tests.services.library_support import CODE, approve, propose, run_actor, start_run


def rate(cast: Cast, person: User, solution: Solution, stars: int, note: str = "") -> Rating:
    """Rate as a person, in a transaction of its own."""
    actor = cast.actor(person)
    with acting_as(actor):
        return solution_rate(actor=actor, solution=solution, stars=stars, note=note)


@pytest.mark.parametrize(
    ("stars", "outcome"),
    [(5, "success"), (4, "success"), (3, "not_applicable"), (2, "failure"), (1, "failure")],
)
def test_stars_speak_for_or_against_what_is_served(cast: Cast, stars: int, outcome: str) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rate(cast, cast.rita, proposed.solution, stars)
    with as_system():
        evidence = Evidence.objects.get()
        assert (evidence.kind, evidence.outcome, evidence.detail["stars"]) == ("rated", outcome, stars)
        assert evidence.revision_id == proposed.revision.id


def test_a_changed_rating_takes_the_place_of_the_first(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rate(cast, cast.rita, proposed.solution, 5)
    rate(cast, cast.rita, proposed.solution, 1, note="Breaks on commas")
    with as_system() as hub:
        rating = Rating.objects.get()
        assert (rating.stars, rating.note) == (1, "Breaks on commas")
        first, second = Evidence.objects.order_by("id")
        assert second.supersedes_id == first.id
        quality = qualities_of_revisions(hub, [proposed.revision.id])[proposed.revision.id]
        assert (quality.n, quality.share) == (1, 0.0)


def test_a_rating_follows_to_the_revision_that_is_served(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rate(cast, cast.rita, proposed.solution, 2)
    bob = cast.actor(cast.bob)
    with acting_as(bob):
        better = revision_refine(
            actor=bob,
            solution=proposed.solution,
            based_on=proposed.revision.id,
            code=CODE + "#\n",
            entry_point="total",
        )
    approve(cast.rita, better)
    assert rate(cast, cast.rita, proposed.solution, 5).revision_id == better.id
    with as_system() as hub:
        qualities = qualities_of_revisions(hub, [proposed.revision.id, better.id])
    assert (qualities[proposed.revision.id].n, qualities[better.id].share) == (0, 1.0)


def test_stars_for_ones_own_work_are_shown_and_count_for_nothing(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rate(cast, cast.bob, proposed.solution, 5)
    with as_system() as hub:
        assert rating_summary(hub, proposed.solution).count == 1
        assert qualities_of_revisions(hub, [proposed.revision.id])[proposed.revision.id].n == 0


def test_the_mean_is_of_everybodys_stars(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rate(cast, cast.rita, proposed.solution, 5)
    rate(cast, cast.alice, proposed.solution, 2)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        assert rating_summary(rita, proposed.solution).mean == 3.5
        assert rating_summaries(rita, [proposed.solution])[proposed.solution.id].count == 2
        mine = rating_of(rita, proposed.solution)
        assert mine is not None
        assert mine.stars == 5


@pytest.mark.parametrize("stars", [0, 6, -1])
def test_there_are_one_to_five_stars(cast: Cast, stars: int) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(InvalidInput):
        rate(cast, cast.rita, proposed.solution, stars)


def test_a_viewer_cannot_rate(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    with pytest.raises(PermissionDenied):
        rate(cast, cast.vera, proposed.solution, 5)


def test_an_agent_run_gives_no_stars(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    actor = run_actor(start_run(cast.project, cast.rita))
    with acting_as(actor), pytest.raises(PermissionDenied, match="people"):
        solution_rate(actor=actor, solution=proposed.solution, stars=5)


def test_an_archived_solution_is_not_rated(cast: Cast) -> None:
    proposed = propose(cast.actor(cast.bob), cast.project)
    rita = cast.actor(cast.rita)
    with acting_as(rita):
        solution_archive(actor=rita, solution=proposed.solution)
    with pytest.raises(Conflict):
        rate(cast, cast.rita, proposed.solution, 5)
