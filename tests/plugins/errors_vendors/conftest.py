"""Programs with vendors' clients in their own environments, and the server that they request."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any, Self

import pytest

from tests.plugins.errors_http.service import CANARY, Service
from tests.support.environments import built_wheels, executable, make_environment

LIBRARIES = (
    "google-api-python-client==2.202.0",
    "gql[aiohttp,httpx,requests]==4.4.0",
    "msgraph-sdk==1.65.0",
    "slack-sdk==3.47.0",
)
"""The current releases."""
SCRIPT = Path(__file__).parent / "scripts" / "tools.py"
WAIT = 60.0


class Program:
    """The script, run by the interpreter of an environment.

    Attributes:
        slugs: the adapters of its host, in order.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [executable(environment), SCRIPT],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )
        self.slugs: list[str] = []

    def __enter__(self) -> Self:
        self.slugs = self._line()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def fail(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the failure of a call, and check that it shows nothing of the response."""
        told = self._told(name, arguments)
        assert "message" in told, told
        shown = {key: value for key, value in told.items() if key != "cause_text"}
        if told["message"] != "It failed unexpectedly.":
            assert CANARY not in json.dumps(shown)
        return told

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Return the result of a call."""
        told = self._told(name, arguments)
        assert "outcome" in told, told
        return told["outcome"]

    def _told(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        told: dict[str, Any] = self._line()
        return told

    def _line(self) -> Any:
        assert self._process.stdout is not None
        timer = Timer(WAIT, self._process.kill)
        timer.start()
        try:
            return json.loads(self._process.stdout.readline())
        finally:
            timer.cancel()


@pytest.fixture(scope="session")
def environment() -> Path:
    """Return an environment with all libraries."""
    return make_environment("vendors", "pegboard", *LIBRARIES, wheels=built_wheels(), compiled=False)


@pytest.fixture(scope="session")
def program(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Start a program with all libraries. Calls import them one after the other."""
    with Program(environment, tmp_path_factory.mktemp("vendors")) as running:
        yield running


@pytest.fixture
def fresh(environment: Path, tmp_path: Path) -> Iterator[Program]:
    """Start a program that has imported no library yet."""
    with Program(environment, tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def program_without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Start a program without the libraries."""
    environment = make_environment("vendorless", "pegboard", wheels=built_wheels())
    with Program(environment, tmp_path_factory.mktemp("vendorless")) as running:
        yield running


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as running:
        yield running
