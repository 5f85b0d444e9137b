"""The environment that every process of a hub gets: addresses, keys, role."""

import base64
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from memory_hub.embedded import EmbeddedError, ServiceUrls
from memory_hub.embedded.folders import private_folder, read_json, write_private
from memory_hub.env import ConfigurationError

REPOSITORY = Path(__file__).resolve().parent.parent.parent
KEYS_FILE = "keys.json"


def is_set(name: str, environment: Mapping[str, str] | None = None) -> bool:
    """Return whether the setting NAME is given, by itself or as NAME_FILE."""
    environment = os.environ if environment is None else environment
    return bool(environment.get(name) or environment.get(f"{name}_FILE"))


def wanted_services(environment: Mapping[str, str] | None = None) -> tuple[bool, bool]:
    """Return whether the embedded database and the embedded Redis are wanted: where no address is configured."""
    database, migrate = is_set("DATABASE_URL", environment), is_set("MIGRATE_DATABASE_URL", environment)
    if database and not migrate:
        raise ConfigurationError(
            "DATABASE_URL is set but MIGRATE_DATABASE_URL is not: give the address for the role that owns the tables."
        )
    if migrate and not database:
        raise ConfigurationError("MIGRATE_DATABASE_URL is set but DATABASE_URL is not: set both, or neither.")
    return not database, not is_set("REDIS_URL", environment)


def data_folder(given: str | None = None) -> Path:
    """Return the data folder, absolute: what was asked for, else MEMORY_HUB_DATA, else `data` in the clone."""
    chosen = given or os.environ.get("MEMORY_HUB_DATA")
    return Path(os.path.realpath(chosen)) if chosen else REPOSITORY / "data"


def hub_keys(data_dir: Path) -> dict[str, str]:
    """Return SECRET_KEY and ENCRYPTION_KEY: random, made once, kept in the data folder (0600)."""
    file = private_folder(data_dir) / KEYS_FILE
    keys: dict[str, str] = read_json(file)
    if not keys:
        keys = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "ENCRYPTION_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        }
        write_private(file, json.dumps(keys, indent=1))
    if not all(isinstance(keys.get(name), str) for name in ("SECRET_KEY", "ENCRYPTION_KEY")):
        raise EmbeddedError(f"{file} does not hold the keys of this hub; restore it from a backup.")
    return keys


def hub_environment(data_dir: Path, urls: ServiceUrls, *, role: str = "app") -> dict[str, str]:
    """Return the environment for a process of this hub: ours, completed; what is set already stays.

    `role` is the database role, app or owner.
    """
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    embedded = {
        "DATABASE_URL": urls.database_url,
        "MIGRATE_DATABASE_URL": urls.migrate_database_url,
        "REDIS_URL": urls.redis_url,
    }
    environment |= {name: url for name, url in embedded.items() if url}
    keys = hub_keys(data_dir)
    environment |= {name: key for name, key in keys.items() if not is_set(name, environment)}
    environment["MEMORY_HUB_DATA"] = str(data_dir)
    environment.setdefault("MEMORY_HUB_EMBEDDED", "1")
    environment["HUB_DATABASE_ROLE"] = role
    environment["PYTHONUNBUFFERED"] = "1"
    return environment
