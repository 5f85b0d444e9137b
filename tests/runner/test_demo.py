"""What bin/start says of the sample runs."""

import pytest

from agents_runner.demo import describe
from memory_hub.access.actor import as_system
from memory_hub.access.models import ProjectMembership
from memory_hub.runs.services import run_claim
from tests.cast import Cast
from tests.services.runs_support import again, make_connection, start

pytestmark = pytest.mark.django_db


def test_a_run_that_did_not_succeed_is_told_with_its_reason(cast: Cast) -> None:
    run = start(cast.bob, make_connection(cast.project))
    with as_system():
        ProjectMembership.objects.filter(user=cast.bob).delete()
    run_claim(run_id=run.id, holder="worker-1")
    failed = again(run)
    assert "no longer" in failed.reason
    assert describe(failed, "http://hub") == (
        "failed, 0 steps, recalled: nothing"
        f"  http://hub/p/{cast.project.team.slug}/{cast.project.slug}/runs/{run.id}/  ({failed.reason})"
    )
