"""The stores of a host: opened once, and closed with the host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest

from pegboard import Host, PluginConfig
from pegboard.plugin import ConfigError, Plugin, PluginError, Store, StoreName, hookimpl
from tests.host.hosting import make_host, until


class Box:
    """A contract."""

    def look(self) -> None:
        """Look into it."""


class Settings(PluginConfig):
    box: Annotated[str | None, StoreName(Box)] = "offering"


class Using(Plugin):
    Config = Settings


class Offering(Plugin):
    """A store, and a lifespan that records its end."""

    name: str | None = None

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.story: list[str] = []

    @hookimpl
    def register_stores(self) -> list[Store]:
        return [Store(Box, self.opened, self.name)]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Box]:
        self.story.append("opening")
        await self.opening()
        yield Box()
        self.story.append("closing")
        await self.closing()

    async def opening(self) -> None:
        """Neither wait nor fail."""

    async def closing(self) -> None:
        """Neither wait nor fail."""

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        yield
        self.story.append("left")


def host_of(kind: type[Offering]) -> Host:
    return make_host(plugins={"using": Using, "offering": kind})


def story_of(host: Host) -> list[str]:
    plugin = next(one.instance for one in host.report.plugins if one.origin.name == "offering")
    assert isinstance(plugin, Offering)
    return plugin.story


async def test_a_store_is_opened_once_and_closed_before_the_lifespans_end() -> None:
    async with host_of(Offering) as host:
        boxes = await asyncio.gather(*(host.store(Box, "offering") for _ in range(3)))
        await host.open_stores()
        assert len({id(box) for box in boxes}) == 1
        with pytest.raises(PluginError, match="no setting selects a Box named 'unused'"):
            await host.store(Box, "unused")
        story = story_of(host)
    assert story == ["opening", "closing", "left"]


class NeverCloses(Offering):
    async def closing(self) -> None:
        await asyncio.Event().wait()


class NeverOpens(Offering):
    async def opening(self) -> None:
        await asyncio.Event().wait()


async def test_a_store_that_does_not_close_lets_lifespans_end() -> None:
    host = host_of(NeverCloses)
    await host.start()
    await host.store(Box, "offering")
    story, stopping = story_of(host), asyncio.create_task(host.stop())
    await until(lambda: "closing" in story)
    stopping.cancel()
    await asyncio.wait([stopping])
    assert story == ["opening", "closing", "left"]


async def test_a_store_that_does_not_open_lets_lifespans_end() -> None:
    host = host_of(NeverOpens)
    await host.start()
    opening = asyncio.create_task(host.store(Box, "offering"))
    story = story_of(host)
    await until(lambda: "opening" in story)
    await host.stop()
    assert story == ["opening", "left"]
    with pytest.raises(PluginError, match="cannot be opened"):
        await opening


class FailsOnce(Offering):
    async def opening(self) -> None:
        if self.story.count("opening") < 2:
            raise OSError("no connection")


async def test_a_store_that_fails_once_can_be_opened_again() -> None:
    async with host_of(FailsOnce) as host:
        with pytest.raises(PluginError, match="Box 'offering' of plugin 'offering' cannot be opened: OSError"):
            await host.open_stores()
        assert isinstance(await host.store(Box, "offering"), Box)


class Again(Offering):
    name = "offering"


@pytest.mark.parametrize(
    ("plugins", "box", "hint"),
    [
        ({}, "ofering", False),
        ({"offering": Offering, "other": Offering}, "ofering", True),
        ({"offering": Offering, "again": Again}, "offering", False),
    ],
)
async def test_a_setting_that_selects_no_store_stops_the_start(plugins: Any, box: str, hint: bool) -> None:
    with pytest.raises(ConfigError) as refused:
        await make_host(plugins={"using": Using, **plugins}, config={"plugins": {"using": {"box": box}}}).start()
    assert f"no running plugin offers a Box named '{box}'" in str(refused.value)
    assert ('did you mean "offering"?' in str(refused.value)) == hint
