"""`bin/start`: the whole hub on one machine, from the database to the sample runs, until Ctrl-C."""

import argparse
import http.client
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NoReturn

import psutil

from memory_hub.embedded import EmbeddedError, EmbeddedServices, ServiceUrls
from memory_hub.env import ConfigurationError, env_int

from . import migrations
from . import options as start_options
from .children import beat, end_leftovers, service_children, web_servers, worker
from .configured import check_services
from .demo import Demo
from .django_step import Breathe, DjangoCommand, StepError
from .environment import hub_environment, wanted_services
from .progress import complain, say, step
from .signals import SignalWatch
from .supervisor import HopelessChildError, Supervisor

WEB_READY_SECONDS = 120.0
# More than this many web server processes are of no use to a hub on one machine unless somebody asks for them.
MOST_WEB_PROCESSES = 4
# Listening on these means every address of the machine; each with the one to ask ourselves at.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


class StopRequestedError(Exception):
    """The user asked us to stop before everything was up."""


def main(arguments: list[str]) -> int:
    """Start everything, keep it running, stop everything; return the exit code."""
    options = start_options.parse(arguments)
    _let_sigterm_interrupt()
    services = None
    try:
        start_options.check(options)
        database, redis = wanted_services()
        check_services(database=not database, redis_too=not redis)
        services = EmbeddedServices(options.data, database=database, redis=redis)
        services.hold()
        end_leftovers(options.data)
        if database or redis:
            names = " and ".join(
                name for name, wanted in (("PostgreSQL", database), ("Redis", redis)) if wanted
            )
            with step(names):
                urls = services.start()
        else:
            urls = services.start()
        return _serve(options, services, urls)
    except (start_options.OptionsError, ConfigurationError, EmbeddedError, StepError) as error:
        complain(f"bin/start: {error}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped.")
        return 130
    finally:
        if services is not None:
            services.stop()


def _serve(options: argparse.Namespace, services: EmbeddedServices, urls: ServiceUrls) -> int:
    """Migrate, start our processes and watch them; the services are up, and are ours to stop."""
    supervisor = Supervisor()
    with SignalWatch() as watch:

        def breathe(seconds: float) -> None:
            """Wait a little with everything under supervision; StopRequestedError where the user wants that."""
            watch.wait(min(seconds, supervisor.next_wait()))
            supervisor.tick()
            if watch.stop_requests:
                raise StopRequestedError

        try:
            for child in service_children(services):
                supervisor.add(child)
            _bring_up(options, urls, supervisor, breathe)
            demo = Demo(options.data, _environment(options, urls, "owner")) if options.demo else None
            if demo is not None:
                demo.seed(breathe)
            say("Ctrl-C stops everything.")
            while True:
                breathe(0.2 if demo is not None and demo.reporting else 5.0)
                if demo is not None:
                    demo.report()
        except StopRequestedError:
            return 0
        except HopelessChildError as error:
            complain(f"bin/start: {error}")
            return 1
        finally:
            say("\nStopping ...")
            started, requests = time.monotonic(), watch.stop_requests
            supervisor.stop_all(watch.wait, lambda: watch.stop_requests > max(requests, 1))
            end_leftovers(options.data)
            services.stop()
            say(f"Stopped after {time.monotonic() - started:.1f} s.")


def _bring_up(
    options: argparse.Namespace, urls: ServiceUrls, supervisor: Supervisor, breathe: Breathe
) -> None:
    """Migrate, then start web, workers and beat, and return when the web server answers."""
    data_dir: Path = options.data
    owner, app = _environment(options, urls, "owner"), _environment(options, urls, "app")
    # Checks the configuration first. Nothing to migrate is the rule: then the web server need not wait for it.
    migrate = DjangoCommand("migrate", ["migrate", "--noinput", "--verbosity", "0"], data_dir, owner)
    try:
        own_database = bool(urls.database_url)
        if own_database and migrations.seen(data_dir):
            with step("Configuration, database tables, web server"):
                _start_web(options, app, supervisor)
                migrate.finish(breathe)
                _wait_for_web(options, breathe)
        else:
            with step("Configuration and database tables"):
                migrate.finish(breathe)
            with step("Web server"):
                _start_web(options, app, supervisor)
                _wait_for_web(options, breathe)
        if own_database:
            migrations.remember(data_dir)
    finally:
        migrate.stop()
    with step("Workers"):
        supervisor.add(worker(data_dir, app, "runs", 2))
        supervisor.add(worker(data_dir, app, "memory", 1))
        supervisor.add(worker(data_dir, owner, "housekeeping", 1))
        supervisor.add(beat(data_dir, app))
    say(f"\nMemory Hub is at {app['SITE_URL']}/")
    if not start_options.is_loopback(options.host):
        say(
            "It listens beyond this machine, without encryption: put a proxy with HTTPS before it, or trust the network."
        )


def _start_web(options: argparse.Namespace, app: dict[str, str], supervisor: Supervisor) -> None:
    """Start the web server's processes on one socket, which stays open here: a call waits while they start again."""
    processors = len(os.sched_getaffinity(0))
    count = env_int("WEB_CONCURRENCY", min(processors, MOST_WEB_PROCESSES), minimum=1)
    for child in web_servers(options.data, app, start_options.listen(options), count):
        supervisor.add(child)


def _environment(options: argparse.Namespace, urls: ServiceUrls, role: str) -> dict[str, str]:
    """Return the environment of our processes; the site's address follows from the options unless it is set."""
    environment = hub_environment(options.data, urls, role=role)
    if role == "app":
        # Who serves requests and runs agents need not know the owner's password.
        for name in ("MIGRATE_DATABASE_URL", "MIGRATE_DATABASE_URL_FILE"):
            environment.pop(name, None)
    host = options.host
    everywhere = host in EVERYWHERE
    public = socket.gethostname() if everywhere else host
    environment.setdefault("SITE_URL", f"http://{f'[{public}]' if ':' in public else public}:{options.port}")
    if not start_options.is_loopback(host):
        names = {"127.0.0.1", "localhost", "[::1]", public, *(_own_addresses() if everywhere else ())}
        environment.setdefault("ALLOWED_HOSTS", ",".join(sorted(names)))
    return environment


def _own_addresses() -> set[str]:
    """Return every address and name under which a browser may ask for a server that listens everywhere."""
    addresses = {socket.getfqdn()}
    for interface in psutil.net_if_addrs().values():
        for address in interface:
            if address.family == socket.AF_INET:
                addresses.add(address.address)
            elif address.family == socket.AF_INET6:
                addresses.add(f"[{address.address.partition('%')[0]}]")
    return addresses


def _wait_for_web(options: argparse.Namespace, breathe: Breathe) -> None:
    """Return when /livez answers 200; StepError where it never does."""
    host = EVERYWHERE.get(options.host, options.host)
    deadline = time.monotonic() + WEB_READY_SECONDS
    while time.monotonic() < deadline:
        breathe(0.1)
        connection = http.client.HTTPConnection(host, options.port, timeout=5)
        try:
            connection.request("GET", "/livez")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()
    raise StepError(f"the web server does not answer; its log is {options.data / 'logs' / 'web-1.log'}.")


def _let_sigterm_interrupt() -> None:
    """Until the children are watched, let SIGTERM and SIGHUP do what Ctrl-C does."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)  # a shell that starts us in the background ignores it
    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(sys.argv[1:]))
