"""What a function uses of its own host through its context: other tools, resources, prompts, and what it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pegboard import Context, NotFoundError, PromptMessage, Toolkit, ToolResult
from pegboard.plugin import ClientError, InteractionError, ToolDefinition, ToolInputError, around
from pegboard.types import Call, Caller, Change, Client, Failure, Outcome
from tests.host.hosting import call, failure, make_host, plugin_of, until, value

kit = Toolkit("x", prefix=False)


@kit.tool
def add(a: int, b: int = 1) -> int:
    """Add."""
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


async def run(function: Any, **fields: Any) -> Any:
    """What a tool gives on a host with the toolkit above."""
    own = Toolkit("own", prefix=False)
    own.tool(description="x")(function)
    async with make_host(kit, own) as host:
        return await value(host, function.__name__, **fields)


# --- other tools


async def test_a_tool_calls_another() -> None:
    async def tool(context: Context) -> int:
        return int(await context.tools.call("add", {"a": 2})) + int(await context.tools.call("add", {"a": 1, "b": 1}))

    assert await run(tool) == 5


async def test_a_nested_call_is_checked_like_any_and_its_error_is_typed() -> None:
    async def tool(context: Context) -> list[str]:
        found = []
        for name, arguments in (("add", {"a": "no number"}), ("nothing", {})):
            try:
                await context.tools.call(name, arguments)
            except (ToolInputError, NotFoundError) as error:
                found.append(type(error).__name__)
        return found

    assert await run(tool) == ["ToolInputError", "NotFoundError"]


async def test_a_nested_call_raw_is_an_outcome() -> None:
    async def tool(context: Context) -> list[str]:
        outcomes = [await context.tools.call_raw("add", {"a": 2}), await context.tools.call_raw("add", {})]
        assert isinstance(outcomes[0], ToolResult)
        assert isinstance(outcomes[1], Failure)
        return [type(outcome).__name__ for outcome in outcomes]

    assert await run(tool) == ["ToolResult", "Failure"]


async def test_middleware_sees_nested_calls_and_for_whom_they_are() -> None:
    seen: list[tuple[str, Any, tuple[str, ...]]] = []

    async def watch(one: Call, call_next: Any) -> Outcome:
        seen.append((one.params["name"], one.caller.subject, one.path))
        outcome: Outcome = await call_next(one)
        return outcome

    own = Toolkit("own", prefix=False)

    @own.tool
    async def outer(context: Context) -> Any:
        """Call."""
        return await context.tools.call("add", {"a": 1})

    plugins = {"watch": plugin_of(middleware=[around("tools/call")(watch)])}
    async with make_host(kit, own, plugins=plugins) as host:
        await value(host, "outer", caller=Caller("ann"))
    assert seen == [("outer", "ann", ()), ("add", "ann", ("add",))]


async def test_a_nested_call_does_not_report_the_progress_of_the_outer() -> None:
    sent: list[Mapping[str, Any]] = []
    own = Toolkit("own", prefix=False)

    @own.tool
    async def inner(context: Context) -> None:
        """Report."""
        await context.progress.report(99)
        await context.log.info("from inside")

    @own.tool
    async def outer(context: Context) -> None:
        """Call and report."""
        await context.progress.report(1)
        await context.tools.call("inner")
        await context.progress.report(2)

    async with make_host(own) as host:
        await value(host, "outer", notify=lambda method, params: sent.append({"method": method, **params}))
    assert [one.get("progress", one.get("data")) for one in sent] == [1, "from inside", 2]


async def test_what_the_host_lists_for_this_caller() -> None:
    async def tool(context: Context) -> list[Any]:
        tools = [one.name for one in await context.tools.list()]
        resources = [one.uri for one in await context.resources.list()]
        templates = [one.uri_template for one in await context.resources.list_templates()]
        prompts = [one.name for one in await context.prompts.list()]
        return [tools, resources, templates, prompts]

    assert await run(tool) == [["add", "tool"], ["docs://readme"], ["docs://{name}"], ["review"]]


async def test_lists_are_whole_however_small_their_pages() -> None:
    own = Toolkit("own", prefix=False)

    @own.tool
    async def count(context: Context) -> int:
        """Count."""
        return len(await context.tools.list())

    for number in range(7):
        own.tool(name=f"t{number}", description="x")(lambda: 1)
    async with make_host(own, page_size=3) as host:
        assert await value(host, "count") == 8


async def test_resources_and_prompts_are_read_and_given() -> None:
    async def tool(context: Context) -> list[Any]:
        text = (await context.resources.read("docs://readme")).contents[0].content
        made = (await context.resources.read("docs://host")).contents[0].content
        listed = await context.resources.get("docs://readme")
        prompt = await context.prompts.get("review", {"language": "Python"})
        assert prompt.messages == (PromptMessage("Review this Python."),)
        return [text, made, listed.title]

    assert await run(tool) == ["read me", "docs of host", "Read me"]


@pytest.mark.parametrize("how", ["read", "get"])
async def test_a_resource_that_is_not_there_is_not_found(how: str) -> None:
    async def tool(context: Context) -> str:
        with pytest.raises(NotFoundError):
            await getattr(context.resources, how)("nothing://here")
        return "not found"

    assert await run(tool) == "not found"


# --- what is served


async def test_a_tool_changes_what_its_toolkit_serves() -> None:
    own = Toolkit("own", prefix=False)

    @own.tool
    def grow(context: Context) -> None:
        """Add a tool, from a thread."""
        context.catalogue.add(ToolDefinition(lambda: "grown", name="grown", description="x"))

    async with make_host(own, kit) as host:
        changes: list[Change] = []
        host.watch(changes.append)
        await value(host, "grow")
        assert await value(host, "grown") == "grown"
        await until(lambda: changes == [Change("tools")])
        # another's are not its own
        assert isinstance(await call(host, "grow"), Failure)


async def test_a_tool_tells_of_changes_from_any_thread() -> None:
    own = Toolkit("own", prefix=False)

    @own.tool
    def tell(context: Context) -> None:
        """Tell."""
        context.notifications.tools.list_changed()
        context.notifications.prompts.list_changed()
        context.notifications.resources.list_changed()
        context.notifications.resources.updated("docs://readme")

    async with make_host(own) as host:
        changes: list[Change] = []
        host.watch(changes.append)
        await value(host, "tell")
        told = [Change("tools"), Change("prompts"), Change("resources"), Change("resource", "docs://readme")]
        await until(lambda: changes == told)


# --- the client


async def test_log_messages_reach_the_client_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[tuple[str, Any]] = []

    async def tool(context: Context) -> None:
        await context.log.info("plain")
        await context.log.warning("with more", count=3, when=object)
        context.log.debug({"a": 1})
        with pytest.raises(ValueError, match="no level"):
            context.log.log("loud", "x")  # type: ignore[arg-type]

    caplog.set_level("DEBUG", "pegboard.tools")
    await run(tool, notify=lambda *message: sent.append(message))
    assert [(method, params["level"], params["data"]) for method, params in sent] == [
        ("notifications/message", "info", "plain"),
        ("notifications/message", "warning", {"message": "with more", "count": 3, "when": str(object)}),
        ("notifications/message", "debug", {"a": 1}),
    ]
    assert {params["logger"] for _, params in sent} == {"tool"}
    assert [record.getMessage() for record in caplog.records if record.name == "pegboard.tools.tool"] == [
        "plain",
        "with more",
        "{'a': 1}",
    ]


async def test_nothing_is_sent_for_a_call_that_has_ended() -> None:
    sent: list[str] = []
    kept: list[Context] = []

    async def tool(context: Context) -> None:
        kept.append(context)
        context.send_notification("notifications/x", {"a": 1})

    await run(tool, notify=lambda method, params: sent.append(method))
    kept[0].send_notification("notifications/x")
    kept[0].log.info("too late")
    kept[0].progress.report(1)
    assert sent == ["notifications/x"]


async def test_a_request_to_the_client_goes_as_it_is_asked() -> None:
    asked: list[Any] = []

    async def ask(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        asked.append((method, params, options))
        return {"fine": True}

    async def tool(context: Context) -> Any:
        return await context.send_request("ping", {"a": 1}, timeout=3, reset_on_progress=True, max_total=9)

    assert await run(tool, ask=ask) == {"fine": True}
    options = {"timeout": 3, "progress": None, "reset_on_progress": True, "max_total": 9}
    assert asked == [("ping", {"a": 1}, options)]


async def test_without_a_session_there_are_no_requests() -> None:
    own = Toolkit("own", prefix=False)

    @own.tool
    async def tool(context: Context) -> Any:
        """Ask."""
        return await context.send_request("ping")

    async with make_host(own) as host:
        assert isinstance((await failure(host, "tool")).error, InteractionError)


async def test_an_answer_in_a_session_that_is_none_is_the_clients_error() -> None:
    async def ask(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        return {"action": "perhaps"}

    async def tool(context: Context) -> str:
        with pytest.raises(ClientError, match="no answer"):
            await context.ui.elicit("?", str)
        return "refused"

    client = Client("c", "1", "2025-11-25", {"elicitation": {}})
    assert await run(tool, ask=ask, client=client) == "refused"


async def test_a_context_is_found_in_whatever_a_tool_calls() -> None:
    from pegboard import current_context

    async def tool() -> str:
        await asyncio.sleep(0)
        context = current_context()
        assert context is not None
        return context.name

    assert await run(tool) == "tool"
    assert current_context() is None
