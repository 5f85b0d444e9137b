"""Secrets at rest: Fernet under ENCRYPTION_KEYS. The first key encrypts, all of them decrypt, so keys can rotate."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from memory_hub.common.errors import Unavailable

_SECRET_CHARACTERS = 8


def encrypt(secret: str) -> str:
    """Return a token that only this hub's keys can read."""
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(token: str) -> str:
    """Return the secret. Raises Unavailable where no key of this hub reads the token."""
    try:
        return _fernet().decrypt(token.encode()).decode()
    except InvalidToken:
        raise Unavailable(
            "A stored secret cannot be read with this hub's ENCRYPTION_KEY. Enter the key of the connection again.",
            code="secret_unreadable",
        ) from None


def worth_masking(secret: str) -> bool:
    """Say whether this is a secret at all: local servers are given "ollama" for a key, which may stand in any code."""
    return len(secret) >= _SECRET_CHARACTERS


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
