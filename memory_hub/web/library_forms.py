"""Forms of the library: the words of a solution, its code, its check."""

import json
from typing import Any

from django import forms

from memory_hub.library.check_spec import parse_json
from memory_hub.library.models import Revision, Solution


def code_field(label: str, help_text: str = "", *, required: bool = True, rows: int = 18) -> forms.CharField:
    """Return a field for code: monospaced, nothing trimmed."""
    attributes = {
        "class": "code-input" if rows > 6 else "code-input code-input-small",
        "rows": rows,
        "spellcheck": "false",
        "autocapitalize": "off",
        "wrap": "off",
    }
    return forms.CharField(
        label=label,
        help_text=help_text,
        required=required,
        strip=False,
        widget=forms.Textarea(attrs=attributes),
    )


def _json_field(label: str, help_text: str) -> forms.CharField:
    return code_field(label, help_text, required=False, rows=4)


class WordsForm(forms.Form):
    """What people read of a solution, and what recall searches first."""

    title = forms.CharField(max_length=200)
    problem = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What was to be done, in the words somebody would ask with.",
    )
    kind = forms.ChoiceField(choices=Solution.Kind.choices, initial=Solution.Kind.OTHER)
    tags = forms.CharField(required=False, help_text="Separated by commas.")
    applies_when = forms.CharField(
        required=False,
        label="Applies when",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What must be so for it to work: formats, versions, sizes.",
    )
    edge_cases = forms.CharField(
        required=False,
        label="Edge cases",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One per line.",
    )

    def words(self) -> dict[str, Any]:
        """Return the fields as the services take them."""
        values = {name: self.cleaned_data[name] for name in WordsForm.base_fields}
        values["tags"] = values["tags"].split(",")
        values["edge_cases"] = values["edge_cases"].splitlines()
        return values


class CheckForm(forms.Form):
    """One call of the entry point and what it must return, as JSON."""

    check_args = _json_field("Arguments", 'Positional, a JSON list: ["/inputs/sales.csv", 2]')
    check_kwargs = _json_field("Named arguments", 'A JSON object: {"year": 2020}')
    check_result = _json_field("Expected result", "The JSON value that the call must return.")

    def check_spec(self) -> dict[str, Any] | None:
        """Return the check, or None where all three are empty. Raises InvalidInput, naming the field."""
        texts = {name: self.cleaned_data[f"check_{name}"].strip() for name in ("args", "kwargs", "result")}
        if not any(texts.values()):
            return None
        spec = {
            "args": parse_json(texts["args"] or "[]", "check_args"),
            "kwargs": parse_json(texts["kwargs"] or "{}", "check_kwargs"),
        }
        if texts["result"]:
            spec["result"] = parse_json(texts["result"], "check_result")
        return spec


class _CodeForm(CheckForm):
    code = code_field("Code")
    entry_point = forms.CharField(
        required=False,
        label="Entry point",
        max_length=120,
        help_text="The top-level function to call. Empty: a script, which agents are shown as text only.",
    )
    usage_example = code_field("Usage example", required=False, rows=3)
    explanation = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))


class NewSolutionForm(WordsForm, _CodeForm):
    """A solution written by hand."""

    field_order = [*WordsForm.base_fields, "code", "entry_point", "usage_example", "explanation"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["entry_point"].help_text = (
            "The top-level function to call. Empty: the only one there is; where there is none or a choice, the "
            "solution is a script, which agents are shown as text only."
        )


class EditForm(WordsForm):
    """The words of a solution, as somebody saw them at a moment."""

    seen_at = forms.DateTimeField(widget=forms.HiddenInput)


class RefineForm(_CodeForm):
    """The code of a new revision, on top of one that the person saw."""

    based_on = forms.UUIDField(widget=forms.HiddenInput)
    change_note = forms.CharField(
        required=False, label="What you changed and why", widget=forms.Textarea(attrs={"rows": 2})
    )
    field_order = ["based_on", "code", "entry_point", "change_note"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["entry_point"].help_text = "The top-level function to call. Empty: a script."

    @staticmethod
    def initial_of(revision: Revision) -> dict[str, Any]:
        """Return what the form begins with."""
        return {
            "based_on": revision.id,
            "code": revision.code,
            "entry_point": revision.entry_point,
            "usage_example": revision.usage_example,
            "explanation": revision.explanation,
            **check_texts(revision.check_spec),
        }


def check_texts(spec: dict[str, Any] | None) -> dict[str, str]:
    """Return a check as the texts of the three fields."""
    if spec is None:
        return {}
    shown = {"check_args": spec["args"], "check_kwargs": spec["kwargs"], "check_result": spec["result"]}
    return {name: json.dumps(value, ensure_ascii=False, indent=2) for name, value in shown.items()}


class DecisionForm(forms.Form):
    """A reviewer's decision, with what they saw when they made it."""

    decision = forms.ChoiceField(
        choices=[("approve", "Approve"), ("reject", "Reject"), ("deprecate", "Deprecate")]
    )
    note = forms.CharField(required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3}))
    expected_latest = forms.UUIDField(widget=forms.HiddenInput)
    expected_status = forms.ChoiceField(choices=Revision.Status.choices, widget=forms.HiddenInput)


class RatingForm(forms.Form):
    """Stars and a few words."""

    stars = forms.IntegerField(min_value=1, max_value=5)
    note = forms.CharField(required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}))
