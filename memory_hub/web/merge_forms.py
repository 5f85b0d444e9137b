"""Forms of merging: which solution with which, and the decision with what the reviewer saw."""

from typing import Any
from uuid import UUID

from django import forms


class MergeProposeForm(forms.Form):
    """The other solution, and why."""

    other = forms.TypedChoiceField(label="Which one is the same?")
    note = forms.CharField(
        required=False,
        max_length=10_000,
        label="What makes you think so",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, choices: list[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["other"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [("", "Choose a solution"), *choices]
        field.coerce = UUID


class MergeDecisionForm(forms.Form):
    """Which of the two stays, or that both do; with the latest revisions that the reviewer saw."""

    decision = forms.ChoiceField(
        choices=[("keep_one", "Keep A"), ("keep_two", "Keep B"), ("decline", "Keep both")]
    )
    note = forms.CharField(required=False, max_length=10_000)
    one_latest = forms.UUIDField(widget=forms.HiddenInput)
    two_latest = forms.UUIDField(widget=forms.HiddenInput)
