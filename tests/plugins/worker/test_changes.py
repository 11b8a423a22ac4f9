"""Tools that come and go while the host runs come and go for callers of the worker too."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from pegboard import Host
from pegboard.plugin import Middleware, Plugin, ToolDefinition, hookimpl
from pegboard.types import Call, Caller, CallNext, Outcome, Request, Response
from pegboard_plugins.worker import WorkerConfig
from pegboard_plugins.worker.handlers import WorkerHandlers
from tests.host.hosting import make_host
from tests.host.test_hooks import NoHeaders


def first() -> str:
    """Be there from the beginning."""
    return "first"


def second() -> str:
    """Come later."""
    return "second"


class Meanwhile(Middleware):
    """Does something while a list of tools is made."""

    def __init__(self) -> None:
        self.do: Any = None

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Make the list, then do it once."""
        listed = await call_next(call)
        done, self.do = self.do, None
        if done is not None:
            done()
        return listed


class Asked:
    """A host, and the worker's endpoint over it."""

    def __init__(self, host: Host, meanwhile: Meanwhile) -> None:
        self.host = host
        self.meanwhile = meanwhile
        self._endpoint = WorkerHandlers(WorkerConfig(auth_disabled=True))

    async def ask(self, handler: str, body: Any = None) -> Any:
        request = Request("POST", "/", {}, NoHeaders(), json.dumps(body).encode(), Caller(client_id="worker"))
        response: Response = await getattr(self._endpoint, handler)(request, self.host)
        assert response.status == 200, response
        return json.loads(response.body)

    async def names(self) -> list[str]:
        """The names of the tools that are listed; the count of the health tells as many."""
        names = [one["name"] for one in await self.ask("tools")]
        assert (await self.ask("health"))["tool_count"] == str(len(names))
        return names


@pytest_asyncio.fixture
async def asked() -> AsyncIterator[Asked]:
    meanwhile = Meanwhile()

    class Meddling(Plugin):
        @hookimpl
        def register_middleware(self) -> list[Middleware]:
            return [meanwhile]

    async with make_host(plugins={"meddling": Meddling}) as host:
        host.catalogue.add(ToolDefinition(first))
        yield Asked(host, meanwhile)


async def test_what_is_added_and_removed_later_is_listed_and_called(asked: Asked) -> None:
    assert await asked.names() == ["First"]
    asked.host.catalogue.add(ToolDefinition(second))
    assert await asked.names() == ["First", "Second"]
    tool = {"name": "second", "toolkit": "program"}
    assert (await asked.ask("invoke", {"tool": tool}))["output"]["value"] == "second"
    asked.host.catalogue.remove("tools", "second")
    assert await asked.names() == ["First"]


async def test_a_change_while_the_list_is_made_is_not_missed(asked: Asked) -> None:
    asked.meanwhile.do = lambda: asked.host.catalogue.add(ToolDefinition(second))
    assert len(await asked.ask("tools")) == 1
    assert await asked.names() == ["First", "Second"]
