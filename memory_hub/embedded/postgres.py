"""The embedded PostgreSQL: initialised once, on a private unix socket only, with the hub's two roles."""

import json
import locale
import os
import secrets
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from .cluster import Cluster, cluster_for
from .folders import EmbeddedError, private_folder, read_json, write_private
from .processes import last_lines, minimal_environment, spawn, stop

# Recovery after a crash replays at most max_wal_size; a slow disk may need its time.
READY_SECONDS = 180.0
STOP_STEPS = [(signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0)]

OWNER, APP, SUPERUSER, DATABASE = "hub_owner", "hub_app", "hub_superuser", "hub"

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",  # an HNSW index of 100,000 vectors of 384 numbers is built in memory
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}
# For tests: their data is worth nothing after a crash.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer:
    """One PostgreSQL of one data folder.

    `<data>/postgres.json` (0600) records where the cluster is, the passwords, and whether set-up is complete.
    """

    def __init__(self, data_dir: Path, sockets: Path, *, durable: bool = True) -> None:
        self.data_dir = data_dir
        self.log = data_dir / "logs" / "postgres.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._sockets = sockets
        self._durable = durable
        self._record_file = data_dir / "postgres.json"
        self._record = read_json(self._record_file)
        self._cluster: Cluster | None = None

    @property
    def cluster(self) -> Cluster:
        """Where the server lives; made on first use."""
        if self._cluster is None:
            self._cluster = cluster_for(self.data_dir, self._record.get("root"))
        return self._cluster

    @property
    def socket_folder(self) -> Path:
        """The folder of the server's socket: the account's own where we are root."""
        return self.cluster.root if self.cluster.account else self._sockets

    def url(self, role: str, database: str = DATABASE) -> str:
        """Return the address for a role, as libpq and psycopg take it."""
        host = quote(str(self.socket_folder), safe="")
        return f"postgresql://{role}:{self._record['passwords'][role]}@/{database}?host={host}"

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server, wait until it answers, and complete its set-up on the first start."""
        process = self.spawn()
        self.wait_ready()
        if not self._record.get("complete"):
            self._create_roles_and_database()
            self._save(complete=True)
        return process

    def spawn(self) -> "subprocess.Popen[bytes]":
        """Start the server without waiting; ends an orphan of an earlier start first."""
        private_folder(self.log.parent)
        self._initialise()
        self._end_leftovers()
        settings = SETTINGS | {"unix_socket_directories": str(self.socket_folder), **_shared_memory()}
        if not self._durable:
            settings |= NOT_DURABLE
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self.process = spawn(
            [self.cluster.binaries / "postgres", "-D", self.cluster.data, *options],
            log=self.log,
            environment=minimal_environment(),
            folder=self.cluster.root,
            death_signal=signal.SIGINT,  # a clean, fast shutdown
            account=self.cluster.account,
        )
        return self.process

    def wait_ready(self) -> None:
        """Return when the server takes connections; EmbeddedError, with its last words, where it never does."""
        deadline = time.monotonic() + READY_SECONDS
        while not self.answers(SUPERUSER, "postgres"):
            if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL does not start ({self.log}): {last_lines(self.log)}")
            time.sleep(0.03)

    def answers(self, role: str = APP, database: str = DATABASE) -> bool:
        """Return whether the server takes a connection of that role."""
        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url(role, database), connect_timeout=5).close()
            return True
        return False

    def stop(self) -> None:
        """End the server that we started, if any, by a fast and clean shutdown."""
        if self.process is not None:
            stop(self.process, STOP_STEPS)
            self.process = None

    def _save(self, **changes: object) -> None:
        self._record |= changes
        write_private(self._record_file, json.dumps(self._record, indent=1))

    def _initialise(self) -> None:
        """Run initdb where there is no cluster yet; a broken-off attempt leaves nothing that counts."""
        cluster = self.cluster
        if cluster.data.is_dir():
            return
        if self._record.get("complete"):
            raise EmbeddedError(
                f"The database of {self.data_dir} should be in {cluster.data}, which is gone; restore it."
            )
        # Recorded first: a cluster without its passwords would be lost.
        passwords = {role: secrets.token_urlsafe(24) for role in (SUPERUSER, OWNER, APP)}
        self._save(root=str(cluster.root), passwords=passwords)
        account = cluster.account
        fresh, password_file = cluster.root / "cluster.new", cluster.root / "password"
        for leftover in (fresh, password_file):
            _remove(leftover)
        write_private(password_file, passwords[SUPERUSER])
        if account:
            os.chown(password_file, account.pw_uid, account.pw_gid)
            (cluster.root / "data-folder.txt").write_text(f"{self.data_dir}\n", encoding="utf-8")
        try:
            subprocess.run(
                [
                    cluster.binaries / "initdb", "-D", fresh, "-U", SUPERUSER, f"--pwfile={password_file}",
                    "--auth=scram-sha-256", "-E", "UTF8", *_locale_options(),
                ],
                check=True, capture_output=True, text=True, env=minimal_environment(), cwd=cluster.root,
                user=account.pw_uid if account else None, group=account.pw_gid if account else None,
                extra_groups=[] if account else None, start_new_session=True,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            words = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            raise EmbeddedError(
                f"PostgreSQL cannot be initialised in {cluster.root}: {' / '.join(words[:3])}"
            ) from error
        finally:
            password_file.unlink(missing_ok=True)
        fresh.rename(cluster.data)

    def _create_roles_and_database(self) -> None:
        """Make the two roles, the extensions in template1 (so that test databases have them) and the database."""
        passwords = self._record["passwords"]
        with psycopg.connect(self.url(SUPERUSER, "template1"), autocommit=True) as connection:
            for role, rights in ((OWNER, "CREATEDB"), (APP, "NOCREATEDB")):
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
                connection.execute(
                    sql.SQL(
                        "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEROLE NOBYPASSRLS {} PASSWORD {}"
                    ).format(sql.Identifier(role), sql.SQL(rights), sql.Literal(passwords[role]))
                )
            for extension in ("vector", "pg_trgm"):
                connection.execute(
                    sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension))
                )
        with psycopg.connect(self.url(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(DATABASE)))
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER))
            )

    def _end_leftovers(self) -> None:
        """End a server that survived its launcher; clear a process-id file whose number means nothing now.

        We hold the lock of the data folder, so whatever runs in it is an orphan.
        """
        data = self.cluster.data
        pid_file = data / "postmaster.pid"
        with suppress(OSError, ValueError):
            postmaster = int(pid_file.read_text().split("\n", 1)[0])
            for number, seconds in ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0)):
                if any(process.pid == postmaster for process in _servers_in(data)):
                    os.kill(postmaster, number)
                    _wait_until_none_in(data, seconds)
        # Sessions of a killed server end by themselves; a new server would be refused while one lives.
        if not _wait_until_none_in(data, 15.0):
            raise EmbeddedError(
                f"An earlier PostgreSQL still runs in {data} and does not end; end it by hand."
            )
        pid_file.unlink(missing_ok=True)
        for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
            (self.socket_folder / name).unlink(missing_ok=True)


def _servers_in(data: Path) -> list[psutil.Process]:
    """Return the PostgreSQL processes whose working folder is `data`."""
    found = []
    for process in psutil.process_iter(["name"]):
        with suppress(psutil.Error, OSError):
            if process.info["name"] == "postgres" and process.cwd() == str(data):
                found.append(process)
    return found


def _wait_until_none_in(data: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _servers_in(data):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _locale_options() -> list[str]:
    """Return initdb's options: code-point order everywhere, Unicode character classes (trigrams need them)."""
    options = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return options
    locale.setlocale(locale.LC_CTYPE, before)
    return [*options, "--lc-ctype=C.UTF-8"]


def _shared_memory() -> dict[str, str]:
    """Return settings for machines (containers, mostly) whose /dev/shm is too small for a parallel index build."""
    with suppress(OSError):
        room = os.statvfs("/dev/shm")  # noqa: S108
        if room.f_bavail * room.f_frsize >= 600 * 1024 * 1024:
            return {}
    return {"dynamic_shared_memory_type": "mmap"}


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
