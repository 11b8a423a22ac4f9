"""The installed host and the official SDK's clients, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import asking_plugin, asks_kit, content_kit, growing_plugin
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.pool import FIXTURE, make_site
from tests.support.sdk import Run, run_client, run_http_client
from tests.support.serving import Server, serving
from tests.support.wire import client_environment

Client = tuple[str, str]
Drive = Callable[..., Run]

CLIENTS: list[Client] = [("1", "legacy"), ("2", "legacy"), ("2", "auto"), ("2", "2026-07-28")]
"""SDK and mode. The first line of the SDK knows sessions only; the second knows both eras."""

PAIRS = [(CLIENTS[0], "stdio"), (CLIENTS[0], "http"), (CLIENTS[1], "http"), (CLIENTS[2], "stdio"), (CLIENTS[3], "http")]
"""Each client, and each transport in each line."""

CONFIG = """
[host]
plugins = ["asking", "growing"]
name = "clients"
transports = ["http"]
version = "4.5.6"
title = "For clients"
instructions = "Ask away."
page_size = 5

[toolkits.files]
roots = ["mine"]
"""


def is_stateless(client: Client) -> bool:
    return client[1] != "legacy"


class Place:
    """Starts the installed host with files, every kind of content, and the toolkits and plugins of the wire tests."""

    def __init__(self, pegboard: Path, site: Path, factory: pytest.TempPathFactory) -> None:
        self.pegboard = pegboard
        self.env = {"PYTHONPATH": str(site)}
        self.factory = factory

    def folder(self, more: str = "") -> Path:
        """Return a new working directory of a host, with a file and a configuration."""
        folder = self.factory.mktemp("run")
        (folder / "mine").mkdir()
        (folder / "mine" / "note.txt").write_text("written by a person\n", encoding="utf-8")
        (folder / "hostconfig.toml").write_text(CONFIG + more, encoding="utf-8")
        return folder

    def stdio(self, client: Client, scenario: str, **plan: Any) -> Run:
        """Run a scenario with a client that starts the host."""
        line, mode = client
        command = [str(self.pegboard), "stdio", "--config", "hostconfig.toml"]
        return run_client(line, scenario, command, self.folder(), mode=mode, env=self.env, **plan)

    @contextmanager
    def serving(self, more: str = "") -> Iterator[Server]:
        """Start a host that serves over HTTP."""
        folder = self.folder(f"{more}\n[plugins.http]\nport = 0\n")
        command: list[str | Path] = [self.pegboard, "serve", "--config", "hostconfig.toml"]
        with serving(command, folder, client_environment(folder, self.env)) as server:
            yield server

    def connect(self, client: Client, scenario: str, server: Server, **plan: Any) -> Run:
        """Run a scenario with a client of a running host."""
        line, mode = client
        return run_http_client(line, scenario, server.url, self.factory.mktemp("client"), mode=mode, **plan)

    def http(self, client: Client, scenario: str, **plan: Any) -> Run:
        """Run a scenario with a client against a host that serves it alone."""
        with self.serving() as server:
            return self.connect(client, scenario, server, **plan)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The command as wheels install it, and everything that it serves."""
    wheels = make_environment("clients-host", "pegboard", "toolkit-files", wheels=built_wheels())
    kits = {**FIXTURE, "asks": asks_kit, "content": content_kit}
    site = make_site(tmp_path_factory.mktemp("site"), kits, asking_plugin, growing_plugin)
    return Place(executable(wheels, "pegboard"), site, tmp_path_factory)


@pytest.fixture(params=PAIRS, ids=str, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Client, str]:
    """A client and its transport."""
    chosen: tuple[Client, str] = request.param
    return chosen


@pytest.fixture(scope="module")
def transport(pair: tuple[Client, str]) -> str:
    return pair[1]


@pytest.fixture(scope="module")
def drive(place: Place, transport: str) -> Drive:
    """Runs a scenario with a client over the transport."""
    return place.http if transport == "http" else place.stdio


@pytest.fixture(scope="module")
def client(pair: tuple[Client, str]) -> Client:
    return pair[0]
