"""The installed host and the official SDK's clients, each in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.environments import built_wheels, executable, make_environment
from tests.support.pool import make_fixture_site
from tests.support.sdk import Run, run_client

CLIENTS = [("1", "legacy"), ("2", "legacy"), ("2", "auto"), ("2", "2026-07-28")]
"""SDK and mode. The first line of the SDK knows sessions only; the second knows both eras."""

CONFIG = """
[host]
name = "clients"
version = "4.5.6"
title = "For clients"
instructions = "Ask away."
page_size = 5

[toolkits.files]
roots = ["mine"]
"""

Drive = Callable[..., Run]


@pytest.fixture(scope="session")
def pegboard() -> Path:
    """The command, as wheels install it together with the toolkit for files."""
    return executable(make_environment("clients-host", "pegboard", "toolkit-files", wheels=built_wheels()), "pegboard")


@pytest.fixture(scope="session")
def drive(pegboard: Path, tmp_path_factory: pytest.TempPathFactory) -> Drive:
    """Run a scenario with a client against a host with a person's own files and the toolkits of the wire tests."""
    site = make_fixture_site(tmp_path_factory.mktemp("site"))

    def run(client: tuple[str, str], scenario: str, **plan: object) -> Run:
        folder = tmp_path_factory.mktemp("run")
        (folder / "mine").mkdir()
        (folder / "mine" / "note.txt").write_text("written by a person\n", encoding="utf-8")
        (folder / "hostconfig.toml").write_text(CONFIG, encoding="utf-8")
        line, mode = client
        command = [str(pegboard), "stdio"]
        return run_client(line, scenario, command, folder, mode=mode, env={"PYTHONPATH": str(site)}, **plan)

    return run


@pytest.fixture(params=CLIENTS, ids="-".join, scope="module")
def client(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each client there is."""
    chosen: tuple[str, str] = request.param
    return chosen
