"""The stores of a host: opened once, and closed with the host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Annotated, Any

import pytest

from pegboard import Host, PluginConfig
from pegboard.errors import ConfigError
from pegboard.plugin import Plugin, PluginError, Store, StoreName, hookimpl
from pegboard.plugin.origin import PROGRAM
from pegboard.runtime import store_claim
from pegboard.runtime.open_stores import OpenStores
from tests.host.hosting import Waiting, cancel, make_host, never, nothing, until

Step = Callable[[], Awaitable[object]]


class Box:
    """A contract."""


class Settings(PluginConfig):
    box: Annotated[str | None, StoreName(Box)] = "offering"


class Using(Plugin):
    Config = Settings


def offering(story: list[str], opening: Step = nothing, closing: Step = nothing) -> type[Plugin]:
    """Return a plugin with a store and a lifespan, which record their events."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Box]:
        story.append("opening")
        await opening()
        yield Box()
        story.append("closing")
        await closing()

    class Offering(Plugin):
        @hookimpl
        def register_stores(self) -> list[Store]:
            return [Store(Box, opened)]

        @hookimpl
        @asynccontextmanager
        async def lifespan(self) -> AsyncIterator[None]:
            yield
            story.append("left")

    return Offering


def host_of(*args: Any, **more: Any) -> Host:
    return make_host(plugins={"using": Using, "offering": offering(*args, **more)})


async def test_a_store_is_opened_once_and_closed_before_the_lifespans_end() -> None:
    story: list[str] = []
    async with host_of(story) as host:
        boxes = await asyncio.gather(*(host.for_protocols.store(Box, "offering") for _ in range(3)))
        await host.for_transports.open_stores()
        assert len({id(box) for box in boxes}) == 1
        with pytest.raises(PluginError, match="no setting selects a Box named 'unused'"):
            await host.for_protocols.store(Box, "unused")
    assert story == ["opening", "closing", "left"]


async def test_a_store_that_does_not_close_lets_lifespans_end() -> None:
    story, waiting = list[str](), Waiting()
    host = host_of(story, closing=waiting)
    await host.start()
    await host.for_protocols.store(Box, "offering")
    await cancel(host.stop(), waiting)
    assert story == ["opening", "closing", "left"]


async def test_a_store_that_does_not_open_lets_lifespans_end() -> None:
    story: list[str] = []
    host = host_of(story, opening=never)
    await host.start()
    opening = asyncio.create_task(host.for_protocols.store(Box, "offering"))
    await until(lambda: "opening" in story)
    await host.stop()
    assert story == ["opening", "left"]
    with pytest.raises(PluginError, match="cannot be opened"):
        await opening


class Desk:
    """A contract whose stores can be claimed."""

    async def claim(self, owner: str, seconds: float) -> str:
        return ""

    async def release(self, owner: str) -> None: ...


class PlainDesk(Desk):
    """A desk that cannot be claimed."""


class SharedDesk(PlainDesk):
    """A desk that returns or raises the given results of `claim`, the last result for ever."""

    def __init__(self, *results: str | Exception) -> None:
        self.results, self.owners = list(results), list[str]()

    async def claim(self, owner: str, seconds: float) -> str:
        self.owners.append(owner)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        return result

    async def release(self, owner: str) -> None:
        self.owners.append(f"released by {owner}")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RENEWAL_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(store_claim, name, 0.001)


async def open_desk(desk: PlainDesk, **options: Any) -> OpenStores:
    stores, key = OpenStores(**options), (Desk, "desk")
    await stores.open_all({key: (PROGRAM, Store(Desk, lambda: nullcontext(desk)))})
    return stores


@pytest.mark.usefixtures("soon")
async def test_a_claim_is_taken_renewed_and_released_by_one_owner(caplog: pytest.LogCaptureFixture) -> None:
    desk = SharedDesk("process 1 on web", "process 1 on web", "", OSError("down"), "")
    async with await open_desk(desk):
        await until(lambda: len(desk.owners) > 5)
    *claims, released = desk.owners
    assert set(claims) == {claims[0]}
    assert released == f"released by {claims[0]}"
    waiting, failed = caplog.messages
    assert "process 1 on web uses it" in waiting
    assert "was not renewed: OSError: down" in failed


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("is_served", [True, False], ids=["served", "embedded"])
async def test_a_host_that_lost_its_claim_says_so_and_releases_nothing(
    is_served: bool, caplog: pytest.LogCaptureFixture
) -> None:
    desk = SharedDesk("", "process 2 on web")
    async with await open_desk(desk) as stores:
        if is_served:
            with pytest.raises(PluginError, match=r"the Desk 'desk' of .* is lost to process 2 on web"):
                await stores.lost()
        else:
            await until(lambda: bool(caplog.messages))
            assert "is lost to process 2 on web" in caplog.messages[0]
    assert not any("released" in owner for owner in desk.owners)


async def test_a_store_that_cannot_be_claimed_is_used_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with await open_desk(PlainDesk()), await open_desk(SharedDesk("another"), claims=False):
        (warned,) = caplog.messages
    assert "the Desk 'desk' of plugin 'program' has no method claim, release" in warned


OFFERING = offering([])


@pytest.mark.parametrize(
    ("plugins", "box", "hint"),
    [({}, "ofering", False), ({"offering": OFFERING, "other": OFFERING}, "ofering", True)],
)
async def test_a_setting_that_selects_no_store_stops_the_start(plugins: Any, box: str, hint: bool) -> None:
    with pytest.raises(ConfigError) as refused:
        await make_host(plugins={"using": Using, **plugins}, config={"plugins": {"using": {"box": box}}}).start()
    assert f"no running plugin offers a Box named '{box}'" in str(refused.value)
    assert ('did you mean "offering"?' in str(refused.value)) == hint
