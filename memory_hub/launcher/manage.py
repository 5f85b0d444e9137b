"""`bin/manage`: Django's command line with the hub's services, whether the hub is up or down."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_hub.embedded import (
    DataFolderBusyError,
    EmbeddedError,
    EmbeddedServices,
    ServiceUrls,
    urls_if_running,
)
from memory_hub.embedded.folders import private_folder
from memory_hub.env import ConfigurationError

from .environment import REPOSITORY, data_folder, hub_environment, wanted_services

USAGE = "Usage: bin/manage [--data DIR] COMMAND [ARGUMENTS]   (bin/manage help lists the commands)"


def main(arguments: list[str]) -> int:
    """Run one management command as the owning role and return its exit code."""
    given, command = split_arguments(arguments)
    if not command:
        print(USAGE)
        return 2
    data_dir = data_folder(given)
    try:
        database, redis = wanted_services()
        if not (database or redis):
            return _run(command, data_dir, ServiceUrls("", "", ""))
        while True:
            with users_lock(data_dir, fcntl.LOCK_SH):
                urls = urls_if_running(data_dir, database=database, redis=redis)
                if urls is not None:
                    return _run(command, data_dir, urls)
            try:
                with EmbeddedServices(data_dir, database=database, redis=redis) as urls:
                    code = _run(command, data_dir, urls)
                    with users_lock(data_dir, fcntl.LOCK_EX):  # another bin/manage may have joined us
                        return code
            except DataFolderBusyError:
                time.sleep(0.2)  # somebody was quicker: theirs are coming up
    except (EmbeddedError, ConfigurationError) as error:
        print(f"bin/manage: {error}", file=sys.stderr)
        return 1


def split_arguments(arguments: list[str]) -> tuple[str | None, list[str]]:
    """Return the folder of a leading `--data DIR` (or `--data=DIR`), and the rest, which is Django's."""
    if arguments and arguments[0].startswith("--data="):
        return arguments[0].removeprefix("--data="), arguments[1:]
    if arguments and arguments[0] == "--data":
        return (arguments[1] if len(arguments) > 1 else None), arguments[2:]
    return None, arguments


@contextmanager
def users_lock(data_dir: Path, kind: int) -> Iterator[None]:
    """Hold the lock of those who use services that another bin/manage started: shared to use, exclusive to end."""
    private_folder(data_dir)
    with (data_dir / "users.lock").open("a") as lock:
        fcntl.flock(lock, kind)
        yield


def _run(command: list[str], data_dir: Path, urls: ServiceUrls) -> int:
    """Run Django in a child; a Ctrl-C is the child's to answer, and we clear up after it."""
    environment = hub_environment(data_dir, urls, role=os.environ.get("HUB_DATABASE_ROLE", "owner"))
    # Handlers, not SIG_IGN: those a child would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    process = subprocess.Popen([sys.executable, "-P", REPOSITORY / "manage.py", *command], env=environment)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: process.send_signal(number))
    code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
