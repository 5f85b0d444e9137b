"""Solutions, their revisions, lessons, evidence, and the links between them."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from memory_hub.access.models import User
from memory_hub.access.ownership import OwnedByProject
from memory_hub.common.fields import ExactJSONField
from memory_hub.runs.models import Run


class Solution(OwnedByProject):
    """A solved problem: what it is, when it applies, what failed, and which revision of its code is served."""

    class Kind(models.TextChoices):
        DATA_TRANSFORMATION = "data_transformation", "Data transformation"
        API_RECIPE = "api_recipe", "API recipe"
        DEBUGGING_STRATEGY = "debugging_strategy", "Debugging strategy"
        ALGORITHM = "algorithm", "Algorithm"
        REPORT = "report", "Report"
        OTHER = "other", "Other"

    title = models.CharField(max_length=200)
    problem = models.TextField()
    # code_identity.problem_hash; empty until the sweep has filled it in.
    problem_hash = models.CharField(max_length=64, default="", db_default="", editable=False)
    kind = models.CharField(max_length=24, choices=Kind, default=Kind.OTHER)
    applies_when = models.TextField(blank=True)
    edge_cases = ArrayField(models.TextField(), default=list, blank=True)
    # [{code, exception_type, message, diff}], oldest first: what failed before it worked, and why.
    failed_alternatives = models.JSONField(default=list, blank=True)
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    # {python, sandbox, packages: {name: version}, model}
    environment = models.JSONField(default=dict, blank=True)
    # {file name: profile}, as agents_runner.input_profile describes a file
    input_profile = models.JSONField(default=dict, blank=True)
    approved_revision = models.ForeignKey("Revision", on_delete=models.SET_NULL, null=True, related_name="+")
    latest_revision = models.ForeignKey("Revision", on_delete=models.SET_NULL, null=True, related_name="+")
    # Captured work belongs to the run and to the person who started it.
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="solutions")
    archived_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(auto_now=True)
    needs_index = models.BooleanField(default=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "-id"], name="solution_project_newest"),
            models.Index(fields=["problem_hash"], name="solution_problem_hash"),
            GinIndex(fields=["tags"], name="solution_tags"),
            models.Index(fields=["id"], condition=models.Q(needs_index=True), name="solution_needs_index"),
        ]

    def __str__(self) -> str:
        return self.title


class Revision(OwnedByProject):
    """An immutable version of a solution's code. Only its status and verification ever change."""

    class Status(models.TextChoices):
        """A human decision."""

        CANDIDATE = "candidate"
        APPROVED = "approved"
        REJECTED = "rejected"
        DEPRECATED = "deprecated"

    class Verification(models.TextChoices):
        """A machine fact: what came of replaying the check in a sandbox."""

        UNVERIFIED = "unverified"
        PASSED = "passed"
        FAILED = "failed"
        STALE = "stale"

    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    code = models.TextField()
    # The function to call; empty for a script, which is offered as text only.
    entry_point = models.CharField(max_length=120, blank=True)
    signature = models.TextField(blank=True)
    usage_example = models.TextField(blank=True)
    # {"args": [...], "kwargs": {...}, "result": ..., "inputs": {"name": "sha256"}} or null: nothing to replay.
    check_spec = ExactJSONField(null=True, blank=True)
    # Why there is no check, in words, where there is none.
    check_missing = models.TextField(blank=True)
    explanation = models.TextField(blank=True)
    depends_on = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    author_run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    change_note = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64)
    # code_identity.ast_hash: the same for the same program; empty until the sweep has filled it in.
    ast_hash = models.CharField(max_length=64, default="", db_default="", editable=False)
    status = models.CharField(max_length=12, choices=Status, default=Status.CANDIDATE)
    verification = models.CharField(max_length=12, choices=Verification, default=Verification.UNVERIFIED)
    verification_detail = models.TextField(blank=True)
    verified_in = models.CharField(max_length=20, blank=True)
    verified_at = models.DateTimeField(null=True)
    needs_verification = models.BooleanField(default=False)
    verification_attempts = models.PositiveSmallIntegerField(default=0)
    # While this lies ahead, one worker is replaying the check and no other may.
    verification_lease_until = models.DateTimeField(null=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["solution", "number"], name="revision_number_once")]
        indexes = [
            models.Index(fields=["content_hash"], name="revision_content_hash"),
            models.Index(fields=["ast_hash"], name="revision_ast_hash"),
            models.Index(
                fields=["project", "entry_point"],
                condition=~models.Q(entry_point=""),
                name="revision_entry_point",
            ),
            models.Index(
                fields=["id"], condition=models.Q(needs_verification=True), name="revision_needs_verification"
            ),
        ]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.solution_id}"

    @property
    def is_script(self) -> bool:
        return not self.entry_point


class CheckInput(OwnedByProject):
    """A file that a revision's check reads as /inputs/<name>; kept apart from the run, which may be deleted."""

    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="check_inputs")
    name = models.CharField(max_length=120)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    path = models.CharField(max_length=200)

    class Meta(OwnedByProject.Meta):
        constraints = [models.UniqueConstraint(fields=["solution", "name"], name="check_input_name_once")]


class Lesson(OwnedByProject):
    """An error and its resolution. `fingerprint` groups alike errors; search, not the fingerprint, chooses."""

    exception_type = models.CharField(max_length=200)
    message = models.TextField()
    failing_line = models.TextField(blank=True)
    library_frames = models.JSONField(default=list, blank=True)
    failing_code = models.TextField()
    fixing_code = models.TextField(blank=True)
    diff = models.TextField(blank=True)
    cause = models.TextField(blank=True)
    applies_where = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)
    # No fix was found in the run: worth knowing, never offered as a fix.
    is_open = models.BooleanField(default=False)
    solution = models.ForeignKey(Solution, on_delete=models.SET_NULL, null=True, related_name="lessons")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="lessons")
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    needs_index = models.BooleanField(default=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "fingerprint"], name="lesson_fingerprint"),
            models.Index(fields=["id"], condition=models.Q(needs_index=True), name="lesson_needs_index"),
        ]

    def __str__(self) -> str:
        return f"{self.exception_type}: {self.message[:80]}"


class Evidence(OwnedByProject):
    """One immutable observation about a revision or a lesson. Quality is computed from these, never typed in."""

    class Kind(models.TextChoices):
        VERIFIED = "verified"
        REUSED = "reused"
        RATED = "rated"
        REPORTED = "reported"

    class Outcome(models.TextChoices):
        SUCCESS = "success"
        FAILURE = "failure"
        NOT_APPLICABLE = "not_applicable"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, null=True, related_name="evidence")
    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, null=True, related_name="evidence")
    kind = models.CharField(max_length=12, choices=Kind)
    outcome = models.CharField(max_length=16, choices=Outcome)
    metric_name = models.CharField(max_length=60, blank=True)
    metric_value = models.FloatField(null=True)
    metric_unit = models.CharField(max_length=20, blank=True)
    # "higher" or "lower"
    metric_better = models.CharField(max_length=6, blank=True)
    sandbox = models.CharField(max_length=20, blank=True)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="evidence")
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    detail = models.JSONField(default=dict, blank=True)
    # A changed rating or report adds evidence that takes the old one's place.
    supersedes = models.OneToOneField(
        "self", on_delete=models.SET_NULL, null=True, related_name="superseded_by"
    )

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(revision__isnull=False, lesson__isnull=True)
                | models.Q(revision__isnull=True, lesson__isnull=False),
                name="evidence_about_one_thing",
            )
        ]


# The reason of the links that a merge draws.
MERGED = "Merged"


class Link(OwnedByProject):
    """An edge of the memory graph, from one solution to another solution or to a lesson."""

    class Kind(models.TextChoices):
        DERIVED_FROM = "derived_from"
        SUPERSEDES = "supersedes"
        ALTERNATIVE_TO = "alternative_to"
        DUPLICATE_OF = "duplicate_of"
        DEPENDS_ON = "depends_on"
        RESOLVES = "resolves"
        CONFLICTS_WITH = "conflicts_with"
        RELATED = "related"

    kind = models.CharField(max_length=16, choices=Kind)
    source = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="links")
    target = models.ForeignKey(Solution, on_delete=models.CASCADE, null=True, related_name="back_links")
    target_lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE, null=True, related_name="back_links")
    # Why, in words, where the hub itself drew it.
    reason = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta(OwnedByProject.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(target__isnull=False, target_lesson__isnull=True)
                | models.Q(target__isnull=True, target_lesson__isnull=False),
                name="link_to_one_thing",
            ),
            models.UniqueConstraint(
                fields=["kind", "source", "target", "target_lesson"], nulls_distinct=False, name="link_once"
            ),
        ]


class MergeProposal(OwnedByProject):
    """Two solutions that a reviewer should look at side by side: to be merged, or to stay apart.

    There is one row per pair, `one` with the lesser id (the older), whatever led to it; a pair that somebody decided
    to keep apart is not proposed again for the same reason.
    """

    class Kind(models.TextChoices):
        NEAR_DUPLICATE = "near_duplicate", "Almost the same"
        CONFLICT = "conflict", "One fails where the other works"
        ASKED = "asked", "Somebody asks for it"

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DECLINED = "declined"

    one = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="+")
    two = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    # near_duplicate: {cosine, overlap, model}; conflict: {failing, working, failing_solution}, the first two revisions
    detail = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    # None where the hub itself noticed.
    proposed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    survivor = models.ForeignKey(Solution, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision_note = models.TextField(blank=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["one", "two"], name="merge_proposal_once_per_pair")]
        indexes = [
            models.Index(
                fields=["project", "id"], condition=models.Q(state="open"), name="merge_proposal_open"
            ),
        ]
