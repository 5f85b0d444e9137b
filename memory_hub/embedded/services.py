"""The embedded PostgreSQL and Redis of one data folder, started and ended together."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from .folders import DataFolderBusyError, EmbeddedError, FolderLock, private_folder, read_json, socket_folder
from .postgres import APP, OWNER, PostgresServer
from .redis import RedisServer


@dataclass(frozen=True)
class ServiceUrls:
    """Addresses of running services: for hub_app, for hub_owner, and of Redis; "" for one that is not embedded."""

    database_url: str
    migrate_database_url: str
    redis_url: str


class EmbeddedServices:
    """Start and stop the services of a data folder; one process at a time holds a folder.

    `database` and `redis` say which of the two are wanted: the other one is somebody else's.
    `durable=False` is for tests: quicker, and a power cut may cost the data.
    """

    def __init__(
        self, data_dir: Path, *, database: bool = True, redis: bool = True, durable: bool = True
    ) -> None:
        self.data_dir = Path(os.path.realpath(data_dir))
        self._wanted = (database, redis)
        self._durable = durable
        self._lock = FolderLock(self.data_dir / "services.lock")
        self._postgres: PostgresServer | None = None
        self._redis: RedisServer | None = None
        self._held = False

    @property
    def postgres(self) -> PostgresServer | None:
        """The database server, None where it is not wanted or not started."""
        return self._postgres

    @property
    def redis(self) -> RedisServer | None:
        """The Redis server, None where it is not wanted or not started."""
        return self._redis

    def hold(self) -> None:
        """Take the data folder without starting anything; DataFolderBusyError where another process has it."""
        private_folder(self.data_dir)
        if not self._lock.acquire():
            raise DataFolderBusyError(
                f"The data folder {self.data_dir} is in use by process {self._lock.holder() or '(unknown)'}: "
                "stop that one, or choose another folder with --data."
            )
        try:
            sockets = socket_folder(self.data_dir)
            database, redis = self._wanted
            self._postgres = (
                PostgresServer(self.data_dir, sockets, durable=self._durable) if database else None
            )
            self._redis = RedisServer(self.data_dir, sockets) if redis else None
            self._held = True
        except BaseException:
            self._lock.release()
            raise

    def start(self) -> ServiceUrls:
        """Start both and return their addresses; leaves nothing running where one of them fails.

        Call it from a thread that lives on: the services are ended when that thread is.
        Raises DataFolderBusyError, EmbeddedError.
        """
        if not self._held:
            self.hold()
        try:
            if self._redis:
                self._redis.spawn()
            if self._postgres:
                self._postgres.start()
            if self._redis:
                self._redis.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self.urls

    @property
    def urls(self) -> ServiceUrls:
        """The addresses of the services, running or not."""
        return _urls(self._postgres, self._redis)

    def stop(self) -> None:
        """End both, Redis first, and give the data folder back."""
        try:
            if self._redis is not None:
                self._redis.stop()
        finally:
            if self._postgres is not None:
                self._postgres.stop()
            self._postgres = self._redis = None
            if self._held and (sockets := socket_folder(self.data_dir)).parent != self.data_dir:
                with suppress(OSError):
                    sockets.rmdir()
            self._held = False
            self._lock.release()

    def __enter__(self) -> ServiceUrls:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def urls_if_running(
    data_dir: Path, *, database: bool = True, redis: bool = True, wait_seconds: float = 30.0
) -> ServiceUrls | None:
    """Return the addresses of services that another process runs for `data_dir`; None where nobody does.

    Waits for services that are just starting; EmbeddedError where they do not come up in time.
    """
    data_dir = Path(os.path.realpath(data_dir))
    lock = FolderLock(data_dir / "services.lock")
    deadline = time.monotonic() + wait_seconds
    while lock.held_by_somebody():
        if not database or read_json(data_dir / "postgres.json").get("complete"):
            sockets = socket_folder(data_dir)
            postgres = PostgresServer(data_dir, sockets) if database else None
            memory = RedisServer(data_dir, sockets) if redis else None
            if (postgres is None or postgres.answers()) and (memory is None or memory.answers()):
                return _urls(postgres, memory)
        if time.monotonic() > deadline:
            raise EmbeddedError(f"The data folder {data_dir} is in use, but its services do not answer.")
        time.sleep(0.1)
    return None


def _urls(postgres: PostgresServer | None, redis: RedisServer | None) -> ServiceUrls:
    return ServiceUrls(
        database_url=postgres.url(APP) if postgres else "",
        migrate_database_url=postgres.url(OWNER) if postgres else "",
        redis_url=redis.url if redis else "",
    )
