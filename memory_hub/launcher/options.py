"""The options of `bin/start`, and what can be found wrong before anything is installed or started.

Standard library only and no imports of ours: bin/_bootstrap.py loads this file before there is a `.venv`.
"""

import argparse
import ipaddress
import os
import socket
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Calls that wait while every web server process is busy, or starts again.
_BACKLOG = 2048


class OptionsError(Exception):
    """The hub cannot start with these options; the message is one line that says what to do."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return host, port, data (an absolute Path) and demo; ends the program on --help or nonsense."""
    parser = argparse.ArgumentParser(
        prog="bin/start",
        description="Start the hub: database, Redis, workers and web server. Ctrl-C stops everything.",
    )
    parser.add_argument("--port", type=_port, default=8000, help="port of the web server (default: 8000)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)"
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=os.environ.get("MEMORY_HUB_DATA") or str(REPOSITORY / "data"),
        help="folder of everything the hub keeps (default: MEMORY_HUB_DATA, or data in the clone)",
    )
    parser.add_argument(
        "--no-demo",
        dest="demo",
        action="store_false",
        help="leave an empty hub empty: no demo team, no sample runs",
    )
    options = parser.parse_args(arguments)
    options.data = Path(os.path.realpath(options.data))
    return options


def listen(options: argparse.Namespace) -> socket.socket:
    """Return a socket that listens on the chosen address; OptionsError where it is taken or impossible."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)  # on Linux a bind alone may succeed beside a listener
        except BaseException:
            listening.close()
            raise
        return listening
    except PermissionError:
        raise OptionsError(
            f"This user may not use port {options.port}: choose one above 1023 with --port."
        ) from None
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == 99:  # EADDRNOTAVAIL
            raise OptionsError(
                f"{options.host} is not an address of this machine: choose another --host."
            ) from None
        raise OptionsError(
            f"Port {options.port} of {options.host} is taken: stop what uses it, or choose another, "
            f"for example --port {options.port + 1}."
        ) from None


def check(options: argparse.Namespace) -> None:
    """Raise OptionsError where the address is taken or impossible, or the data folder cannot be written."""
    listen(options).close()
    folder: Path = options.data
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    if not folder.is_dir():
        raise OptionsError(f"The data folder {options.data} cannot be made: {folder} is a file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionsError(
            f"The data folder {options.data} cannot be written by this user: choose another with --data."
        )


def is_loopback(host: str) -> bool:
    """Return whether `host` can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use 1 to 65535")
    return int(text)
