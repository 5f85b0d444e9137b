"""Embedded PostgreSQL and Redis, for a hub without configured services (Linux x86-64 with glibc).

No Django in here: the launcher, `bin/manage` and the tests start the services before Django's settings load.
"""

from .folders import DataFolderBusyError, EmbeddedError
from .services import EmbeddedServices, ServiceUrls, urls_if_running

__all__ = ["DataFolderBusyError", "EmbeddedError", "EmbeddedServices", "ServiceUrls", "urls_if_running"]
