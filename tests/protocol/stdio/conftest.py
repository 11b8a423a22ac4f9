"""Processes of `pegboard stdio`, for what only a stream has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from tests.support import without_posix
from tests.support.pool import CONFIG
from tests.support.wire import PEGBOARD, Wire

New = Callable[..., Wire]


@pytest.fixture(params=[(PEGBOARD, "stdio"), (*without_posix.COMMAND, "stdio")], ids=["posix", "threads"])
def command(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The command, on this system and as on Windows."""
    return cast(tuple[str, ...], request.param)


@pytest.fixture
def new(sites: dict[str, Path], command: tuple[str, ...]) -> New:
    """Start a process: `async with new("[plugins.stdio]") as wire`."""
    return lambda more="", **options: Wire(command, config=CONFIG + more, site=sites["fixture"], **options)


@pytest_asyncio.fixture(loop_scope="session")
async def wire(new: New) -> AsyncIterator[Wire]:
    """A process of the test's own, in a session."""
    async with new() as wire:
        await wire.initialize()
        yield wire
