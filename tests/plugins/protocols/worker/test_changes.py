"""Handlers in the process of the test: changes of tools, lists of several pages, and rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard import Host, Toolkit
from pegboard.plugin import Middleware, ToolDefinition
from pegboard.types import Call, Caller, CallNext, Outcome
from pegboard_plugins.operation.rate_limit import RateLimitPlugin
from pegboard_plugins.protocols.worker.handlers import WorkerHandlers
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from tests.host.hosting import make_host, plugin_of
from tests.plugins.protocols.worker.conftest import handle


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


async def test_changes_of_tools_are_seen_at_once_and_resources_are_listed_in_pages() -> None:
    meanwhile = Meanwhile()
    kit = Toolkit("kit")
    for name in ("a", "b", "c"):
        kit.resource(f"kit://{name}", name=name)(first)
    handlers = WorkerHandlers(WorkerConfig(auth_disabled=True))
    plugins = {"meanwhile": plugin_of(middleware=[meanwhile])}
    async with make_host(kit, plugins=plugins, page_size=1) as host:

        async def names() -> list[str]:
            listed = [tool["name"] for tool in await handle(handlers, host.for_protocols, "tools")]
            assert (await handle(handlers, host.for_protocols, "health"))["tool_count"] == str(len(listed))
            return listed

        host.catalogue.add(ToolDefinition(first))
        assert await names() == ["First"]
        host.catalogue.add(ToolDefinition(second))
        assert await names() == ["First", "Second"]
        done = await handle(handlers, host.for_protocols, "invoke", {"tool": {"name": "second", "toolkit": "program"}})
        assert done["output"]["value"] == "second"
        host.catalogue.remove("tools", "second")
        assert await names() == ["First"]
        meanwhile.do = lambda: host.catalogue.add(ToolDefinition(second))  # while the list is made
        host.catalogue.remove("tools", "first")
        assert await handle(handlers, host.for_protocols, "tools") == []
        assert await names() == ["Second"]
        uris: list[str] = []
        body: dict[str, Any] = {}
        for _ in range(3):
            page = await handle(handlers, host.for_protocols, "list_resources", body)
            uris += [resource["uri"] for resource in page["resources"]]
            body = {"cursor": page.pop("nextCursor", None)}
        assert (uris, body) == (["kit://a", "kit://b", "kit://c"], {"cursor": None})


async def test_rates_are_limited_per_user_and_for_services_only_by_their_own_limit() -> None:
    kit = Toolkit("kit")
    kit.tool(first)
    handlers = WorkerHandlers(WorkerConfig(auth_disabled=True))

    async def call(host: Host, user: str | None = None, *, service: bool = True) -> Any:
        body = {"tool": {"name": "First", "toolkit": "Kit"}, "context": {"user_id": user}}
        caller = Caller(client_id="worker", service=service)
        return await handle(handlers, host.for_protocols, "invoke", body, caller=caller)

    def limited(**settings: Any) -> Host:
        limits = {"local": True, "calls_per_minute": 0.01, "burst": 2, **settings}
        return make_host(kit, plugins={"limits": RateLimitPlugin}, config={"plugins": {"limits": limits}})

    async with limited() as host:
        assert [(await call(host))["success"] for _ in range(5)] == [True] * 5
        assert [(await call(host, "ann"))["success"] for _ in range(3)] == [True, True, False]
        assert (await call(host, "ben"))["success"]
        error = (await call(host, "ann"))["output"]["error"]
        assert (error["kind"], error["status_code"], error["can_retry"]) == ("TOOL_RUNTIME_RETRY", 429, True)
        assert 0 < error["retry_after_ms"] <= 6_000_000
    async with limited() as host:  # without tokens no caller is a service
        assert [(await call(host, service=False))["success"] for _ in range(3)] == [True, True, False]
    async with limited(services={"calls_per_minute": 0.01, "burst": 3}) as host:
        assert [(await call(host))["success"] for _ in range(4)] == [True, True, True, False]
        assert [(await call(host, "ann"))["success"] for _ in range(3)] == [True, True, False]
