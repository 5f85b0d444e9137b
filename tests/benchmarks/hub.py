"""An empty hub for a measure: services of its own, migrated, gone afterwards. The measure sees no test database."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def empty_hub() -> Iterator[None]:
    """Make this process one of a hub without data, under the application's database role."""
    from memory_hub.embedded import EmbeddedServices
    from memory_hub.launcher.environment import hub_environment

    with tempfile.TemporaryDirectory(prefix="hub-benchmark-", ignore_cleanup_errors=True) as folder:
        services = EmbeddedServices(Path(folder))
        urls = services.start()
        try:
            os.environ.update(hub_environment(Path(folder), urls, role="app"))
            os.environ["DJANGO_SETTINGS_MODULE"] = "memory_hub.settings"
            os.environ.setdefault("LOG_LEVEL", "ERROR")
            command = [sys.executable, str(ROOT / "manage.py"), "migrate", "--noinput", "--verbosity", "0"]
            subprocess.run(command, check=True, env={**os.environ, "HUB_DATABASE_ROLE": "owner"})
            import django

            django.setup()
            yield
            from django.db import connections

            connections["default"].close()
            if connections["default"].settings_dict["OPTIONS"].get("pool"):
                connections["default"].close_pool()  # type: ignore[attr-defined]
        finally:
            services.stop()


def percentile(values: list[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
