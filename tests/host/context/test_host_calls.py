"""Calls of a function to its own host: other tools, resources, prompts, and its catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pegboard import Context, NotFoundError, PromptMessage, ToolInputError, Toolkit, ToolResult
from pegboard.plugin import ToolDefinition, around
from pegboard.types import Call, Caller, Change, Failure, Outcome
from tests.host.hosting import kit_of, make_host, plugin_of, until, value

kit = Toolkit("docs", prefix=False)


@kit.tool
async def add(context: Context, a: int, b: int = 1) -> int:
    """Add."""
    await context.progress.report(99)
    await context.log.info("from inside")
    return a + b


@kit.resource("docs://readme", title="Read me")
def readme() -> str:
    return "read me"


@kit.resource("docs://{name}")
def docs(name: str) -> str:
    return f"docs of {name}"


@kit.prompt
def review(language: str) -> str:
    """Review."""
    return f"Review this {language}."


async def run(function: Any, *, host: Mapping[str, Any] = {}, **fields: Any) -> Any:
    """Return the value of a tool on a host with the toolkit above."""
    async with make_host(kit, kit_of(function), **host) as running:
        return await value(running, function.__name__, **fields)


async def test_nested_calls_are_checked_like_any_and_their_errors_are_typed() -> None:
    async def tool(context: Context) -> list[Any]:
        with pytest.raises(ToolInputError, match="Invalid arguments of add:\na: ") as wrong:
            await context.tools.call("add", {"a": "no number"})
        assert wrong.value.__cause__ is None, "the host logs errors with a cause"
        for absent in (context.tools.call, context.resources.read, context.resources.get):
            with pytest.raises(NotFoundError):
                await absent("nothing://here")
        raw = [await context.tools.call_raw("add", {"a": 2}), await context.tools.call_raw("add", {})]
        assert [type(outcome) for outcome in raw] == [ToolResult, Failure]
        return [await context.tools.call("add", {"a": 2}), await context.tools.call("add", {"a": 1, "b": 1})]

    assert await run(tool) == [3, 2]


async def test_middleware_sees_nested_calls_with_their_caller_and_path_and_the_client_no_progress_of_them() -> None:
    seen: list[tuple[str, Any, tuple[str, ...]]] = []
    sent: list[Mapping[str, Any]] = []

    async def watch(nested: Call, call_next: Any) -> Outcome:
        seen.append((nested.params["name"], nested.caller.subject, nested.path))
        outcome: Outcome = await call_next(nested)
        return outcome

    async def outer(context: Context) -> None:
        await context.progress.report(1)
        await context.tools.call("add", {"a": 1})
        await context.progress.report(2)

    plugins = {"watch": plugin_of(middleware=[around("tools/call")(watch)])}
    notify = lambda method, params: sent.append(params)  # noqa: E731
    await run(outer, host={"plugins": plugins}, caller=Caller("ann"), notify=notify)
    assert seen == [("outer", "ann", ()), ("add", "ann", ("add",))]
    assert [notification.get("progress", notification.get("data")) for notification in sent] == [1, "from inside", 2]


async def test_lists_are_whole_in_small_pages() -> None:
    async def tool(context: Context) -> list[Any]:
        tools = [item.name for item in await context.tools.list()]
        resources = [resource.uri for resource in await context.resources.list()]
        templates = [template.uri_template for template in await context.resources.list_templates()]
        prompts = [prompt.name for prompt in await context.prompts.list()]
        return [tools, resources, templates, prompts]

    listed = await run(tool, host={"page_size": 1})
    assert listed == [["add", "tool"], ["docs://readme"], ["docs://{name}"], ["review"]]


async def test_a_tool_announces_changes_from_any_thread() -> None:
    def announce(context: Context) -> None:
        context.catalogue.add(ToolDefinition(lambda: "grown", name="grown", description="x"))
        context.notifications.prompts.list_changed()
        context.notifications.resources.list_changed()
        context.notifications.resources.updated("docs://readme")

    async with make_host(kit_of(announce), kit) as host:
        changes: list[Change] = []
        host.watch(changes.append)
        await value(host, "announce")
        assert await value(host, "grown") == "grown"
        await until(lambda: len(changes) == 4)
    of_lists = {Change("tools"), Change("prompts"), Change("resources")}
    assert set(changes) == {*of_lists, Change("resource", "docs://readme")}


async def test_resources_and_prompts_are_read() -> None:
    async def tool(context: Context) -> list[Any]:
        prompt = await context.prompts.get("review", {"language": "Python"})
        assert prompt.messages == (PromptMessage("Review this Python."),)
        read = [(await context.resources.read(uri)).contents[0].content for uri in ("docs://readme", "docs://host")]
        return [*read, (await context.resources.get("docs://host")).content]

    assert await run(tool) == ["read me", "docs of host", "docs of host"]
