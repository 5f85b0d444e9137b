"""One web server process on a socket that the launcher listens on; several share it, and the kernel deals out calls."""

import argparse
import os
import socket

import uvicorn


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True, help="the listening socket, inherited")
    descriptor = parser.parse_args().fd
    config = uvicorn.Config(
        "memory_hub.asgi:application",
        lifespan="off",
        log_level=os.environ.get("LOG_LEVEL", "INFO").lower(),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Open live streams end with the server; browsers come back by themselves.
        timeout_graceful_shutdown=2,
    )
    # Not uvicorn's own `fd`: that takes the socket for a Unix one, and leaves Nagle's delay on.
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main()
