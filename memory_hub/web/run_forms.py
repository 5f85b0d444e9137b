"""Forms of the runs room: a new run, a model connection."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from memory_hub.runs.models import Connection
from memory_hub.runs.services import UploadedInput
from memory_hub.runs.services.runs import MAX_STEPS, MAX_TASK_CHARACTERS

SANDBOX_HELP = {
    "auto": "The strongest that works where the runs are executed.",
    "bubblewrap": "Namespaces: the code sees a file system of its own.",
    "landlock": "Kernel rules; works within containers too.",
}
_OPTIONS = ("temperature", "max_tokens", "timeout_seconds", "flatten_messages")


class FilesInput(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; cleaned to a list of UploadedFile."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=FilesInput(), required=False, allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        given = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(FilesField, self).clean(item, initial) for item in given]


class RunForm(forms.Form):
    """What a run needs to begin."""

    sample = forms.CharField(required=False, widget=forms.HiddenInput)
    task = forms.CharField(
        label="Task",
        max_length=MAX_TASK_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What the agent shall do, in your words. Name the files as /inputs/<name>.",
    )
    inputs = FilesField(label="Input files")
    connection = forms.ModelChoiceField(
        queryset=Connection.objects.none(), empty_label=None, label="Model connection"
    )
    sandbox = forms.ChoiceField(
        choices=[("auto", "Automatic"), ("bubblewrap", "Bubblewrap"), ("landlock", "Landlock")],
        widget=forms.RadioSelect,
        help_text="Where the agent's code runs: without a network, and without any file but its own.",
    )
    memory_on = forms.BooleanField(
        required=False,
        label="Use memory",
        help_text="Recall proven solutions before the first step, and known fixes when an error comes up.",
    )
    max_steps = forms.IntegerField(label="Steps at most", min_value=1, max_value=MAX_STEPS)
    time_limit_seconds = forms.IntegerField(label="Seconds at most", min_value=1)

    def __init__(self, *args: Any, connections: Any, sandboxes: dict[str, str], **kwargs: Any) -> None:
        kwargs["initial"] = {
            "sandbox": settings.SANDBOX_DEFAULT, "memory_on": True, "max_steps": 8,
            "time_limit_seconds": min(300, settings.RUN_MAX_SECONDS), **kwargs.get("initial", {}),
        }  # fmt: skip
        super().__init__(*args, **kwargs)
        self.fields["connection"].queryset = connections  # type: ignore[attr-defined]
        self.fields["connection"].label_from_instance = _connection_label  # type: ignore[attr-defined]
        self.fields[
            "inputs"
        ].help_text = f"Read-only for the agent. At most {settings.MAX_UPLOAD_BYTES // 1024**2} MB each."
        limit = self.fields["time_limit_seconds"]
        limit.widget.attrs["max"] = settings.RUN_MAX_SECONDS
        self.fields["sandbox"].choice_help = {  # type: ignore[attr-defined]
            name: f"{text} {sandboxes.get(name, '')}".strip() for name, text in SANDBOX_HELP.items()
        }

    def uploads(self) -> list[UploadedInput]:
        """Return the files as run_start takes them."""
        return [
            UploadedInput(file.name or "", file.file) for file in self.cleaned_data["inputs"] if file.file
        ]


def _connection_label(connection: Connection) -> str:
    return f"{connection.name}: {connection.model_label}"


class ConnectionForm(forms.Form):
    """A model connection. On editing, an empty key keeps the stored one."""

    name = forms.CharField(max_length=80, help_text="As people choose it for a run.")
    kind = forms.ChoiceField(
        choices=[("openai", "OpenAI-compatible"), ("rehearsal", "Rehearsal")], widget=forms.RadioSelect
    )
    base_url = forms.CharField(
        required=False,
        max_length=300,
        label="Address",
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://api.openai.com/v1"}),
        help_text="Empty: OpenAI. Ollama: http://127.0.0.1:11434/v1, LM Studio: http://127.0.0.1:1234/v1, "
        "vLLM and llama.cpp: their own address with /v1.",
    )
    model_id = forms.CharField(
        required=False,
        max_length=200,
        label="Model",
        help_text="As the server knows it, such as gpt-5 or qwen3:8b.",
    )
    secret = forms.CharField(
        required=False,
        label="API key",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Leave it empty where the server wants none.",
    )
    temperature = forms.FloatField(required=False, min_value=0, max_value=2)
    max_tokens = forms.IntegerField(required=False, min_value=1, label="Tokens per reply at most")
    timeout_seconds = forms.FloatField(required=False, min_value=1, label="Seconds to wait for a reply")
    flatten_messages = forms.BooleanField(
        required=False,
        initial=True,
        label="Send messages as plain text",
        help_text="Most servers that are not OpenAI's own want that.",
    )

    def __init__(self, *args: Any, connection: Connection | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connection = connection
        self.fields["kind"].choice_help = {  # type: ignore[attr-defined]
            "openai": "OpenAI, Ollama, vLLM, llama.cpp, LM Studio and others.",
            "rehearsal": "Scripted replies for the sample tasks; no model at all.",
        }
        if connection is None:
            return
        del self.fields["kind"]
        if connection.kind == Connection.Kind.REHEARSAL:
            for name in ("base_url", "model_id", "secret", *_OPTIONS):
                del self.fields[name]
        elif connection.encrypted_secret:
            self.fields[
                "secret"
            ].help_text = (
                "A key is stored. Empty keeps it; with another server in the address it is needed again."
            )
            self.fields["remove_secret"] = forms.BooleanField(required=False, label="Remove the stored key")

    @staticmethod
    def initial_of(connection: Connection) -> dict[str, Any]:
        """Return what the form begins with; the key is not among it."""
        return {
            "name": connection.name, "base_url": connection.base_url, "model_id": connection.model_id,
            "flatten_messages": True, **connection.options,
        }  # fmt: skip

    def options(self) -> dict[str, Any]:
        """Return the options, with those kept that this form does not show."""
        kept = dict(self.connection.options) if self.connection else {}
        return {**kept, **{name: self.cleaned_data[name] for name in _OPTIONS if name in self.cleaned_data}}

    def given_secret(self) -> str | None:
        """Return the new key, "" to remove the stored one, None to keep it."""
        if self.cleaned_data.get("secret"):
            return str(self.cleaned_data["secret"])
        return "" if self.cleaned_data.get("remove_secret") else None
