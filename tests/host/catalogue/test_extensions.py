"""What plugins add to the protocol: what is refused, what is left when two claim one thing, what a result may say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import Context, Host, ToolDefinitionError, Toolkit, ToolResult
from pegboard.plugin import (
    Extension,
    Method,
    MiddlewareFunction,
    NotificationHandler,
    Plugin,
    ProtocolError,
    Subscription,
    Topic,
    as_failure,
    hookimpl,
)
from pegboard.types import Call, CallNext, Client, Failure, MethodResult, Outcome, Resource, Tool
from tests.host.hosting import make_host

ACME = "com.acme/x"
DECLARES = Client("c", "1", "2026-07-28", {"extensions": {ACME: {}}})


async def answer(call: Call) -> Outcome:
    return MethodResult({"said": call.params.get("say")})


async def note(call: Call) -> None:
    """Take note of nothing."""


def subscribe(call: Call, wanted: Any, notify: Any) -> Subscription | None:
    return None


def adding(*contributions: Any, middleware: Iterable[MiddlewareFunction] = ()) -> type[Plugin]:
    class Adding(Plugin):
        @hookimpl
        def register_methods(self) -> list[Any]:
            return list(contributions)

        @hookimpl
        def register_middleware(self) -> list[MiddlewareFunction]:
            return list(middleware)

    return Adding


def looked_at(**plugins: type[Plugin]) -> Host:
    host = make_host(plugins=plugins)
    host.load()
    return host


def told(host: Host) -> list[str]:
    return [str(problem) for problem in host.problems]


# --- what is refused


@pytest.mark.requirement("EXT-01")
@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Method("tools/call", answer), "the specification's own"),
        (Method("ping", answer), "the specification's own"),
        (Method("logging/setLevel", answer), "the specification's own"),
        (Method("subscriptions/listen", answer), "the specification's own"),
        (Method("rpc.discover", answer), "no methods to call"),
        (Method("notifications/jobs", answer), "no methods to call"),
        (Method("a b", answer), "words of ASCII"),
        (Method("", answer), "words of ASCII"),
        (Method("a//b", answer), "words of ASCII"),
        (Method(3, answer), "no text"),  # type: ignore[arg-type]
        (Method("a/b", None), "no function"),  # type: ignore[arg-type]
        (Method("a/b", answer, name_parameter=1), "no text"),  # type: ignore[arg-type]
        (Method("a/b", answer, capability=("tools", "x")), "advertised by the host"),
        (Method("a/b", answer, capability=("experimental", "x")), "advertised by the host"),
        (Method("a/b", answer, capability=("",)), "no tuple of names"),
        (Method("a/b", answer, capability="acme"), "no tuple of names"),  # type: ignore[arg-type]
        (Method("tasks/get", answer, capability=("tasks",)), "ends with revision 2025-11-25"),
        (Method("tasks/get", answer, capability=("tasks",), until="2026-07-28"), "ends with revision 2025-11-25"),
        (Method("a/b", answer, since="yesterday"), "revisions of the protocol"),
        (NotificationHandler("notifications/cancelled", note), "the specification's own"),
        (NotificationHandler("jobs/seen", note), "begins with 'notifications/'"),
        (NotificationHandler("notifications/seen", "x"), "no function"),  # type: ignore[arg-type]
        (Extension("jobs"), "lacks its prefix"),
        (Extension("com.acme/"), "lacks its prefix or its name"),
        (Extension("com..acme/jobs"), "labels of letters"),
        (Extension("1.acme/jobs"), "labels of letters"),
        (Extension("com.acme/jobs-"), "letters and digits"),
        (Extension(ACME, {"x": object()}), "no JSON object"),
        (Extension(ACME, {"x": float("nan")}), "no JSON object"),
        (Extension(ACME, []), "no JSON object"),  # type: ignore[arg-type]
        (Extension(ACME, result_types=frozenset({"complete"})), "the specification's own"),
        (Extension(ACME, result_types=frozenset({"input_required"})), "the specification's own"),
        (Extension(ACME, result_types="job"), "no set of names"),  # type: ignore[arg-type]
        (Extension(ACME, describe="x"), "no function"),  # type: ignore[arg-type]
        (Extension(ACME, until="2026"), "revisions of the protocol"),
        (Topic("toolsListChanged", ACME, subscribe), "the specification's own"),
        (Topic("jobIds", ACME, None), "a function `subscribe`"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_refused_by_name(one: Any, why: str) -> None:
    host = looked_at(p=adding(one))
    (problem,) = told(host)
    assert why in problem
    assert "plugin 'p'" in problem
    assert "it is not served" in problem
    assert not any(host.contributed)


@pytest.mark.parametrize(
    "one",
    [
        Method("jobs/get", answer),
        Method("tasks/get", answer, capability=("tasks", "list"), until="2025-11-25"),
        Method("acme.jobs/get_it", answer, capability=("acme", "jobs"), since="2025-06-18", until="2025-11-25"),
        NotificationHandler("notifications/tasks/status", note),
        Extension("io.modelcontextprotocol/tasks", result_types=frozenset({"task"}), since="2026-07-28"),
        Extension("a.b-c.d3/x_y.z-1"),
        Extension("anything", experimental=True),
    ],
)
def test_what_can_be_is_served(one: Any) -> None:
    host = looked_at(p=adding(one))
    assert told(host) == []
    assert sum(map(len, host.contributed)) == 1


# --- two that claim one thing, and extensions that break


def test_of_two_methods_with_one_name_neither_is_served_nor_their_extensions() -> None:
    host = looked_at(
        a=adding(Extension(ACME), Method("x/get", answer, ACME), Method("x/put", answer, ACME)),
        b=adding(Method("x/get", answer), Method("y/get", answer)),
    )
    assert any("method 'x/get' is claimed by plugin 'a' and plugin 'b'; neither is served" in one for one in told(host))
    assert any(f"extension '{ACME}' is not served, as not all of it can be" in one for one in told(host))
    assert list(host.contributed.methods) == ["y/get"]
    assert host.contributed.extensions == {}


def test_of_two_extensions_with_one_identifier_neither_is_served() -> None:
    host = looked_at(
        a=adding(Extension(ACME), Method("x/get", answer, ACME)), b=adding(Extension(ACME), Method("y/get", answer))
    )
    assert any(f"extension '{ACME}' is claimed by plugin 'a' and plugin 'b'" in one for one in told(host))
    assert list(host.contributed.methods) == ["y/get"]
    assert not any("no plugin brings" in one for one in told(host))


def test_of_two_extensions_with_one_result_type_neither_is_served() -> None:
    host = looked_at(
        a=adding(Extension(ACME, result_types=frozenset({"job"}))),
        b=adding(Extension("org.b/y", result_types=frozenset({"job"}))),
    )
    assert any("result type 'job' is claimed by plugin 'a' and plugin 'b'" in one for one in told(host))
    assert host.contributed.extensions == {}


def test_an_extension_with_a_wrong_method_is_not_served_at_all() -> None:
    host = looked_at(a=adding(Extension(ACME), Method("rpc.x", answer, ACME), Method("x/get", answer, ACME)))
    assert not any(host.contributed)


def test_what_belongs_to_an_extension_that_nobody_brings_is_reported() -> None:
    host = looked_at(a=adding(Method("x/get", answer, ACME)))
    (problem,) = told(host)
    assert "plugin 'a'" in problem
    assert "method 'x/get' belongs to 'com.acme/x', which no plugin brings" in problem
    assert not any(host.contributed)


# --- running


async def test_a_method_runs_with_middleware_around_it() -> None:
    async def louder(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call._replace(params={"say": str(call.params["say"]).upper()}))
        assert isinstance(outcome, MethodResult)
        return outcome._replace(value={**outcome.value, "around": call.method})

    plugin = adding(Method("x/say", answer), middleware=[louder])
    async with make_host(plugins={"p": plugin}) as host:
        outcome = await host.dispatch(Call("x/say", {"say": "a"}))
        assert outcome == MethodResult({"said": "A", "around": "x/say"})


async def test_a_notification_reaches_its_handler_and_says_nothing() -> None:
    heard: list[Any] = []

    async def hear(call: Call) -> None:
        heard.append(call.params)

    async with make_host(plugins={"p": adding(NotificationHandler("notifications/x", hear))}) as host:
        assert await host.dispatch(Call("notifications/x", {"a": 1})) == MethodResult()
    assert heard == [{"a": 1}]


async def give(result: MethodResult, client: Client, *contributions: Any) -> Outcome:
    """What a call of a tool comes to where middleware ends it with a result."""

    async def around(call: Call, call_next: CallNext) -> Outcome:
        return result

    plugin = adding(*contributions, middleware=[around])
    async with make_host(plugins={"p": plugin}) as host:
        return await host.dispatch(Call("tools/call", {"name": "x"}, client=client))


JOB = Extension(ACME, result_types=frozenset({"job"}))


@pytest.mark.requirement("EXT-05")
async def test_a_kind_of_result_goes_to_clients_that_declare_its_extension() -> None:
    result = MethodResult({"jobId": "1"}, "job")
    assert await give(result, DECLARES, JOB) is result


@pytest.mark.requirement("EXT-05", "MSG-14")
@pytest.mark.parametrize("capabilities", [{}, {"extensions": {}}, {"extensions": {ACME: None}}, {"extensions": []}])
async def test_a_kind_of_result_goes_to_nobody_else(capabilities: dict[str, Any]) -> None:
    outcome = await give(MethodResult({"jobId": "1"}, "job"), DECLARES._replace(capabilities=capabilities), JOB)
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ProtocolError)
    assert outcome.error.code == -32021
    assert outcome.error.data == {"requiredCapabilities": {"extensions": {ACME: {}}}}


async def test_a_kind_of_result_does_not_go_to_a_tool_that_calls_another(caplog: pytest.LogCaptureFixture) -> None:
    async def around(call: Call, call_next: CallNext) -> Outcome:
        return MethodResult({}, "job") if call.params["name"] == "inner" else await call_next(call)

    kit = Toolkit("k", prefix=False)

    @kit.tool
    async def outer(context: Context) -> str:
        """Call the other."""
        return str(await context.tools.call("inner"))

    plugin = adding(JOB, middleware=[around])
    async with make_host(kit, plugins={"p": plugin}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "outer", "arguments": {}}, client=DECLARES))
    assert isinstance(outcome, Failure)
    assert "is for clients, not for a tool that calls another" in caplog.text


@pytest.mark.requirement("MSG-18")
@pytest.mark.parametrize(
    ("result", "why"),
    [
        (MethodResult({}, "task"), "no extension that is on defines the result type 'task'"),
        (MethodResult({}, "input_required"), "no extension that is on defines"),
        (MethodResult({"resultType": "job"}), "not by a member resultType"),
        (MethodResult({"_meta": {"io.modelcontextprotocol/serverInfo": {}}}), "is reserved"),
        (MethodResult({"_meta": {"com.mcp/x": 1}}), "is reserved"),
        (MethodResult({"_meta": {"dev.mcp.tools/x": 1}}), "is reserved"),
        (MethodResult({"_meta": {"io.modelcontextprotocol/related-task": {}}}), "is reserved"),
        (MethodResult({"_meta": {"progressToken": 1}}), "is reserved"),
        (MethodResult({"_meta": {"traceparent": "00"}}), "is reserved"),
        (MethodResult({"_meta": {"ui": {}}}), "is reserved"),
        (MethodResult({"_meta": {"ui/resourceUri": "ui://x"}}), "is reserved"),
        (MethodResult({"_meta": {"com..x/y": 1}}), "labels of letters"),
        (MethodResult({"_meta": {"com.x/y ": 1}}), "letters and digits"),
        (MethodResult({"_meta": {"com.x/y": object()}}), "Unable to serialize"),
        (MethodResult({"_meta": []}), "not a dict"),
    ],
)
async def test_what_a_plugin_must_not_say_is_masked_and_told_to_the_log(
    result: MethodResult, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await give(result, DECLARES, JOB)
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "Internal error"
    assert why in caplog.text


@pytest.mark.requirement("MSG-18")
async def test_a_plugin_may_say_what_is_its_own() -> None:
    result = MethodResult({"_meta": {"com.example.mcp/x": 1, "plain": 2, "com.x/": 3}})
    assert await give(result, DECLARES, JOB) is result


async def test_an_official_extension_writes_the_keys_that_are_its_own() -> None:
    official = Extension("io.modelcontextprotocol/x")

    async def say(call: Call) -> Outcome:
        return MethodResult({"_meta": {call.params["key"]: 1}})

    plugin = adding(official, Method("x/say", say, official.identifier))
    async with make_host(plugins={"p": plugin}) as host:
        fine = await host.dispatch(Call("x/say", {"key": "io.modelcontextprotocol/x-state"}))
        assert isinstance(fine, MethodResult)
        assert isinstance(await host.dispatch(Call("x/say", {"key": "x"})), MethodResult)
        assert isinstance(await host.dispatch(Call("x/say", {"key": "ui"})), Failure)
        core = await host.dispatch(Call("x/say", {"key": "io.modelcontextprotocol/serverInfo"}))
        assert isinstance(core, Failure)


async def test_who_runs_a_call_masks_what_it_raises(caplog: pytest.LogCaptureFixture) -> None:
    failure = as_failure(Call("tools/call", {"name": "x"}), ValueError("canary-7f3a91"))
    assert (failure.error.message, bool(failure.error_id)) == ("Internal error", True)
    assert "canary-7f3a91" in caplog.text
    typed = ProtocolError(-32602, "no")
    assert as_failure(Call("x"), typed) == Failure(typed)


# --- what tools and resources say for an extension


def describe(item: Tool | Resource, said: Any, resources: Any) -> dict[str, Any] | None:
    if said == "wrong":
        raise ToolDefinitionError("it is wrong")
    if said == "fall":
        raise KeyError("fell")
    if said == "foreign":
        return {"org.other.mcp/x": 1, "io.modelcontextprotocol/serverInfo": 1}
    return None if said is None else {"com.acme/note": said, "x": {"about": getattr(item, "name", "")}}


def kit_saying(said: Any) -> Toolkit:
    kit = Toolkit("k", prefix=False)

    @kit.tool(extensions={} if said is None else {ACME: said}, meta={"com.example/team": "red"})
    def tool(context: Context) -> str:
        """Do nothing."""
        return ""

    return kit


async def served(said: Any, plugin: type[Plugin] | None) -> tuple[Any, list[str], Any]:
    plugins = {} if plugin is None else {"p": plugin}
    async with make_host(kit_saying(said), plugins=plugins) as host:
        tool = host.assembly.tools.get("tool")
        return tool and tool.tool.meta, told(host), host.contributed.extensions


DESCRIBING = adding(Extension(ACME, describe=describe), Method("x/get", answer, ACME))


async def test_what_a_tool_says_for_an_extension_is_in_its_meta() -> None:
    meta, problems, extensions = await served("hello", DESCRIBING)
    assert meta == {"com.example/team": "red", "com.acme/note": "hello", "x": {"about": "tool"}}
    assert problems == []
    assert list(extensions) == [ACME]


async def test_an_extension_that_describes_is_off_while_nothing_uses_it() -> None:
    meta, problems, extensions = await served(None, DESCRIBING)
    assert (meta, problems, extensions) == ({"com.example/team": "red"}, [], {})


async def test_what_a_tool_says_for_an_extension_that_is_off_is_of_no_account() -> None:
    meta, problems, extensions = await served("hello", None)
    assert (meta, problems, extensions) == ({"com.example/team": "red"}, [], {})


async def test_a_description_waits_for_a_tool_that_is_added_later() -> None:
    async with make_host(kit_saying(None), plugins={"p": DESCRIBING}) as host:
        assert isinstance(await host.dispatch(Call("x/get")), Failure)
        host.catalogue.add(kit_saying("late").register_tools()[0]._replace(name="late"))  # type: ignore[index]
        assert host.assembly.tools["late"].tool.meta["com.acme/note"] == "late"  # type: ignore[index]
        assert isinstance(await host.dispatch(Call("x/get")), MethodResult)


@pytest.mark.parametrize(
    ("said", "why"), [("wrong", "it is wrong"), ("fall", "KeyError: 'fell'"), ("foreign", "is reserved")]
)
async def test_a_tool_that_an_extension_cannot_serve_is_not_served(said: str, why: str) -> None:
    meta, problems, _ = await served(said, DESCRIBING)
    assert meta is None
    assert len(problems) == 1
    assert "tool 'tool'" in problems[0]
    assert why in problems[0]


@pytest.mark.requirement("MSG-18", "MSG-20")
@pytest.mark.parametrize(
    ("meta", "why"),
    [
        ({"io.modelcontextprotocol/x": 1}, "is reserved"),
        ({"ui": {}}, "is reserved"),
        ({"bad key": 1}, "letters and digits"),
        ({"com.example/x": object()}, "Unable to serialize"),
        ({"com.example/x": float("nan")}, "NaN"),
        (["x"], "not a dict"),
    ],
)
def test_the_meta_of_a_tool_or_resource_is_checked(meta: Any, why: str) -> None:
    kit = Toolkit("k")

    @kit.tool(meta=meta)
    def tool() -> str:
        """Do nothing."""
        return ""

    @kit.resource("x://y", meta=meta)
    def resource() -> str:
        return ""

    host = make_host(kit)
    host.load()
    assert len(told(host)) == 2
    assert all("its meta: " in one and why in one for one in told(host))
    assert not host.assembly.tools
    assert not host.assembly.resources


async def test_a_tool_of_middleware_that_knows_nothing_of_it_still_runs() -> None:
    async with make_host(kit_saying("hello"), plugins={"p": DESCRIBING}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "tool", "arguments": {}}))
        assert isinstance(outcome, ToolResult)
