"""Is the web server of this container well: `healthcheck.py /livez` or `/readyz`. Exit code 0 means yes.

Asks as the proxy would: over plain HTTP on loopback, saying that the visitor came by HTTPS, since the server sends
everybody else there.
"""

import http.client
import sys


def is_well(path: str, *, host: str = "127.0.0.1", port: int = 8000, seconds: float = 4.0) -> bool:
    """Return whether GET `path` answers 200 within `seconds`."""
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.request("GET", path, headers={"X-Forwarded-Proto": "https"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if is_well(sys.argv[1] if len(sys.argv) > 1 else "/livez") else 1)
