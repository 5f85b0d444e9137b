"""Typed settings from environment variables; a secret may come from a file named by NAME_FILE.

Every reader fails loudly with the variable's name, so that a wrong configuration never starts.
`.env.example` documents each variable; a test keeps the two in step.
"""

import os
from pathlib import Path

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


class ConfigurationError(Exception):
    """A setting that is missing or malformed; the message says which one and what to do."""


def env_str(name: str, default: str | None = None) -> str:
    """Return the variable's text; raise ConfigurationError where it is required and absent."""
    value = os.environ.get(name)
    if value is None or value == "":
        if default is None:
            raise ConfigurationError(f"{name} is not set. See .env.example, or run bin/start, which sets it.")
        return default
    return value


def env_secret(name: str, default: str | None = None) -> str:
    """Like env_str, but NAME_FILE may point to a file that holds the value (Docker and Kubernetes secrets)."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigurationError(
                f"{name}_FILE points to {path}, which cannot be read: {error}"
            ) from error
    return env_str(name, default)


def env_bool(name: str, default: bool) -> bool:
    """Return a switch: 1/true/yes/on or 0/false/no/off."""
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise ConfigurationError(f"{name} is {value!r}; use true or false.")


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    """Return a whole number not below `minimum`."""
    value = os.environ.get(name)
    if value is None or value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        raise ConfigurationError(f"{name} is {value!r}; use a whole number.") from None
    if number < minimum:
        raise ConfigurationError(f"{name} is {number}; the least allowed is {minimum}.")
    return number


def env_list(name: str, default: str = "") -> list[str]:
    """Return the comma-separated parts, blanks dropped."""
    return [part.strip() for part in env_str(name, default).split(",") if part.strip()]
