"""Connections to models, runs, their input files, steps, and the ordered log of what happened."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory_hub.access.models import ApiKey, User
from memory_hub.access.ownership import OwnedByProject
from memory_hub.access.permissions import Role, Scope
from memory_hub.common.fields import ExactJSONField


class Connection(OwnedByProject):
    """A configured model provider. Its secret is stored encrypted and never leaves the worker again."""

    class Kind(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, llama.cpp, LM Studio)"
        REHEARSAL = "rehearsal", "Rehearsal (scripted replies for the sample tasks, no model)"

    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=12, choices=Kind)
    base_url = models.URLField(max_length=300, blank=True)
    model_id = models.CharField(max_length=200, blank=True)
    # Fernet token under ENCRYPTION_KEY; empty where the endpoint needs no key.
    encrypted_secret = models.TextField(blank=True)
    # temperature, max_tokens, timeout_seconds, flatten_messages, pause_seconds (rehearsal)
    options = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    # A connection that runs used is retired, not removed, so that their page still says what they ran on.
    retired_at = models.DateTimeField(null=True)

    class Meta(OwnedByProject.Meta):
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=models.Q(retired_at=None), name="connection_name_once"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def model_label(self) -> str:
        """The model's name as every page shows it; a rehearsal says so."""
        if self.kind == self.Kind.REHEARSAL:
            return "rehearsal (scripted replies, no model)"
        return self.model_id


class Run(OwnedByProject):
    """One CodeAgent execution: what was asked, under whose rights, how far it is, what came out."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        # The worker died; what it had shown is kept and captured.
        LOST = "lost"

    class Capture(models.TextChoices):
        """Whether what the run learnt is in the library yet."""

        WAITING = "waiting"  # the run has not ended
        NEEDED = "needed"
        DONE = "done"
        FAILED = "failed"

    class Origin(models.TextChoices):
        DASHBOARD = "dashboard"
        API = "api"
        RECORDED = "recorded"  # happened elsewhere, sent by the client
        SAMPLE = "sample"

    # --- what was asked
    starter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    started_with_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, related_name="+")
    # The run's rights: the starter's current rights, at most this role, only these scopes.
    role = models.CharField(max_length=12, choices=Role)
    scopes = ArrayField(models.CharField(max_length=12, choices=Scope))
    origin = models.CharField(max_length=12, choices=Origin)
    task = models.TextField()
    connection = models.ForeignKey(Connection, on_delete=models.SET_NULL, null=True, related_name="+")
    model_label = models.CharField(max_length=200, blank=True)
    sandbox = models.CharField(max_length=20, default="auto")
    memory_on = models.BooleanField(default=True)
    max_steps = models.PositiveIntegerField(default=8)
    time_limit_seconds = models.PositiveIntegerField(default=300)

    # --- how far it is
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    cancel_requested_at = models.DateTimeField(null=True)
    lease_holder = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    last_sequence = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    capture = models.CharField(max_length=12, choices=Capture, default=Capture.WAITING)
    capture_attempts = models.PositiveSmallIntegerField(default=0)

    # --- what came out
    sandbox_used = models.CharField(max_length=20, blank=True)
    environment = models.JSONField(default=dict)
    answer = models.TextField(blank=True)
    # Why it failed, was cancelled or lost, in words for the person who started it.
    reason = models.TextField(blank=True)
    # {entry_point, args, kwargs, result, replayable, reason}: the call that made the answer, where it is known
    final_call = ExactJSONField(null=True)
    # [{name, value, unit, higher_is_better}]
    metrics = models.JSONField(default=list)
    # What memory did for it, in ids, since the rooms of memory stand above this one:
    # {recall, offered: [...], defined: [...], used: [...], lessons: [...], reported_success}
    memory_use = models.JSONField(default=dict)
    step_count = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)

    class Meta(OwnedByProject.Meta):
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "-id"], name="run_project_newest"),
            models.Index(
                fields=["state", "lease_until"],
                condition=models.Q(state__in=["queued", "running"]),
                name="run_unfinished",
            ),
            models.Index(fields=["ended_at"], condition=models.Q(capture="needed"), name="run_needs_capture"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(lease_until__isnull=False),
                name="run_running_has_lease",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running"]) | models.Q(ended_at__isnull=False),
                name="run_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.id}"

    @property
    def has_ended(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)

    @property
    def is_settled(self) -> bool:
        """Ended, and what it learnt is written: nothing more will be added to its log."""
        return self.has_ended and self.capture in (self.Capture.DONE, self.Capture.FAILED)

    @property
    def seconds(self) -> float | None:
        """Wall time from start to end, or None while there is none."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()


class RunInput(OwnedByProject):
    """A file that the run may read as /inputs/<name>."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="inputs")
    name = models.CharField(max_length=120)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    # Relative to MEDIA_ROOT; made of ids only, never of a name that somebody gave.
    path = models.CharField(max_length=200)
    profile = models.JSONField(default=dict)

    class Meta(OwnedByProject.Meta):
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="run_input_name_once")]


class Step(OwnedByProject):
    """One thought, the code it led to, and what came of it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    thought = models.TextField(blank=True)
    code = models.TextField(blank=True)
    # What the code printed, then the value of its last line, as text.
    observations = models.TextField(blank=True)
    value = models.TextField(blank=True)
    # execution, parsing, check, limit, other: whether the error says something of Python or of the model
    error_kind = models.CharField(max_length=12, blank=True)
    error_type = models.CharField(max_length=200, blank=True)
    error_message = models.TextField(blank=True)
    error_line = models.TextField(blank=True)
    error_line_number = models.PositiveIntegerField(null=True)
    traceback = models.TextField(blank=True)
    # What memory said about the error, as the model saw it.
    hint = models.TextField(blank=True)
    is_final = models.BooleanField(default=False)
    seconds = models.FloatField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)

    class Meta(OwnedByProject.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="step_number_once")]


class RunEvent(OwnedByProject):
    """One entry of a run's log. The live page is exactly these rows in order of sequence, nothing else."""

    class Kind(models.TextChoices):
        QUEUED = "queued"
        STARTED = "started"
        PREPARED = "prepared"
        RECALLED = "recalled"
        STEP = "step"
        HINT = "hint"
        CANCEL_REQUESTED = "cancel_requested"
        ENDED = "ended"
        CAPTURED = "captured"
        CAPTURE_FAILED = "capture_failed"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=Kind)
    step = models.ForeignKey(Step, on_delete=models.CASCADE, null=True, related_name="+")
    data = models.JSONField(default=dict)

    class Meta(OwnedByProject.Meta):
        ordering = ["sequence"]
        constraints = [models.UniqueConstraint(fields=["run", "sequence"], name="run_event_sequence_once")]
