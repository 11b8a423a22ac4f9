"""Lifespans of toolkits that are imported while the host runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pegboard.errors import PluginError
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.origin import Origin
from pegboard.runtime.lifespans import Entered, LateLifespans


@pytest.mark.parametrize("stops", ["before", "meanwhile"])
async def test_no_lifespan_outlives_a_host_that_stops(stops: str) -> None:
    entered: Entered = []
    late = LateLifespans(entered)
    steps: list[str] = []

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        steps.append("entered")
        late.close()
        yield
        steps.append("left")

    context: Any = None
    plugin = LoadedPlugin(Origin("toolkit", "shop", "shop:kit"), None, lambda _: context)
    plugin.contributions["lifespan"] = [life()]
    if stops == "meanwhile":
        late.open()
    with pytest.raises(PluginError, match="toolkit 'shop' failed: the host has stopped"):
        await asyncio.to_thread(late.enter, plugin)
    assert (steps, entered) == (["entered", "left"] if stops == "meanwhile" else [], [])
