"""The items of a mounted server behave as at the server itself, in every combination of eras."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegboard import Context, Toolkit
from pegboard.plugin import Bus, ProtocolError, TransportError
from pegboard.types import Caller
from pegboard_client import Asked
from pegboard_plugins.protocols.worker.call_responses import call_response
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.protocols.worker.tool_definitions import tool_definition
from pegboard_plugins.servers.upstreams import resource_updates
from pegboard_plugins.servers.upstreams.mounted import wire_form
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_calls import UpstreamCalls, UpstreamRequest
from pegboard_testing import TestClient, connect
from tests.host.hosting import call, until
from tests.plugins.servers.upstreams.mounted_hosts import OneServer, mounting_host
from tests.plugins.servers.upstreams.mounts import mounting, names, scripted
from tests.support import content_kit, fixture_kit
from tests.support.schemas import LEGACY, MODERN

ERAS = [LEGACY[-1], MODERN[-1]]
both = pytest.mark.parametrize("revision", ERAS)
far = pytest.mark.parametrize("far", ERAS)

LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    *(("tools/call", {"name": name}) for name in ("text", "image", "audio", "link", "embedded", "passed")),
    *(("tools/call", {"name": name}) for name in ("full", "failed", "data", "mixed", "members")),
    ("tools/call", {"name": "full", "arguments": {"as_list": True}}),
    ("tools/call", {"name": "full", "arguments": {"as_list": "no list"}}),
    ("resources/read", {"uri": "many://all"}),
    ("resources/read", {"uri": "doc://n"}),
    ("resources/read", {"uri": "file:///a/b?line=3"}),
    ("resources/read", {"uri": "nothing://here"}),
    ("prompts/get", {"name": "messages"}),
    ("prompts/get", {"name": "review", "arguments": {"code": "c"}}),
    ("prompts/get", {"name": "review"}),
]


def without_ids(message: Any) -> Any:
    """Return a result or an error without the members that name the server or one call, and those of its host."""
    if isinstance(message, ProtocolError):
        return message.code, message.message
    members = message.get("_meta", {}).items()
    meta = {
        name: member for name, member in members if not name.endswith("serverInfo") and not name.startswith("pegboard/")
    }
    return {**message, "_meta": meta}


async def answered(client: TestClient, method: str, params: dict[str, Any]) -> Any:
    try:
        return without_ids(await client.request(method, params))
    except ProtocolError as error:
        return without_ids(error)


@both
async def test_items_and_results_are_those_of_the_server(revision: str) -> None:
    given = []
    for kit in (content_kit.kit, mounting_host(revision, content_kit.kit)):
        async with connect(kit, revision=revision) as client:
            requests = [*((method, {}) for method in LISTS), *REQUESTS]
            given.append({f"{method} {params}": await answered(client, method, params) for method, params in requests})
    for request, direct in given[0].items():
        assert given[1][request] == direct, request
    assert sum(isinstance(answer, dict) for answer in given[0].values()) == len(given[0]) - 2


@both
@far
async def test_arguments_are_completed(revision: str, far: str) -> None:
    completions = []
    for kit in (content_kit.kit, mounting_host(far, content_kit.kit)):
        async with connect(kit, revision=revision) as client:
            prompts = [
                (prompt["name"], part["name"])
                for prompt in await client.prompts()
                for part in prompt.get("arguments", [])
            ]
            completions.append([(await client.complete(*prompt, "p", {"code": "x"})).values for prompt in prompts])
    assert completions[0] == completions[1]
    assert any(completions[0])


# --- calls


@both
@far
async def test_progress_is_reported(revision: str, far: str) -> None:
    async with connect(mounting_host(far, fixture_kit.kit), revision=revision) as client:
        assert (await client.call("fixture_count", {"to": 2, "say": "on"})).text == "counted"
        assert [tuple(report) for report in client.progress] == [(1, 2, "on"), (2, 2, "on")]


@both
@far
async def test_a_cancelled_call_is_cancelled_at_the_server(revision: str, far: str) -> None:
    async with connect(mounting_host(far, fixture_kit.kit), revision=revision) as client:
        running = asyncio.ensure_future(client.call("fixture_wait", {"label": far}))
        await client.heard("notifications/progress")
        running.cancel()
        await asyncio.wait((running,))
        async with asyncio.timeout(20):
            while far not in (await client.call("fixture_cancelled")).text:  # noqa: ASYNC110 - it is another host
                await asyncio.sleep(0)


@both
@far
async def test_log_messages_reach_the_client_of_the_call(revision: str, far: str) -> None:
    kit = Toolkit("far")

    @kit.tool
    async def chat(context: Context) -> str:
        """Send a log message."""
        context.log.warning("careful")
        return "done"

    level = {"io.modelcontextprotocol/logLevel": "info"}
    plugin = mounting_host(far, kit)
    async with connect(plugin, revision=revision) as client:
        client.meta.update(level if revision == MODERN[-1] else {})
        server = plugin.instances[0].server
        for invalid in ({"level": [1]}, {"level": "info", "data": "x" * 2**17}, {}):
            server.receive("notifications/message", invalid)
        await client.call("far_chat")
        assert [(log.level, log.data, log.logger) for log in client.logs] == [("warning", "careful", "far_chat")]


async def test_log_messages_of_a_connection_with_several_users_reach_no_client() -> None:
    server: Any = OneServer(ServerConfig(command="x"))
    calls, running = UpstreamCalls(server, Bus()), list[Any]()

    async def exchange(*_: Any, **__: Any) -> dict[str, Any]:
        running.append(calls.running(server.client))
        return {}

    class OneClient:
        def __init__(self) -> None:
            self.exchange = exchange

    server.client = OneClient()
    contexts: list[Any] = [
        SimpleNamespace(caller=Caller(name), meta={}, client=SimpleNamespace(revision="", capabilities={}))
        for name in ("ann", "ann", "bob", "ann", None)
    ]
    for context in contexts:
        await calls.result(context, UpstreamRequest("tools/call", {}))
    server.client = OneClient()
    await calls.result(contexts[-1], UpstreamRequest("tools/call", {}))
    assert running == [contexts[0], contexts[1], None, None, None, None]


async def test_a_question_for_a_cancelled_call_reaches_no_other_user() -> None:
    """A program may go on with a cancelled call, and its questions do not name their call."""
    server: Any = OneServer(ServerConfig(command="x"))
    calls, seen, outcomes = UpstreamCalls(server, Bus()), list[str](), list[str]()

    async def exchange(*_: Any, ask: Any, **__: Any) -> dict[str, Any]:
        seen.append("")
        if len(seen) == 1:
            raise asyncio.CancelledError
        try:
            await ask(Asked("roots/list", {}))
        except ProtocolError as error:
            outcomes.append(error.message)
        return {}

    class OneClient:
        stateless = False

        def __init__(self) -> None:
            self.exchange = exchange

    async def answer(question: Any) -> Any:
        outcomes.append("asked")
        return {"question": {"roots": []}}

    server.client = OneClient()
    client = SimpleNamespace(revision="2025-11-25", capabilities={"roots": {}})
    for name in ("ann", "ann", "bob"):
        context: Any = SimpleNamespace(caller=Caller(name), meta={}, client=client)
        context.ask = lambda **questions: answer(questions)
        with suppress(asyncio.CancelledError):
            await calls.result(context, UpstreamRequest("tools/call", {}))
    assert outcomes == ["asked", "the question may belong to a cancelled call of another user"]


async def test_a_mounted_tool_is_called_over_the_worker_protocol() -> None:
    async with connect(mounting_host(MODERN[-1], content_kit.kit, prefix="far")) as client:
        tool = client.host.assembly.tools["far_text"].tool
        described = tool_definition(tool)
        assert (described["fully_qualified_name"], described["toolkit"]["name"]) == ("Far.Text", "Far")
        config = WorkerConfig(auth_disabled=True)
        outcomes = [await call(client.host, f"far_{name}") for name in ("text", "failed")]
        succeeded, failed = (call_response(config, tool, outcome, None, 1, None)["output"] for outcome in outcomes)
        assert succeeded["value"] == "said"
        assert "tired" in failed["error"]["message"]


# --- names


def test_names_have_the_form_that_clients_accept() -> None:
    names = ["plain-Name_1", "a.b", "a_b", "a/b", "x" * 64, "x" * 128, "x" * 127 + "y", "ä", "\ud800", ""]
    forms = [wire_form(name) for name in names]
    assert (forms[0], forms[4]) == (names[0], names[4])
    assert len(set(forms)) == len(forms) == len({form for form in forms if len(form) <= 64})
    assert all(set(form) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") for form in forms)


async def test_an_item_is_called_by_its_own_name() -> None:
    kit = Toolkit("far", prefix=False)
    kit.tool(name="t")(content_kit.text)
    shown = wire_form("far_" + "dotted.name" * 10)
    rename = {"t": "dotted.name" * 10}
    async with connect(mounting_host(MODERN[-1], kit, rename={"t": f"far_{rename['t']}"})) as client:
        assert await names(client) == [shown]
        assert (await client.call(shown)).text == "said"


# --- errors


@far
async def test_errors_of_the_server_are_typed(far: str) -> None:
    plugin = mounting_host(far, fixture_kit.kit, timeout=20)
    async with connect(plugin) as client:
        server = plugin.instances[0].server
        exchange = server.client.exchange

        async def failing(method: str, params: Any, **options: Any) -> Any:
            match params["name"]:
                case "fixture_crash":
                    raise ProtocolError(-32603, "no " + "x" * 5000, {"a": 1})
                case "fixture_try_again":
                    raise ProtocolError(-32600, "bad header of https://secret.example")
                case "fixture_echo" | "fixture_add":
                    raise TransportError("https://secret.example is gone")
                case _:
                    return {**await exchange(method, params, **options), "resultType": "strange"}

        server.client.exchange = failing
        with pytest.raises(ProtocolError, match="no xxx") as caught:
            await client.call("fixture_crash")
        assert (caught.value.code, len(caught.value.message), caught.value.data) == (-32603, 2000, {"a": 1})
        refused = (await client.call("fixture_try_again")).error
        assert (refused.message, refused.kind) == (
            "The server 'far' refused the request.",
            "UPSTREAM_RUNTIME_BAD_REQUEST",
        )
        for tool, retry in (("echo", True), ("add", False)):
            error = (await client.call(f"fixture_{tool}", {"text": "a", "a": 1})).error
            assert error.message.startswith("The server 'far' lost its connection before it responded.")
            assert (error.can_retry, "had effects" in error.message) == (retry, not retry)
            assert "secret" not in str(error.detail) + error.message
        assert "cannot be passed on" in (await client.call("fixture_nothing")).error.message


# --- subscriptions


@both
@far
async def test_updates_of_resources_reach_subscribers(revision: str, far: str) -> None:
    plugin = mounting_host(far, changing)
    async with connect(plugin, revision=revision) as client:
        await client.listen("news://today")
        server = plugin.instances[0].server
        await until(lambda: "news://today" in server.client._connection.uris)
        await client.call("changing_change")
        heard = await client.heard("notifications/resources/updated")
        assert heard["params"]["uri"] == "news://today"


async def test_a_subscription_that_failed_for_the_moment_is_requested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_updates, "FAILED_SECONDS", 0)
    plugin = mounting_host(MODERN[-1], changing)
    async with connect(plugin) as client:
        far = plugin.instances[0].server.client
        subscribe, failures = far.subscribe, [TransportError("away")]

        async def fail_once(uri: str) -> None:
            if failures:
                raise failures.pop()
            await subscribe(uri)

        monkeypatch.setattr(far, "subscribe", fail_once)
        await client.listen("news://today")
        await until(lambda: "news://today" in far._connection.uris)


async def test_resources_are_requested_together_and_one_refusal_is_not_that_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = mounting_host(MODERN[-1], changing)
    async with connect(plugin) as client:
        far, asked = plugin.instances[0].server.client, list[tuple[str, ...]]()

        async def refuse_one(*uris: str) -> None:
            asked.append(uris)
            if "news://no" in uris:
                raise ProtocolError(-32602, "refused")

        monkeypatch.setattr(far, "subscribe", refuse_one)
        await client.listen("news://a", "news://no")
        await until(lambda: len(asked) == 3)
        await client.listen("news://b", "news://c")
        await until(lambda: len(asked) == 4)
    assert asked == [("news://a", "news://no"), ("news://a",), ("news://no",), ("news://b", "news://c")]


changing = Toolkit("changing")


@changing.resource("news://{day}")
def news(day: str) -> str:
    """Report the news of a day."""
    return day


@changing.tool
async def change(context: Context) -> str:
    """Change the news of today."""
    context.notifications.resources.updated("news://today")
    return "changed"


# --- members and types of the future


async def test_unknown_members_and_uncompilable_schemas_pass(tmp_path: Path) -> None:
    look = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)\\1"}}, "$schema": "urn:later"}
    listed = {"name": "look.up", "inputSchema": look, "annotations": {"later": 1}, "later": [1]}
    result = {"content": [{"type": "hologram", "rays": [1]}], "later": {"a": 1}, "_meta": {"b": 2}}
    script = {"tools/list": {"tools": [listed]}, "tools/call": result}
    async with mounting({"one": scripted(tmp_path, script)}) as client:
        (tool,) = [tool for tool in await client.tools() if tool["name"].startswith("one_")]
        assert tool == {**listed, "name": wire_form("one_look.up")}
        called = await client.request("tools/call", {"name": tool["name"], "arguments": {"a": 5}})
        assert (called["content"], called["later"]) == (result["content"], result["later"])
        assert called["_meta"]["b"] == 2


STRANGE: list[dict[str, Any]] = [{"content": "text"}, {"content": [5]}, {"structuredContent": [1]}, {"isError": 1}, {}]


@pytest.mark.parametrize("strange", STRANGE)
async def test_strange_results_end_no_connection(tmp_path: Path, strange: dict[str, Any]) -> None:
    script = {"tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}, "tools/call": strange}
    for revision in (*LEGACY, *MODERN):
        async with mounting({"one": scripted(tmp_path, script)}, revision=revision) as client:
            result = await client.request("tools/call", {"name": "one_t", "arguments": {}})
            assert result.get("content") == strange.get("content") or revision < "2025-06-18"
