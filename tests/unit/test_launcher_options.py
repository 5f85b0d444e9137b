"""What bin/start finds wrong before it starts anything, and the environment that it gives to the hub."""

import os
import socket
import stat

import pytest
from cryptography.fernet import Fernet

from memory_hub.embedded import EmbeddedError, ServiceUrls
from memory_hub.launcher import manage, options
from memory_hub.launcher.demo import last_json
from memory_hub.launcher.django_step import clear_reason
from memory_hub.launcher.environment import (
    ConfigurationError,
    hub_environment,
    hub_keys,
    is_set,
    wanted_services,
)

NO_URLS = ServiceUrls("", "", "")


def checked(*arguments: str) -> None:
    options.check(options.parse(list(arguments)))


@pytest.fixture
def taken_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_is_named_with_a_way_out(taken_port, tmp_path):
    with pytest.raises(
        options.OptionsError, match=rf"{taken_port} of 127.0.0.1 is taken.*--port {taken_port + 1}"
    ):
        checked("--port", str(taken_port), "--data", str(tmp_path))


def test_a_port_that_was_just_left_is_free(taken_port, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    checked("--port", str(free), "--data", str(tmp_path))


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit) as ended:
        options.parse(["--port", port])
    assert ended.value.code == 2
    assert "--port" in capsys.readouterr().err


def test_an_address_of_another_machine_is_refused(tmp_path):
    with pytest.raises(options.OptionsError, match="not an address of this machine"):
        checked("--host", "192.0.2.1", "--data", str(tmp_path))


def test_a_data_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(options.OptionsError, match="is a file"):
        checked("--port", "1", "--data", str(tmp_path / "file" / "data"))


def test_the_data_folder_is_the_option_then_the_variable_then_the_clone(monkeypatch, tmp_path):
    monkeypatch.delenv("MEMORY_HUB_DATA", raising=False)
    assert options.parse([]).data == options.REPOSITORY / "data"
    monkeypatch.setenv("MEMORY_HUB_DATA", str(tmp_path))
    assert options.parse([]).data == tmp_path
    monkeypatch.chdir(tmp_path)
    assert options.parse(["--data", "mine"]).data == tmp_path / "mine"


@pytest.mark.parametrize(
    ("host", "expected"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("::", False)]
)
def test_loopback_is_told_from_the_rest(host, expected):
    assert options.is_loopback(host) is expected


def test_embedded_services_are_wanted_where_no_address_is_configured():
    assert wanted_services({}) == (True, True)
    assert wanted_services({"REDIS_URL": "redis://r"}) == (True, False)
    both = {"DATABASE_URL_FILE": "/run/secrets/d", "MIGRATE_DATABASE_URL": "postgresql://o@h/d"}
    assert wanted_services(both) == (False, True)


@pytest.mark.parametrize("alone", ["DATABASE_URL", "MIGRATE_DATABASE_URL"])
def test_one_database_address_without_the_other_is_refused(alone):
    other = ({"DATABASE_URL", "MIGRATE_DATABASE_URL"} - {alone}).pop()
    with pytest.raises(ConfigurationError, match=f"{alone} is set but {other} is not"):
        wanted_services({alone: "postgresql://u@h/d"})


def test_keys_are_made_once_and_private(tmp_path):
    keys = hub_keys(tmp_path / "data")
    assert hub_keys(tmp_path / "data") == keys
    assert len(keys["SECRET_KEY"]) >= 50
    Fernet(keys["ENCRYPTION_KEY"])
    assert stat.S_IMODE((tmp_path / "data" / "keys.json").stat().st_mode) == 0o600
    assert hub_keys(tmp_path / "other") != keys


def test_damaged_keys_are_not_replaced(tmp_path):
    (tmp_path / "keys.json").write_text('{"SECRET_KEY": "s"}')
    with pytest.raises(EmbeddedError, match="restore it"):
        hub_keys(tmp_path)


def test_what_the_environment_sets_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_KEY_FILE", "/run/secrets/key")
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("ENCRYPTION_KEY", "mine")
    monkeypatch.setenv("DATABASE_URL", "postgresql://theirs")
    environment = hub_environment(tmp_path, NO_URLS, role="owner")
    assert "SECRET_KEY" not in environment
    assert is_set("SECRET_KEY", environment)
    assert environment["ENCRYPTION_KEY"] == "mine"
    assert environment["DATABASE_URL"] == "postgresql://theirs"
    assert environment["HUB_DATABASE_ROLE"] == "owner"


def test_manage_takes_the_data_folder_only_before_the_command():
    assert manage.split_arguments(["--data", "d", "check"]) == ("d", ["check"])
    assert manage.split_arguments(["--data=d", "check"]) == ("d", ["check"])
    assert manage.split_arguments(["load", "--data", "x"]) == (None, ["load", "--data", "x"])
    assert manage.split_arguments(["--data"]) == (None, [])


def test_a_failed_system_check_is_told_in_one_line_with_its_hint():
    errors = (
        "SystemCheckError: System check identified some issues:\n\nERRORS:\n"
        "?: (hub.E003) SECRET_KEY is too short.\n\tHINT: Use 50 characters.\n\nSystem check identified 1 issue.\n"
    )
    assert clear_reason(errors) == "SECRET_KEY is too short. Use 50 characters. [hub.E003]"


def test_an_exception_is_told_by_its_message():
    errors = (
        "Traceback (most recent call last):\n  File x\n"
        "memory_hub.env.ConfigurationError: RUN_MAX_SECONDS is 'x'; use a whole number.\n"
    )
    assert clear_reason(errors) == "RUN_MAX_SECONDS is 'x'; use a whole number."


def test_the_accounts_are_found_behind_other_output():
    assert last_json('Loading\n{"accounts": [], "runs": ["1"]}\n') == {"accounts": [], "runs": ["1"]}
    with pytest.raises(ValueError, match="no JSON"):
        last_json("nothing\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_data_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(options.OptionsError, match="cannot be written"):
        checked("--port", "1", "--data", str(tmp_path / "closed" / "data"))
