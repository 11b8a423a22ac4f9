"""Programs with vendors' clients in their own environment, and the server that they request."""

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
from tests.support.peer import WAIT

LIBRARIES = (
    "google-api-python-client==2.202.0",
    "gql[aiohttp,httpx,requests]==4.4.0",
    "msgraph-sdk==1.65.0",
    "slack-sdk==3.47.0",
)
"""The current releases."""
SCRIPT = Path(__file__).parent / "scripts" / "tools.py"


class Program:
    """The script, run by the interpreter of an environment.

    Attributes:
        slugs: the adapters of its host, in order.
        environment: the environment.
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
        self.environment = environment

    def __enter__(self) -> Self:
        self.slugs = self._line()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def fail(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the failure of a call, and check that it shows nothing of the response."""
        reply = self.call(name, **arguments)
        assert "message" in reply, reply
        masked = reply["message"] == "It failed unexpectedly."  # its developer message is for the operator alone
        assert CANARY not in json.dumps({**reply, "developer_message": None} if masked else reply)
        return reply

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the reply to a call."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        reply: dict[str, Any] = self._line()
        return reply

    def _line(self) -> Any:
        assert self._process.stdout is not None
        timer = Timer(WAIT, self._process.kill)
        timer.start()
        try:
            return json.loads(self._process.stdout.readline())
        finally:
            timer.cancel()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Start a program in an environment with all libraries. Calls import them one after the other."""
    environment = make_environment("vendors", "pegboard", *LIBRARIES, wheels=built_wheels(), compiled=False)
    with Program(environment, tmp_path_factory.mktemp("vendors")) as running:
        yield running


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service() as running:
        yield running
