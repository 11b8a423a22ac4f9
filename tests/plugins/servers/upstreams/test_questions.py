"""Questions of a mounted server reach the person, in every combination of eras, as far as the client declares."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio

from pegboard import (
    Context,
    ErrorKind,
    Host,
    MCPError,
    NetworkTransportError,
    NotFoundError,
    RetryableToolError,
    ToolExecutionError,
    Toolkit,
    UpstreamError,
)
from pegboard.plugin import Bus, ProtocolError, decode, encode
from pegboard.types import LOCAL, Call, Caller
from pegboard.types import Client as CallingClient
from pegboard_client import Asked, Client, Program
from pegboard_plugins.servers.upstreams import parked_calls
from pegboard_plugins.servers.upstreams.upstream_errors import error_members, error_of
from pegboard_testing import connect, decline
from tests.host.hosting import WAIT, until
from tests.plugins.servers.upstreams.mounted_hosts import mounting_host
from tests.plugins.servers.upstreams.mounts import mounting, names, peer, toml
from tests.plugins.servers.upstreams.test_mounted import both, far
from tests.support import asks_kit
from tests.support.http import Served, http_config
from tests.support.joined_bus import joined
from tests.support.pool import make_site
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import PEGBOARD

OLD, NEW = LEGACY[-1], MODERN[-1]
QUESTIONS: list[tuple[str, list[Any]]] = [
    ("asks_name", ["Ann"]),
    ("asks_name", [decline()]),
    ("asks_person", [{"name": "Ann", "colour": "green"}]),
    ("asks_page", [True]),
    ("asks_sample", ["Paris"]),
    ("asks_roots", [["file:///a"]]),
    ("asks_in_turn", ["x", 2, True]),
    ("asks_at_once", ["Ann", "Paris", ["file:///a"]]),
]


@both
@far
@pytest.mark.parametrize(("tool", "answers"), QUESTIONS)
async def test_questions_reach_the_person(revision: str, far: str, tool: str, answers: list[Any]) -> None:
    seen = []
    for kit in (asks_kit.kit, mounting_host(far, asks_kit.kit, sampling=True)):
        async with connect(kit, revision=revision, answers=answers) as client:
            result = await client.call(tool)
            texts = [str(request.params.get("message")).removeprefix("far asks: ") for request in client.asked]
            seen.append((result.content, [request.method for request in client.asked], texts))
    assert seen[0] == seen[1]


@both
@far
async def test_a_client_is_asked_only_what_it_declares(revision: str, far: str) -> None:
    declared: dict[str, Any]
    for declared in ({}, {"sampling": {}}):
        async with connect(mounting_host(far, asks_kit.kit), revision=revision, capabilities=declared) as client:
            params: dict[str, Any] = {"name": "asks_name", "arguments": {}}
            if revision == NEW and far == NEW:
                with pytest.raises(ProtocolError, match="elicitation") as caught:
                    await client.request("tools/call", params)
                assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
            else:
                result = await client.request("tools/call", params)
                assert result["isError"]
            assert client.asked == []


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asks_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    async with Served(make_site(tmp_path_factory.mktemp("far"), {"asks": asks_kit}), http_config()) as served:
        yield f"http://127.0.0.1:{served.port}/mcp"


@both
@far
@pytest.mark.asyncio(loop_scope="session")
async def test_questions_over_http_reach_their_own_calls(revision: str, far: str, asks_url: str) -> None:
    async with connect(mounting_host(far, url=asks_url), revision=revision, answers=lambda request: "Ann") as client:
        calls = [client.call("asks_name", {"greeting": greeting}) for greeting in ("Hi", "Good day")]
        assert [result.text for result in await asyncio.gather(*calls)] == ["Hi, Ann", "Good day, Ann"]


@both
async def test_a_server_may_use_one_key_in_several_rounds(revision: str) -> None:
    plugin = mounting_host(NEW, asks_kit.kit)
    question = {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {"properties": {}}}}
    sent: list[Any] = []

    async def exchange(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        sent.append((params.get("requestState"), params.get("inputResponses")))
        if len(sent) < 3:
            return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": f"s{len(sent)}"}
        return {"content": []}

    async with connect(plugin, revision=revision, answers=[True, decline()]) as client:
        plugin.instances[0].server.client.exchange = exchange
        assert not (await client.call("asks_name")).is_error
    accepted, declined = {"q": {"action": "accept", "content": {}}}, {"q": {"action": "decline"}}
    assert sent == [(None, None), ("s1", accepted), ("s2", declined)]


@both
async def test_an_answer_that_the_server_refuses_fails_the_call(revision: str) -> None:
    async with connect(
        mounting_host(NEW, asks_kit.kit), revision=revision, answers=lambda request: {"value": 5}
    ) as client:
        if revision == NEW:
            with pytest.raises(ProtocolError, match="inputResponses"):
                await client.call("asks_name")
        else:
            assert "inputResponses" in (await client.call("asks_name")).text


async def ask_twice(context: Context) -> str:
    """Call a mounted tool, then ask."""
    first = await context.tools.call("asks_name")
    answer = await context.ui.elicit("And yours?", str)
    return f"{first}; {answer.content}"


@both
async def test_a_tool_that_calls_a_mounted_tool_may_ask_too(revision: str) -> None:
    kit = Toolkit("near")
    kit.tool(ask_twice)
    async with connect(mounting_host(NEW, asks_kit.kit), kit, revision=revision, answers=["Ann", "Bob"]) as client:
        assert (await client.call("near_ask_twice")).value == "Hello, Ann; Bob"


# --- calls that wait in this process


async def unanswered_result(client: Any, **more: Any) -> Any:
    return await client.request("tools/call", {"name": "asks_name", "arguments": {}, **more})


def answer(result: Any, name: str = "Ann") -> dict[str, Any]:
    (key,) = result["inputRequests"]
    responses = {key: {"action": "accept", "content": {"value": name}}}
    return {"requestState": result["requestState"], "inputResponses": responses}


async def test_a_waiting_call_continues_once() -> None:
    async with connect(mounting_host(OLD, asks_kit.kit)) as client:
        retry = answer(await unanswered_result(client))
        assert (await unanswered_result(client, **retry))["content"][0]["text"] == "Hello, Ann"
        again = await unanswered_result(client, **retry)
        assert (again["isError"], "no longer waits" in again["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("limit", ["MAX_PARKED_CALLS", "MAX_PARKED_CALLS_PER_USER"])
async def test_waiting_calls_are_limited(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parked_calls, limit, 0)
    plugin = mounting_host(OLD, asks_kit.kit)
    async with connect(plugin) as client:
        refused = await unanswered_result(client)
        assert (refused["isError"], "Too many calls" in refused["content"][0]["text"]) == (True, True)
        await until(lambda: not plugin.instances[0].server.client._connection.incoming.in_flight)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"caller": Caller("ann")}, {"caller": Caller("bob")}),
        [{"caller": Caller("s", service=True), "user_id": name} for name in ("ann", "bob")],
    ],
)
async def test_waiting_calls_belong_to_their_users(first: Any, second: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parked_calls, "MAX_PARKED_CALLS_PER_USER", 1)
    calls = parked_calls.ParkedCalls(Bus(), "far")
    ann, bob = SimpleNamespace(**first), cast(Any, SimpleNamespace(**second))

    async def exchange(call: Any) -> dict[str, Any]:
        return dict(await call.ask(Asked("q", {})))

    parked: Any = await calls.begin(cast(Any, ann), exchange)
    with pytest.raises(RetryableToolError, match="Too many calls"):
        await calls.begin(cast(Any, ann), exchange)
    with pytest.raises(RetryableToolError, match="no longer waits"):
        await calls.resume(parked.key, {}, bob)
    assert await calls.begin(bob, exchange)
    assert await calls.resume(parked.key, {"question-1": {"a": 1}}, cast(Any, ann)) == {"a": 1}
    calls.close()


async def test_a_waiting_call_belongs_to_its_user_at_every_process() -> None:
    here, there, _ = (parked_calls.ParkedCalls(bus, "far") for bus in joined())
    ann, bob = (cast(Any, SimpleNamespace(caller=Caller(name, issuer="i"))) for name in ("ann", "bob"))

    async def exchange(call: Any) -> dict[str, Any]:
        await call.ask(Asked("q", {}))
        raise ProtocolError(-32042, "open a page", {"elicitations": []})

    parked: Any = await here.begin(ann, exchange)
    with pytest.raises(ToolExecutionError, match="no longer waits"):
        await there.resume(parked.key, {}, bob)
    with pytest.raises(ProtocolError, match="open a page"):
        await there.resume(parked.key, {"question-1": {}}, ann)


async def test_log_messages_of_a_continued_call_reach_its_present_request() -> None:
    kit = Toolkit("far")

    @kit.tool
    async def greet(context: Context) -> str:
        """Ask for a name, then log it."""
        answer = await context.ui.elicit("Your name?", str)
        context.log.warning(str(answer.content))
        return "done"

    async with connect(mounting_host(OLD, kit), answers=["Ann"]) as client:
        client.meta.update({"io.modelcontextprotocol/logLevel": "info"})
        await client.call("far_greet")
        assert [log.data for log in client.logs] == ["Ann"]


async def test_a_waiting_call_ends_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parked_calls, "MAX_PARKED_SECONDS", 0.01)
    plugin = mounting_host(OLD, asks_kit.kit)
    async with connect(plugin) as client:
        result = await unanswered_result(client)
        await until(lambda: not plugin.instances[0].server.client._connection.incoming.in_flight)
        late = await unanswered_result(client, **answer(result))
        assert "no longer waits" in late["content"][0]["text"]


@pytest.mark.asyncio(loop_scope="session")
async def test_as_many_calls_wait_as_the_limit_of_a_user_allows(asks_url: str) -> None:
    section = {"url": asks_url, "revision": OLD, "prefix": False, "timeout": WAIT}
    async with mounting({"far": section}) as client:
        calls = (unanswered_result(client) for _ in range(parked_calls.MAX_PARKED_CALLS_PER_USER))
        assert all("inputRequests" in result for result in await asyncio.gather(*calls))


async def test_the_questions_of_a_waiting_call_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server need not withdraw them, and the connection has only so many open questions."""
    monkeypatch.setattr(parked_calls, "MAX_PARKED_SECONDS", 0.01)
    questions: list[asyncio.Future[Any]] = []

    async def exchange(call: Any) -> dict[str, Any]:
        questions.append(asyncio.ensure_future(call.ask(Asked("q", {}))))
        return await asyncio.Event().wait()  # type: ignore[return-value]

    context: Any = SimpleNamespace(caller=LOCAL)
    assert await parked_calls.ParkedCalls(Bus(), "far").begin(context, exchange)
    await until(questions[0].done)
    with pytest.raises(ProtocolError, match="has ended"):
        questions[0].result()


async def test_waiting_calls_end_with_the_host() -> None:
    async with connect(mounting_host(OLD, asks_kit.kit)) as client:
        await unanswered_result(client)
    assert [task for task in asyncio.all_tasks() if "ParkedCall" in repr(task)] == []


async def test_only_open_questions_are_asked() -> None:
    more, made = asyncio.Event(), list[Any]()

    async def exchange(call: Any) -> dict[str, Any]:
        withdrawn = asyncio.ensure_future(call.ask(Asked("withdrawn", {})))
        await asyncio.sleep(0)
        withdrawn.cancel()
        await asyncio.wait((withdrawn,))
        made.append(call)
        for _ in range(3):
            await asyncio.sleep(0)
        first = asyncio.ensure_future(call.ask(Asked("first", {})))
        await more.wait()
        return {"answers": await asyncio.gather(first, call.ask(Asked("second", {})))}

    context: Any = SimpleNamespace(caller=LOCAL)
    calls = parked_calls.ParkedCalls(Bus(), "far")
    parked: Any = await calls.begin(context, exchange)
    assert [question["method"] for question in parked.questions.values()] == ["first"]
    more.set()
    await until(lambda: len(made[0]._open) == 2)
    parked = await calls.resume(parked.key, {key: {"a": 1} for key in parked.questions}, context)
    assert [question["method"] for question in parked.questions.values()] == ["second"]
    result = await calls.resume(parked.key, {key: {"b": 2} for key in parked.questions}, context)
    assert result == {"answers": [{"a": 1}, {"b": 2}]}


@pytest.mark.parametrize(
    "error",
    [
        ProtocolError(-32042, "open a page", {"elicitations": []}),
        NotFoundError("Resource not found", data={"uri": "x://a"}),
        RetryableToolError("Too many", "why", "wait", 5, {"a": 1}),
        UpstreamError("refused", "why", status_code=429),
        NetworkTransportError("gone", kind=ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, can_retry=True),
    ],
)
def test_an_error_is_the_same_in_another_process(error: MCPError) -> None:
    members = error_members(error)
    other = error_of(decode(encode(members)))
    assert error_members(other) == members
    assert isinstance(other, ToolExecutionError if "kind" in members else type(error))


FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
MORE: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {"listChanged": True},
}
ALLOWED: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "roots": {}}
ANN, BOB = Caller("ann"), Caller("bob")

kit = Toolkit("kit", prefix=False)


@kit.tool
async def declared(context: Context[Any]) -> dict[str, Any]:
    """Return the capabilities of the client, and its session."""
    return {"capabilities": dict(context.client.capabilities), "session": context.session_id}


def host_of(transports: list[str], **section: Any) -> Host:
    server = {"prefix": False, "revision": "2025-11-25", **section}
    config = {
        "host": {"autoload": False, "transports": transports},
        "plugins": {"upstreams": {"servers": {"far": server}, "first_list_seconds": 30}},
    }
    return Host(config, mount={"far": Host({"host": {"autoload": False}}, toolkits={"kit": kit})})


async def seen(host: Host, capabilities: Any, caller: Caller = LOCAL, *, lists: bool = True) -> Any:
    """Return the capabilities that the server sees when a client calls it, and the session."""
    client = CallingClient(revision="2025-11-25", capabilities=capabilities)
    if lists:
        await host.dispatch(Call("tools/list", caller=caller, client=client))
    outcome: Any = await host.dispatch(Call("tools/call", {"name": "declared"}, caller=caller, client=client))
    result = outcome.value["structuredContent"]
    return result["capabilities"], result["session"]


@pytest.mark.parametrize("start", ["eager", "required"])
@pytest.mark.parametrize(("capabilities", "expected"), [({}, {}), (FORMS, FORMS), (MORE, ALLOWED)])
async def test_the_only_client_of_a_host_decides(start: str, capabilities: Any, expected: Any) -> None:
    async with host_of(["stdio"], start=start) as host:
        await host.dispatch(Call("tools/list"))  # it is no request of the client
        assert (await seen(host, capabilities))[0] == expected
        assert (await seen(host, MORE))[0] == expected


async def test_clients_that_share_a_session_decide_nothing() -> None:
    async with host_of(["http"]) as host:
        assert [(await seen(host, capabilities))[0] for capabilities in ({}, MORE)] == [ALLOWED, ALLOWED]


async def test_the_client_of_each_user_decides() -> None:
    async with host_of(["http"], identity="user") as host:
        clients = [(ANN, {}), (BOB, MORE), (ANN, FORMS), (ANN, {})]
        answers = [await seen(host, capabilities, caller) for caller, capabilities in clients]
        assert [capabilities for capabilities, _ in answers] == [{}, ALLOWED, FORMS, {}]
        sessions = [session for _, session in answers]
        assert (len(set(sessions)), sessions[3]) == (3, sessions[0])


async def test_a_client_over_stdio_decides(tmp_path: Path) -> None:
    config = tmp_path / "hostconfig.toml"
    config.write_text("[host]\nautoload = false\n" + toml("far", peer(prefix=False, revision="2025-06-18")))
    program = Program(str(PEGBOARD), ["stdio", "--config", str(config)])
    async with Client(program, capabilities=FORMS) as client:
        assert "declared" in await names(client)
        assert (await client.call("declared"))["structuredContent"] == FORMS
