"""Signing in and out, and one's own password: django-allauth's views with our pages around them.

Only these routes of allauth exist: accounts are made by invitations, addresses are changed by nobody else.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.views import LoginView, LogoutView, PasswordChangeView
from django.http import HttpResponse, HttpResponseBase
from django.urls import path, reverse_lazy
from django.views import View
from django.views.decorators.http import require_http_methods

from .shell import page, public_page

Answer = Callable[..., HttpResponseBase]


class SignIn(LoginView):
    """A wrong password answers 422 with the form again, as every form here does."""

    template_name = "account/sign_in.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


class SignOut(LogoutView):
    """GET asks, POST does."""

    template_name = "account/sign_out.html"


class ChangePassword(PasswordChangeView):
    """Needs the old password; other sessions of the person end."""

    template_name = "account/change_password.html"
    success_url = reverse_lazy("home")

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


def _form(view: type[View], kind: Callable[[Answer], Answer] = page) -> Answer:
    """Make a page of allauth's view, with the two methods of a form: its own would take PUT for POST."""
    return require_http_methods(["GET", "POST"])(kind(view.as_view()))


urlpatterns = [
    path("accounts/login/", _form(SignIn, public_page), name="account_login"),
    path("accounts/logout/", _form(SignOut), name="account_logout"),
    path("accounts/password/", _form(ChangePassword), name="account_change_password"),
]
