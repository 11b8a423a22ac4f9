"""The stores of a host: opened once, closed with the host, whatever one of them does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any

import pytest

from pegboard import Host, PluginConfig
from pegboard.plugin import ConfigError, Plugin, PluginError, Store, StoreName, hookimpl
from tests.host.hosting import make_host


class Box:
    """A contract."""

    def look(self) -> None:
        """Look into it."""


class Settings(PluginConfig):
    box: Annotated[str | None, StoreName(Box)] = "offering"


class Using(Plugin):
    Config = Settings


class Offering(Plugin):
    """A store that does what the test wants when it is opened and closed, and a lifespan that notes its end."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.story: list[str] = []

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        return [Store(Box, self.opened)]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Box]:
        self.story.append("opened")
        await self.opening()
        yield Box()
        self.story.append("closing")
        await self.closing()

    async def opening(self) -> None: ...

    async def closing(self) -> None: ...

    @hookimpl
    def lifespan(self) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def entered() -> AsyncIterator[None]:
            yield
            self.story.append("left")

        return entered()


def offering(host: Host) -> Offering:
    found = next(one.instance for one in host.report.plugins if one.origin.name == "offering")
    assert isinstance(found, Offering)
    return found


async def test_a_store_is_opened_once_and_closed_before_the_lifespans_end() -> None:
    async with make_host(plugins={"using": Using, "offering": Offering}) as host:
        boxes = await asyncio.gather(*(host.store(Box, "offering") for _ in range(3)))
        await host.open_stores()
        assert len({id(box) for box in boxes}) == 1
        plugin = offering(host)
    assert plugin.story == ["opened", "closing", "left"]


class Hangs(Offering):
    async def closing(self) -> None:
        await asyncio.Event().wait()


waits = asyncio.Event()


class NeverOpens(Offering):
    async def opening(self) -> None:
        self.story.append("waits")
        waits.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize(("kind", "story"), [(Hangs, ["opened", "closing"]), (NeverOpens, ["opened", "waits"])])
async def test_a_store_that_hangs_does_not_keep_lifespans_from_ending(kind: type[Offering], story: list[str]) -> None:
    host = make_host(plugins={"using": Using, "offering": kind})
    await host.start()
    opening = asyncio.create_task(host.store(Box, "offering"))
    if kind is Hangs:
        await opening
    else:
        await waits.wait()
    stopping = asyncio.create_task(host.stop())
    for _ in range(5):
        await asyncio.sleep(0)
    if kind is Hangs:
        stopping.cancel()
    await asyncio.wait([stopping])
    assert offering(host).story == [*story, "left"]
    if kind is NeverOpens:
        with pytest.raises(PluginError, match="cannot be opened"):
            await opening


class Fails(Offering):
    async def opening(self) -> None:
        if self.story.count("opened") < 2:
            raise OSError("no connection")


async def test_a_store_that_fails_once_can_be_opened_again() -> None:
    async with make_host(plugins={"using": Using, "offering": Fails}) as host:
        with pytest.raises(PluginError, match="Box 'offering' of plugin 'offering' cannot be opened: OSError"):
            await host.open_stores()
        assert isinstance(await host.store(Box, "offering"), Box)


@pytest.mark.parametrize("plugins", [{"using": Using}, {"using": Using, "offering": Offering, "other": Offering}])
async def test_a_setting_that_names_no_store_stops_the_start(plugins: dict[str, Any]) -> None:
    sections = {"plugins": {"using": {"box": "ofering"}}}
    with pytest.raises(ConfigError) as refused:
        await make_host(plugins=plugins, config=sections).start()
    assert "no running plugin offers a Box named 'ofering'" in str(refused.value)
    assert ('did you mean "offering"?' in str(refused.value)) == (len(plugins) > 1)


async def test_a_setting_may_name_none() -> None:
    async with make_host(plugins={"using": Using}, config={"plugins": {"using": {"box": None}}}) as host:
        await host.open_stores()


async def test_two_stores_of_one_name_are_not_selected() -> None:
    class Again(Offering):
        @hookimpl
        def register_stores(self) -> Iterable[Store]:
            return [Store(Box, self.opened, "offering")]

    with pytest.raises(ConfigError, match="named 'offering'"):
        await make_host(plugins={"using": Using, "offering": Offering, "again": Again}).start()
