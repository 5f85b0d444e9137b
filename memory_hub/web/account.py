"""Signing in and out, and one's own password: django-allauth's views with our pages around them.

Only these routes of allauth exist: accounts are made by invitations, addresses are changed by nobody else.
"""

from typing import Any

from allauth.account.views import LoginView, LogoutView, PasswordChangeView
from django.http import HttpResponse
from django.urls import path, reverse_lazy


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


urlpatterns = [
    path("accounts/login/", SignIn.as_view(), name="account_login"),
    path("accounts/logout/", SignOut.as_view(), name="account_logout"),
    path("accounts/password/", ChangePassword.as_view(), name="account_change_password"),
]
