"""Processes of `pegboard stdio`, for what only a stream has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.pool import CONFIG
from tests.support.wire import Wire

New = Callable[..., Wire]


@pytest.fixture
def new(sites: dict[str, Path]) -> New:
    """Start a process: `async with new("[plugins.stdio]") as wire`."""
    return lambda more="", **options: Wire(config=CONFIG + more, site=sites["fixture"], **options)


@pytest_asyncio.fixture(loop_scope="session")
async def wire(new: New) -> AsyncIterator[Wire]:
    """A process of the test's own, in a session."""
    async with new() as wire:
        await wire.initialize()
        yield wire
