"""Secret tokens: made at random, shown once, stored only as a keyed digest."""

import hashlib
import hmac
import secrets
import string

from django.conf import settings

KEY_MARK = "mh"
_ALPHABET = string.ascii_lowercase + string.digits


def new_token() -> str:
    """Return 256 random bits in URL-safe text."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """Return HMAC-SHA256 of the token under the installation's secret, as hex.

    A stolen table is then of no use without the secret; equal tokens still find their row by the digest.
    """
    return hmac.new(settings.SECRET_KEY.encode(), token.encode(), hashlib.sha256).hexdigest()


def new_key() -> tuple[str, str, str]:
    """Return (whole key to show once, public prefix, secret part), as mh_<8 characters>_<secret>."""
    prefix = "".join(secrets.choice(_ALPHABET) for _ in range(8))
    secret = "".join(secrets.choice(_ALPHABET) for _ in range(40))
    return f"{KEY_MARK}_{prefix}_{secret}", prefix, secret


def split_key(key: str) -> tuple[str, str] | None:
    """Return (prefix, secret) of a well-formed key, else None."""
    mark, _, rest = key.partition("_")
    prefix, _, secret = rest.partition("_")
    return (prefix, secret) if mark == KEY_MARK and prefix and secret else None
