"""Forms of the access room: members, invitations, keys, project settings, a new project."""

from datetime import timedelta
from typing import Any

from django import forms

from memory_hub.access.models import RecallPolicy
from memory_hub.access.permissions import Role, Scope
from memory_hub.common.clock import now

ROLE_HELP = {
    Role.VIEWER: "Reads the library and the runs.",
    Role.CONTRIBUTOR: "Starts runs, proposes and refines solutions, rates.",
    Role.REVIEWER: "Approves and rejects, but never their own work.",
    Role.MAINTAINER: "Manages members, connections and settings.",
}
_LIFETIMES = [("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("", "Never")]


def _roles(held: Role) -> list[tuple[str, str]]:
    return [(role.value, role.label) for role in Role if role.rank <= held.rank]


class InvitationForm(forms.Form):
    """A link for one person."""

    role = forms.ChoiceField(choices=Role.choices, widget=forms.RadioSelect, initial=Role.CONTRIBUTOR)
    email = forms.EmailField(
        required=False,
        label="Only for this address",
        help_text="Left empty, whoever gets the link first can use it.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choice_help = ROLE_HELP  # type: ignore[attr-defined]  # read by templates/forms/field.html


class MemberForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Role.choices)


class JoinForm(forms.Form):
    """An account for somebody who was invited."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 10 characters. A passphrase of several words is easier to keep in mind.",
    )


class KeyForm(forms.Form):
    """A key for a program."""

    name = forms.CharField(max_length=80, help_text="The program that will use it.")
    role = forms.ChoiceField(help_text="The key never does more than you may yourself.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ, Scope.RECALL, Scope.PROPOSE],
    )
    lifetime = forms.ChoiceField(choices=_LIFETIMES, required=False, initial="90", label="Valid for")

    def __init__(self, *args: Any, held: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = _roles(held)  # type: ignore[attr-defined]
        self.fields["role"].initial = Role.CONTRIBUTOR.at_most(held)

    def values(self) -> dict[str, Any]:
        """Return what key_create takes."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "role": Role(data["role"]),
            "scopes": [Scope(scope) for scope in data["scopes"]],
            "expires_at": now() + timedelta(days=int(data["lifetime"])) if data["lifetime"] else None,
        }


class ProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))


class SettingsForm(ProjectForm):
    """How a project works."""

    recall_policy = forms.ChoiceField(
        choices=RecallPolicy.choices, widget=forms.RadioSelect, label="What agents are offered"
    )
    allow_self_approval = forms.BooleanField(
        required=False,
        label="People may approve their own work",
        help_text="Meant for a team of one. Each such decision is marked.",
    )
