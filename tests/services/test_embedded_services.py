"""The embedded PostgreSQL and Redis for real: roles, privacy, unclean ends, one holder, odd folders."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from memory_hub.embedded import DataFolderBusyError, EmbeddedError, EmbeddedServices, urls_if_running
from memory_hub.embedded.folders import LONGEST_SOCKET_FOLDER, read_json, socket_folder
from memory_hub.embedded.postgres import SUPERUSER

# Starts the services of a folder, says so, and waits to be killed.
HOLDER = (
    "import sys, time; from pathlib import Path; from memory_hub.embedded import EmbeddedServices\n"
    "s = EmbeddedServices(Path(sys.argv[1])); s.start()\n"
    "print(s.postgres.process.pid, s.redis.process.pid, flush=True); time.sleep(120)"
)


def forget(data_dir: Path) -> None:
    """Remove what a hub of root keeps outside the data folder."""
    with suppress(EmbeddedError):
        root = read_json(data_dir / "postgres.json").get("root")
        if root and os.geteuid() == 0:
            shutil.rmtree(root)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One data folder, initialised once; each test starts and stops its services."""
    folder = tmp_path_factory.mktemp("embedded") / "data"
    yield folder
    forget(folder)


@pytest.fixture
def services(data_dir: Path) -> Iterator[EmbeddedServices]:
    started = EmbeddedServices(data_dir)
    started.start()
    yield started
    started.stop()


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_two_roles_without_power_own_and_use_the_database(services):
    with psycopg.connect(services.urls.migrate_database_url) as owner:
        assert owner.execute("SELECT current_user, current_database()").fetchone() == ("hub_owner", "hub")
        roles = owner.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles"
            " WHERE rolname LIKE 'hub\\_%' AND NOT rolsuper ORDER BY rolname"
        ).fetchall()
        assert roles == [("hub_app", False, False, False, False), ("hub_owner", False, False, False, True)]
    with (
        psycopg.connect(services.urls.database_url) as app,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        app.execute("CREATE TABLE mine (id int)")


def test_row_security_binds_the_app_role(services):
    with psycopg.connect(services.urls.migrate_database_url, autocommit=True) as owner:
        owner.execute(
            "DROP TABLE IF EXISTS walled; CREATE TABLE walled (id int); INSERT INTO walled VALUES (1)"
        )
        owner.execute("ALTER TABLE walled ENABLE ROW LEVEL SECURITY; GRANT SELECT ON walled TO hub_app")
        assert owner.execute("SELECT count(*) FROM walled").fetchone() == (1,)
        with psycopg.connect(services.urls.database_url) as app:
            assert app.execute("SELECT count(*) FROM walled").fetchone() == (0,)
        owner.execute("DROP TABLE walled")


def test_vectors_and_trigrams_of_any_script_are_there_in_test_databases_too(services):
    url = services.urls.migrate_database_url
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS test_hub")
        owner.execute("CREATE DATABASE test_hub")
    with psycopg.connect(url.replace("@/hub?", "@/test_hub?")) as connection:
        assert connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'::vector").fetchone() == (5.0,)
        assert connection.execute("SELECT similarity('Übersicht', 'übersicht') = 1").fetchone() == (True,)
        assert connection.execute("SELECT similarity('привет', 'приветы') > 0.5").fetchone() == (True,)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP DATABASE test_hub")


def test_the_database_is_durable_and_sized_for_index_builds(services):
    with psycopg.connect(services.urls.database_url) as connection:
        settings = dict(connection.execute("SELECT name, current_setting(name) FROM pg_settings").fetchall())
    assert settings["fsync"] == settings["full_page_writes"] == "on"
    assert settings["maintenance_work_mem"] == settings["shared_buffers"] == "256MB"
    assert settings["jit"] == "off"


def test_nothing_listens_on_a_network_and_no_secret_is_readable_by_others(services, data_dir):
    for process in (services.postgres.process, services.redis.process):
        assert [c for c in psutil.Process(process.pid).net_connections("inet") if c.status == "LISTEN"] == []
        command = " ".join(psutil.Process(process.pid).cmdline())
        assert "password" not in command.lower()
    for path in [data_dir, services.postgres.cluster.root, *data_dir.rglob("*")]:
        if not path.is_symlink():
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or path.parent != data_dir.parent, path
    assert stat.S_IMODE((data_dir / "postgres.json").stat().st_mode) == 0o600


def test_a_password_is_needed_even_on_the_socket(services):
    url = services.urls.database_url
    wrong = url.replace(url.split(":")[2].split("@")[0], "guess")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


def test_redis_answers_at_the_address_and_keeps_what_it_is_given(services):
    client = redis.Redis.from_url(services.urls.redis_url)
    client.set("key", "value")
    assert client.get("key") == b"value"
    assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
    client.close()


def test_data_survives_a_restart(data_dir):
    with EmbeddedServices(data_dir) as urls, psycopg.connect(urls.migrate_database_url) as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS kept (id int)")
    started = time.monotonic()
    with EmbeddedServices(data_dir) as again, psycopg.connect(again.migrate_database_url) as owner:
        assert time.monotonic() - started < 10
        assert again == urls
        assert owner.execute("SELECT to_regclass('kept')").fetchone() == ("kept",)


def test_running_services_are_found_by_others_and_only_while_they_run(data_dir):
    assert urls_if_running(data_dir) is None
    with EmbeddedServices(data_dir) as urls:
        assert urls_if_running(data_dir) == urls
        assert urls_if_running(data_dir, database=False).database_url == ""
    assert urls_if_running(data_dir) is None


def test_a_second_holder_is_told_who_has_the_folder(data_dir, services):
    with pytest.raises(DataFolderBusyError, match=f"in use by process {os.getpid()}"):
        EmbeddedServices(data_dir).start()


def test_only_what_is_wanted_is_started(tmp_path):
    services = EmbeddedServices(tmp_path / "data", database=False)
    urls = services.start()
    assert (urls.database_url, services.postgres) == ("", None)
    assert services.redis.answers()
    services.stop()
    assert not (tmp_path / "data" / "postgres.json").exists()


def killed_holder(data_dir: Path) -> tuple[int, int]:
    """Start the services in a process of their own, kill -9 that, and return the two servers' ids."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, data_dir], stdout=subprocess.PIPE, text=True)
    postgres, memory = map(int, holder.stdout.readline().split())
    assert alive(postgres)
    assert alive(memory)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    return postgres, memory


def test_services_of_a_killed_holder_end_and_the_next_start_works_at_once(data_dir):
    postgres, memory = killed_holder(data_dir)
    with EmbeddedServices(data_dir) as urls:
        assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
        assert not alive(postgres)
        assert not alive(memory)


def test_a_server_that_survived_its_holder_is_ended_cleanly_first(data_dir):
    services = EmbeddedServices(data_dir)
    services.start()
    orphan = services.postgres.process
    os.kill(services.redis.process.pid, signal.SIGKILL)
    services.redis.process.wait()
    services._lock.release()  # as if the holder had died without its children noticing

    with EmbeddedServices(data_dir) as urls:
        assert orphan.wait(5) == 0, "a fast shutdown, not a crash"
        assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)


def test_a_killed_database_server_can_be_started_again_at_once(data_dir, services):
    with psycopg.connect(services.urls.database_url):  # a session that may linger
        os.kill(services.postgres.process.pid, signal.SIGKILL)
        services.postgres.process.wait()
        services.postgres.start()
    with psycopg.connect(services.urls.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_stale_process_id_that_now_belongs_to_another_program_is_no_obstacle(data_dir):
    with EmbeddedServices(data_dir):
        pass
    services = EmbeddedServices(data_dir)
    services.hold()
    pid_file = services.postgres.cluster.data / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{services.postgres.cluster.data}\n1\n5432\n\n\n\n")
    try:
        urls = services.start()
        assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
    finally:
        services.stop()


def test_a_folder_whose_name_is_too_long_for_a_socket_works(tmp_path):
    data_dir = tmp_path / ("long-" * 20) / "data"
    assert len(str(data_dir)) > LONGEST_SOCKET_FOLDER
    try:
        with EmbeddedServices(data_dir, durable=False) as urls:
            assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
            client = redis.Redis.from_url(urls.redis_url)
            assert client.ping()
            client.close()
            sockets = socket_folder(data_dir)
            assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert not sockets.exists()
    finally:
        forget(data_dir)


def test_a_socket_folder_that_somebody_planted_is_refused(tmp_path):
    data_dir = tmp_path / ("long-" * 20) / "data"
    folder = socket_folder(data_dir)
    folder.chmod(0o777)
    try:
        with pytest.raises(EmbeddedError, match="not a private folder of this user"):
            socket_folder(data_dir)
    finally:
        folder.rmdir()


def test_a_folder_with_a_blank_a_comma_a_quote_and_an_umlaut_works(tmp_path):
    data_dir = tmp_path / "meine \"Daten\" für 50%, 'alle'"
    try:
        with EmbeddedServices(data_dir, durable=False) as urls:
            assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
            client = redis.Redis.from_url(urls.redis_url)
            assert client.ping()
            client.close()
    finally:
        forget(data_dir)


def test_a_file_in_place_of_the_data_folder_is_told_in_one_line(tmp_path):
    (tmp_path / "data").touch()
    with pytest.raises(EmbeddedError, match="a file is in its place"):
        EmbeddedServices(tmp_path / "data").start()


def test_a_lost_cluster_is_not_silently_replaced_by_an_empty_one(tmp_path):
    data_dir = tmp_path / "data"
    with EmbeddedServices(data_dir, durable=False):
        pass
    root = Path(read_json(data_dir / "postgres.json")["root"])
    shutil.rmtree(root / "cluster")
    try:
        with pytest.raises(EmbeddedError, match="which is gone; restore it"):
            EmbeddedServices(data_dir).start()
    finally:
        forget(data_dir)


def test_an_initialisation_that_was_broken_off_is_begun_anew(tmp_path):
    data_dir = tmp_path / "data"
    services = EmbeddedServices(data_dir, durable=False)
    services.hold()
    (services.postgres.cluster.root / "cluster.new").mkdir()
    (services.postgres.cluster.root / "cluster.new" / "half").touch()
    try:
        urls = services.start()
        assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
    finally:
        services.stop()
        forget(data_dir)


def test_a_set_up_that_was_broken_off_is_completed(tmp_path, monkeypatch):
    data_dir = tmp_path / "data"
    services = EmbeddedServices(data_dir, durable=False)
    services.hold()
    monkeypatch.setattr(services.postgres, "_create_roles_and_database", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        services.start()
    monkeypatch.undo()
    try:
        with EmbeddedServices(data_dir, durable=False) as urls:
            assert psycopg.connect(urls.database_url).execute("SELECT 1").fetchone() == (1,)
    finally:
        forget(data_dir)


@pytest.mark.skipif(os.geteuid() != 0, reason="what root must do")
def test_as_root_the_server_runs_under_an_account_without_privileges_and_no_folder_is_opened(
    services, data_dir
):
    process = psutil.Process(services.postgres.process.pid)
    assert process.username() in ("postgres", "nobody")
    assert 0 not in process.gids()
    # Closed to that account, and it stays so.
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert SUPERUSER not in services.urls.database_url
