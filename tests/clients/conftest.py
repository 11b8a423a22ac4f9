"""The installed host and the official SDK's clients, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.environments import built_wheels, executable, make_environment
from tests.support.pool import EVERYTHING, make_asks_site, make_fixture_site, make_whole_site
from tests.support.sdk import Run, Server, run_client, run_http_client

CLIENTS = [("1", "legacy"), ("2", "legacy"), ("2", "auto"), ("2", "2026-07-28")]
"""SDK and mode. The first line of the SDK knows sessions only; the second knows both eras."""

CONFIG = """
[host]
name = "clients"
transports = ["http"]
version = "4.5.6"
title = "For clients"
instructions = "Ask away."
page_size = 5

[toolkits.files]
roots = ["mine"]
"""

NOTHING: Mapping[str, str] = MappingProxyType({})

TRANSPORTS = ["stdio", "http"]

Client = tuple[str, str]
Drive = Callable[..., Run]


class Place:
    """Starts the installed host with a person's own files and the toolkits of the wire tests."""

    def __init__(self, pegboard: Path, site: Path, factory: pytest.TempPathFactory, config: str = CONFIG) -> None:
        self.pegboard = pegboard
        self.env = {"PYTHONPATH": str(site)}
        self.factory = factory
        self.config = config

    def folder(self) -> Path:
        """Where a host finds a person's files and its configuration."""
        folder = self.factory.mktemp("run")
        (folder / "mine").mkdir()
        (folder / "mine" / "note.txt").write_text("written by a person\n", encoding="utf-8")
        (folder / "hostconfig.toml").write_text(self.config, encoding="utf-8")
        return folder

    def stdio(self, client: Client, scenario: str, **plan: Any) -> Run:
        """Run a scenario with a client that starts the host."""
        line, mode = client
        command = [str(self.pegboard), "stdio", "--config", "hostconfig.toml"]
        return run_client(line, scenario, command, self.folder(), mode=mode, env=self.env, **plan)

    @contextmanager
    def serving(self, port: int = 0, more: str = "", env: Mapping[str, str] = NOTHING) -> Iterator[Server]:
        """A host that serves over HTTP, and has to end properly when it is asked to, unless it was killed."""
        with Server(self.pegboard, self.folder(), self.config + more, {**self.env, **env}, port) as server:
            yield server
            assert server.killed or server.end() == 0, server.stderr

    def connect(self, client: Client, scenario: str, server: Server, folder: Path | None = None, **plan: Any) -> Run:
        """Run a scenario with a client of a host that serves already; in the folder of another one to go on with it."""
        line, mode = client
        folder = folder or self.factory.mktemp("client")
        return run_http_client(line, scenario, server.url, folder, mode=mode, **plan)

    def http(self, client: Client, scenario: str, **plan: Any) -> Run:
        """Run a scenario with a client against a host that serves it alone."""
        with self.serving() as server:
            return self.connect(client, scenario, server, **plan)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The command, as wheels install it together with the toolkit for files, and what it serves."""
    wheels = make_environment("clients-host", "pegboard", "toolkit-files", wheels=built_wheels())
    return Place(executable(wheels, "pegboard"), make_fixture_site(tmp_path_factory.mktemp("site")), tmp_path_factory)


@pytest.fixture(scope="session")
def asking_place(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The command, and the toolkit that asks."""
    return Place(place.pegboard, make_asks_site(tmp_path_factory.mktemp("asks")), tmp_path_factory)


@pytest.fixture(scope="session")
def whole_place(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The command, content of every kind, and what changes and talks."""
    site = make_whole_site(tmp_path_factory.mktemp("whole"))
    return Place(place.pegboard, site, tmp_path_factory, CONFIG.replace("[host]\n", f"[host]\n{EVERYTHING}"))


@pytest.fixture(params=TRANSPORTS, scope="module")
def transport(request: pytest.FixtureRequest) -> str:
    """Each transport that a client can use."""
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def drive(place: Place, transport: str) -> Drive:
    """Run a scenario with a client over the transport."""
    return place.http if transport == "http" else place.stdio


@pytest.fixture(params=CLIENTS, ids="-".join, scope="module")
def client(request: pytest.FixtureRequest) -> Client:
    """Each client there is."""
    chosen: Client = request.param
    return chosen
