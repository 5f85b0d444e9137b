"""How django-allauth behaves here: nobody signs up without an invitation."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up is closed; invitations make accounts (services/invitations.py)."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        """Say so to whoever knew the right password; allauth would lead to a page that is not here."""
        messages.error(request, "This account is switched off. Ask somebody of your team.")
        return redirect("account_login")
