"""The example of the page on several processes: a plugin that repeats a change in each of them."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock, call, patch

from pegboard import Host
from tests.docs.pages import Page

PAGE = Page("docs/scale.md")


async def test_a_plugin_repeats_the_changes_of_other_processes() -> None:
    rooms: Any = PAGE.module("rooms.py").RoomsPlugin
    async with Host({"host": {"autoload": False}}, plugins={"rooms": rooms}) as host:
        (loaded,) = (plugin for plugin in host.report.plugins if plugin.origin.name == "rooms")
        bus = loaded.context.bus
        with patch.object(rooms, "add") as add, patch.object(bus, "send", AsyncMock()) as send:
            bus.deliver("rooms/opened", b"attic", 7)
            await loaded.instance.open(loaded.context, "cellar")
    assert add.mock_calls == [call("attic"), call("cellar")]
    send.assert_awaited_once_with("rooms/opened", b"cellar")
