"""Tools that are added and removed while the host runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pegboard.plugin import Middleware, Plugin, ToolDefinition, hookimpl
from pegboard.types import Call, Caller, CallNext, Outcome, Request
from pegboard_plugins.worker import WorkerConfig
from pegboard_plugins.worker.handlers import WorkerHandlers
from tests.host.hosting import make_host
from tests.support.fields import Fields


def first() -> str:
    """Return a string."""
    return "first"


def second() -> str:
    """Return another."""
    return "second"


class Meanwhile(Middleware):
    """Middleware that runs a function once after the next list of tools is made."""

    do: Callable[[], object] | None = None

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        listed = await call_next(call)
        done, self.do = self.do, None
        if done is not None:
            done()
        return listed


async def test_changes_of_tools_are_seen_at_once() -> None:
    meanwhile = Meanwhile()

    class Meddling(Plugin):
        @hookimpl
        def register_middleware(self) -> list[Middleware]:
            return [meanwhile]

    handlers = WorkerHandlers(WorkerConfig(auth_disabled=True))
    async with make_host(plugins={"meddling": Meddling}) as host:

        async def ask(handler: str, body: Any = None) -> Any:
            caller = Caller(client_id="worker")
            request = Request("POST", "/", {}, Fields(), json.dumps(body).encode(), caller)
            response = await getattr(handlers, handler)(request, host)
            assert response.status == 200, response
            return json.loads(response.body)

        async def names() -> list[str]:
            listed = [one["name"] for one in await ask("tools")]
            assert (await ask("health"))["tool_count"] == str(len(listed))
            return listed

        host.catalogue.add(ToolDefinition(first))
        assert await names() == ["First"]
        host.catalogue.add(ToolDefinition(second))
        assert await names() == ["First", "Second"]
        called = await ask("invoke", {"tool": {"name": "second", "toolkit": "program"}})
        assert called["output"]["value"] == "second"
        host.catalogue.remove("tools", "second")
        assert await names() == ["First"]
        meanwhile.do = lambda: host.catalogue.add(ToolDefinition(second))  # while the list is made
        host.catalogue.remove("tools", "first")
        assert await ask("tools") == []
        assert await names() == ["Second"]
