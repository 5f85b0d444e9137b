"""pytest plugin (-p tests.embedded_services): the real PostgreSQL and Redis for the tests, unless configured.

Runs before pytest-django reads the settings. Each pytest process takes the first free numbered folder under
`.cache/test-data`, so that several may run at once: the workers of pytest-xdist each have their own.
"""

import itertools
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from memory_hub.embedded import DataFolderBusyError, EmbeddedServices
from memory_hub.launcher.environment import hub_environment

FOLDERS = Path(__file__).resolve().parent.parent / ".cache" / "test-data"
# Marks, for a worker of pytest-xdist, that the services in its environment are those of the process above it.
_OURS = "HUB_TEST_SERVICES"
_services: EmbeddedServices | None = None


def start_services() -> tuple[EmbeddedServices, dict[str, str]]:
    """Start services on the first free numbered folder; return them and the environment of a hub on them."""
    for number in itertools.count(1):
        services = EmbeddedServices(FOLDERS / str(number), durable=False)
        try:
            urls = services.start()
        except DataFolderBusyError:
            continue
        return services, hub_environment(services.data_dir, urls, role="app")
    raise AssertionError("numbers do not end")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests() -> Generator[None, None, None]:
    """Start the services and set the environment; a DATABASE_URL of somebody else's means: use that."""
    global _services
    if not os.environ.get("DATABASE_URL") or os.environ.get(_OURS):
        _services, environment = start_services()
        os.environ.update(environment | {_OURS: "yes"})
    return (yield)


def pytest_unconfigure() -> None:
    """End what we started."""
    global _services
    if _services is not None:
        _services.stop()
        _services = None
