"""How django-allauth behaves here: nobody signs up without an invitation."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up is closed; invitations make accounts (services/invitations.py)."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
