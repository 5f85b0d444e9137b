"""What makes programs and problems the same, kept beside the rows; and proposals of the same waiting for each other."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from memory_hub.library.code_identity import ast_hash, problem_hash
from memory_hub.library.models import Revision, Solution


def identities_fill(*, limit: int) -> int:
    """Compute the digests of at most `limit` rows of each kind that have none; returns how many it filled in.

    Such rows come from processes of a version before the digests. Call as the system.
    """
    revisions = list(Revision.objects.filter(ast_hash="").order_by("id").only("id", "code")[:limit])
    for revision in revisions:
        revision.ast_hash = ast_hash(revision.code)
    Revision.objects.bulk_update(revisions, ["ast_hash"])
    solutions = list(Solution.objects.filter(problem_hash="").order_by("id").only("id", "problem")[:limit])
    for solution in solutions:
        solution.problem_hash = problem_hash(solution.problem)
    Solution.objects.bulk_update(solutions, ["problem_hash"])
    return len(revisions) + len(solutions)


def one_at_a_time(*, project_id: UUID, problem_hashes: Iterable[str]) -> None:
    """Let proposals for these problems wait for each other until the transaction ends.

    So that of two at the same moment one finds the other: as its duplicate, or as an alternative. Whoever proposes
    several in one transaction calls this once for all of them, so that two such never wait for each other in a ring.
    """
    with connection.cursor() as cursor:
        for digest in sorted(set(problem_hashes)):
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"propose:{project_id}:{digest}"]
            )
