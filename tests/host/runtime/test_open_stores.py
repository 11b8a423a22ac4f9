"""The stores of a host: opened once, and closed with the host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
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
    """A store, and a lifespan that records its end."""

    name: str | None = None

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.story: list[str] = []

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        return [Store(Box, self.opened, self.name)]

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
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        yield
        self.story.append("left")


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


class NeverOpens(Offering):
    async def opening(self) -> None:
        self.story.append("waits")
        await asyncio.Event().wait()


@pytest.mark.parametrize("kind", [Hangs, NeverOpens])
async def test_a_store_that_hangs_does_not_keep_lifespans_from_ending(kind: type[Offering]) -> None:
    host = make_host(plugins={"using": Using, "offering": kind})
    await host.start()
    opening = asyncio.create_task(host.store(Box, "offering"))
    if kind is Hangs:
        await opening
    plugin = offering(host)
    while len(plugin.story) < (1 if kind is Hangs else 2):  # noqa: ASYNC110 - turns of the loop alone
        await asyncio.sleep(0)
    stopping = asyncio.create_task(host.stop())
    for _ in range(5):
        await asyncio.sleep(0)
    if kind is Hangs:
        stopping.cancel()
    await asyncio.wait([stopping])
    assert plugin.story == ["opened", "closing" if kind is Hangs else "waits", "left"]
    if kind is NeverOpens:
        with pytest.raises(PluginError, match="cannot be opened"):
            await opening


class FailsOnce(Offering):
    async def opening(self) -> None:
        if self.story.count("opened") < 2:
            raise OSError("no connection")


async def test_a_store_that_fails_once_can_be_opened_again() -> None:
    async with make_host(plugins={"using": Using, "offering": FailsOnce}) as host:
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


async def test_a_setting_may_select_no_store() -> None:
    async with make_host(plugins={"using": Using}, config={"plugins": {"using": {"box": None}}}) as host:
        await host.open_stores()
