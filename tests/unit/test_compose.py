"""The production files fit the product: variables, queues, users, secrets, routes and paths are those of the code.

Nobody has started the containers in these tests; what can be compared is compared, and the two scripts of docker/ run.
"""

import ast
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.fernet import Fernet
from django.test import Client, override_settings
from django.urls import resolve
from psycopg.conninfo import conninfo_to_dict
from redis.connection import parse_url

from memory_hub.celery import app as celery_app

ROOT = Path(__file__).resolve().parent.parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("memory-hub:")}
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
# Read by uvicorn itself.
OTHERS_VARIABLES = {"FORWARDED_ALLOW_IPS", "WEB_CONCURRENCY"}
# The services in which agent code runs.
SANDBOXED = {"worker-runs", "worker-memory"}


def read_by_settings() -> dict[str, str]:
    """Variable -> which reader of env.py reads it in settings.py."""
    tree = ast.parse((ROOT / "memory_hub" / "settings.py").read_text(encoding="utf-8"))
    return {
        str(node.args[0].value): node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id.startswith("env_")
        and isinstance(node.args[0], ast.Constant)
    }


def required_settings() -> set[str]:
    """Variables without a default: settings.py does not load without them."""
    tree = ast.parse((ROOT / "memory_hub" / "settings.py").read_text(encoding="utf-8"))
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("env_secret", "env_str")
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
    }


def option(command: list[str], name: str) -> str:
    """The value of `--name=value` in a command."""
    return next(part.partition("=")[2] for part in command if part.startswith(f"--{name}="))


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_service_is_one_that_the_settings_read(name: str) -> None:
    readers = read_by_settings()
    for variable in OURS[name]["environment"]:
        if variable in OTHERS_VARIABLES:
            continue
        setting = variable.removesuffix("_FILE")
        assert setting in readers, f"{name} sets {variable}, which nothing reads"
        if variable.endswith("_FILE"):
            assert readers[setting] == "env_secret", f"{setting} cannot come from a file"


@pytest.mark.parametrize("name", OURS)
def test_every_service_has_what_the_settings_cannot_do_without(name: str) -> None:
    given = {variable.removesuffix("_FILE") for variable in OURS[name]["environment"]}
    assert required_settings() <= given


@pytest.mark.parametrize("name", OURS)
def test_secrets_come_from_files_and_only_those_that_a_service_needs(name: str) -> None:
    service = OURS[name]
    named = set()
    for variable, value in service["environment"].items():
        if read_by_settings().get(variable) == "env_secret":
            pytest.fail(f"{name} has the secret {variable} in its environment")
        if variable.endswith("_FILE"):
            assert value.startswith("/run/secrets/")
            named.add(value.removeprefix("/run/secrets/"))
    assert named == set(service["secrets"])
    assert named <= set(COMPOSE["secrets"])


def test_only_housekeeping_and_migration_know_the_owner_of_the_tables() -> None:
    owners = {name for name, service in OURS.items() if "migrate_database_url" in service["secrets"]}
    assert owners == {"migrate", "worker-housekeeping"}
    for name, service in OURS.items():
        assert service["environment"]["HUB_DATABASE_ROLE"] == ("owner" if name in owners else "app")


def test_no_service_is_told_that_it_is_embedded() -> None:
    for service in OURS.values():
        assert service["environment"]["MEMORY_HUB_EMBEDDED"] == "false"


def test_every_queue_has_exactly_one_kind_of_worker() -> None:
    used = {route["queue"] for route in celery_app.conf.task_routes.values()}
    used.add(celery_app.conf.task_default_queue)
    served = [
        option(service["command"], "queues") for service in OURS.values() if "worker" in service["command"]
    ]
    assert sorted(served) == sorted(used)


def test_every_celery_command_names_the_application() -> None:
    for service in OURS.values():
        if service["command"][0] == "celery":
            module, _, attribute = option(service["command"], "app").partition(":")
            assert module == celery_app.__module__ or (module, attribute) == ("memory_hub.celery", "app")


def test_the_beat_runs_once_and_writes_where_it_may() -> None:
    assert [name for name, service in OURS.items() if "beat" in service["command"]] == ["beat"]
    schedule = option(OURS["beat"]["command"], "schedule")
    assert schedule.startswith("/tmp/")
    assert "/tmp:" in OURS["beat"]["tmpfs"][0]
    port = parse_url("redis://redis:6379/0")["port"]
    assert f"':{port:04X} 01 '" in OURS["beat"]["healthcheck"]["test"][1]


def test_the_worker_that_is_asked_for_health_is_the_one_that_runs() -> None:
    for name, service in OURS.items():
        if "worker" in service["command"]:
            node = option(service["command"], "hostname").partition("@")[0]
            assert f'"{node}@$$(hostname)"' in service["healthcheck"]["test"][1], name


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_the_health_checks_ask_for_routes_that_exist(path: str) -> None:
    resolve(path)
    asked = [
        SERVICES["web"]["healthcheck"]["test"][-1],
        re.findall(r'healthcheck\.py", "([^"]+)"', DOCKERFILE)[0],
    ]
    assert sorted(asked) == ["/livez", "/readyz"]


@override_settings(
    ALLOWED_HOSTS=["hub.example.org", "127.0.0.1"],
    SECURE_SSL_REDIRECT=True,
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
)
def test_a_health_check_is_answered_where_everybody_else_is_sent_to_https() -> None:
    plain = Client().get("/livez", headers={"host": "127.0.0.1:8000"})
    assert plain.status_code == 301
    told = Client().get("/livez", headers={"host": "127.0.0.1:8000", "x-forwarded-proto": "https"})
    assert told.status_code == 200
    assert '"X-Forwarded-Proto": "https"' in (ROOT / "docker" / "healthcheck.py").read_text()
    assert OURS["web"]["environment"]["ALLOWED_HOSTS"].endswith(",127.0.0.1")


def test_every_service_waits_for_the_tables() -> None:
    for name, service in OURS.items():
        if name != "migrate":
            assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully", name
    assert OURS["migrate"]["command"][-1].endswith("manage.py migrate --noinput")


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_runs_as_root_or_may_write_its_image(name: str) -> None:
    service = SERVICES[name]
    assert service["user"].partition(":")[0] not in ("", "0", "root")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert "/var/run/docker.sock" not in str(service.get("volumes", ""))


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_that_stays_up_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check.get("disable") is True if name == "migrate" else check["test"]


def test_agent_code_has_a_user_of_its_own_in_each_service() -> None:
    """The sandbox's limit on processes counts all processes of a user on the machine, other containers' too."""
    users = {name: service["user"] for name, service in OURS.items()}
    for name in SANDBOXED:
        assert [other for other, user in users.items() if user == users[name]] == [name]


def test_the_users_are_those_of_the_image_and_share_its_group() -> None:
    group = re.findall(r"groupadd --gid (\d+) hub", DOCKERFILE)[0]
    made = set(re.findall(r"useradd --uid (\d+) --gid hub", DOCKERFILE))
    for service in OURS.values():
        user, _, its_group = service["user"].partition(":")
        assert user in made
        assert its_group == group
    assert re.search(r"^USER hub$", DOCKERFILE, re.MULTILINE)
    assert "umask 0007" in (ROOT / "docker" / "entrypoint.sh").read_text()


def test_files_lie_in_a_volume_wherever_they_are_used() -> None:
    for name, service in OURS.items():
        assert service["environment"]["MEMORY_HUB_DATA"] == "/data"
        if name not in ("beat", "migrate"):
            assert "files:/data" in service["volumes"], name
    assert "/data/files /data/files/runs /data/files/check_inputs" in DOCKERFILE


def test_database_and_redis_are_reachable_from_inside_only() -> None:
    assert COMPOSE["networks"]["inside"]["internal"] is True
    for name in ("postgres", "redis"):
        assert SERVICES[name]["networks"] == ["inside"]
        assert "ports" not in SERVICES[name]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert SERVICES["web"]["ports"][0].startswith("${HUB_LISTEN:-127.0.0.1:")


def test_the_image_installs_the_lock_by_its_hashes_on_a_python_the_product_supports() -> None:
    assert "--require-hashes -r /build/requirements.lock" in DOCKERFILE
    bases = set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE))
    assert bases == {"python:3.12-slim-bookworm"}
    assert "collectstatic --noinput" in DOCKERFILE
    # Agent code runs on this interpreter from a file system that is read-only.
    assert (
        "compileall -q --invalidation-mode unchecked-hash -x 'test|lib2to3' /usr/local/lib/python3.12"
        in DOCKERFILE
    )


def test_what_the_image_copies_is_there_and_nothing_else_reaches_it() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    allowed = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    for name in allowed:
        assert (ROOT / name).exists(), name
    for needed in (
        "requirements.lock",
        "manage.py",
        "memory_hub",
        "agents_runner",
        "client",
        "static",
        "templates",
    ):
        assert needed in allowed
    for script in set(re.findall(r"docker/[\w.-]+", DOCKERFILE)):
        assert script in allowed
    assert not [name for name in allowed if name.startswith(("data", "docker/secrets", ".env"))]


def test_make_secrets_makes_every_secret_once_and_they_fit_together(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    make = ["sh", ROOT / "docker" / "make-secrets", folder]
    subprocess.run(make, check=True, capture_output=True)
    made = {file.name: file.read_text() for file in folder.iterdir()}
    assert set(made) == set(COMPOSE["secrets"])
    for name, secret in COMPOSE["secrets"].items():
        assert secret["file"] == f"docker/secrets/{name}"
    Fernet(made["encryption_key"])
    assert len(made["secret_key"]) >= 50
    for role, url in (("hub_app", "database_url"), ("hub_owner", "migrate_database_url")):
        parts = conninfo_to_dict(made[url])
        assert (parts["user"], parts["password"]) == (role, made[f"{role}_password"])
        assert (parts["host"], parts["dbname"]) == (
            "postgres",
            SERVICES["postgres"]["environment"]["POSTGRES_DB"],
        )
    redis = parse_url(made["redis_url"])
    assert (redis["host"], redis["password"]) == ("redis", made["redis_password"])
    assert len({value for value in made.values() if value != "none"}) == len(made) - 1
    # For services under other users, but on this machine for the owner of the folder alone.
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o644 for file in folder.iterdir())
    again = subprocess.run(make, check=True, capture_output=True)
    assert again.stdout == b""
    assert {file.name: file.read_text() for file in folder.iterdir()} == made


def test_the_secrets_are_never_committed() -> None:
    asked = ["git", "check-ignore", "--quiet", "docker/secrets/secret_key"]
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    assert subprocess.run(asked, cwd=ROOT, check=False).returncode == 0


def test_the_database_gets_the_two_roles_and_the_extensions(tmp_path: Path) -> None:
    """The script of the container, with its secrets elsewhere and a psql that says what it was asked."""
    secrets = tmp_path / "secrets"
    subprocess.run(["sh", ROOT / "docker" / "make-secrets", secrets], check=True, capture_output=True)
    script = (ROOT / "docker" / "postgres-init.sh").read_text().replace("/run/secrets", str(secrets))
    psql = tmp_path / "psql"
    psql.write_text('#!/bin/sh\necho "$@"\ncat\n')
    psql.chmod(0o755)
    variables = SERVICES["postgres"]["environment"]
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}"} | {
        name: variables[name] for name in ("POSTGRES_USER", "POSTGRES_DB")
    }
    done = subprocess.run(["sh", "-c", script], env=environment, check=True, capture_output=True, text=True)
    arguments, _, statements = done.stdout.partition("\n")
    assert "ON_ERROR_STOP=1" in arguments
    for role in ("hub_owner", "hub_app"):
        password = (secrets / f"{role}_password").read_text()
        assert f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOBYPASSRLS" in statements
        assert f"'{password}'" in statements
        assert password not in arguments
    for extension in ("vector", "pg_trgm"):
        assert f"CREATE EXTENSION IF NOT EXISTS {extension};" in statements
    assert 'ALTER DATABASE :"DBNAME" OWNER TO hub_owner;' in statements
    assert set(SERVICES["postgres"]["secrets"]) == {
        "postgres_superuser_password",
        "hub_owner_password",
        "hub_app_password",
    }
