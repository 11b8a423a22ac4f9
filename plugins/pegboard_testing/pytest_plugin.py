"""The pytest plugin with fixtures for tests of toolkits and plugins. The first fixture imports pegboard.

It works with every plugin for async tests, and without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pegboard_testing.in_memory_host import Kit
    from pegboard_testing.snapshots import Definitions
    from pegboard_testing.sync_client import PlainClient

pytest.register_assert_rewrite("pegboard_testing.contracts")  # a broken rule then shows its values


class Connect(Protocol):
    """Connects a client to a new host. Both end with the test."""

    def __call__(self, *kits: Kit, **options: Any) -> PlainClient:
        """Connect a client; the arguments are those of `pegboard_testing.connect`."""


class Snapshot(Protocol):
    """Compares definitions with a file beside the test."""

    def __call__(self, subject: Kit | PlainClient | Definitions, name: str | None = None) -> None:
        """Compare definitions with the snapshot.

        Args:
            subject: a toolkit or plugin that needs no settings, the client of `pegboard_connect`, or the result of
                `await client.definitions()`.
            name: distinguishes this snapshot from others of the same test.

        Raises:
            SnapshotDiffers: the definitions differ. `pytest --pegboard-update` writes the file.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots."""
    parser.getgroup("pegboard").addoption(
        "--pegboard-update", action="store_true", help="write the snapshots of definitions"
    )


@pytest.fixture
def pegboard_connect() -> Iterator[Connect]:
    """Return a function that connects clients in tests without `async`. The connections close after the test."""
    with ExitStack() as stack:

        def connecting(*kits: Kit, **options: Any) -> PlainClient:
            from pegboard_testing import connect

            return stack.enter_context(connect(*kits, **options))

        yield connecting


@pytest.fixture
def pegboard_snapshot(request: pytest.FixtureRequest) -> Snapshot:
    """Return a function that compares definitions with `snapshots/<module>.<test>.json` beside the test."""
    used: set[Path] = set()

    def snapshot(subject: Kit | PlainClient | Definitions, name: str | None = None) -> None:
        from pegboard_testing.snapshots import compare

        path = _path(request, name)
        if path in used:
            raise ValueError(f"this test takes two snapshots called {path.name}; pass `name` to one of them")
        used.add(path)
        compare(_definitions(subject), path, update=request.config.getoption("--pegboard-update"))

    return snapshot


def _path(request: pytest.FixtureRequest, name: str | None) -> Path:
    test = request.node.name if request.cls is None else f"{request.cls.__name__}.{request.node.name}"
    parts = [request.path.stem, test, *([name] if name else [])]
    return request.path.parent / "snapshots" / (re.sub(r"[^\w.-]+", "_", ".".join(parts)).strip("_") + ".json")


def _definitions(subject: Any) -> Definitions:
    from concurrent.futures import ThreadPoolExecutor

    from pegboard_testing import PlainClient, TestClient, connect

    if isinstance(subject, TestClient):
        raise TypeError("write pegboard_snapshot(await client.definitions())")
    if isinstance(subject, Mapping):
        return subject
    if isinstance(subject, PlainClient):
        return subject.definitions()

    def look() -> Definitions:
        with connect(subject) as client:
            return client.definitions()

    with ThreadPoolExecutor(1) as threads:  # the loop of the test may run in this thread
        return threads.submit(look).result()
