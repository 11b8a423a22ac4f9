"""Methods, notifications, topics and extensions of plugins: which are served, and which results are valid."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Context, Host, ToolDefinitionError, Toolkit
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
JOB = Extension(ACME, result_types=frozenset({"job"}))


async def answer(call: Call) -> Outcome:
    return MethodResult({"said": call.params.get("say")})


async def note(call: Call) -> None:
    """Take note of nothing."""


def subscribe(call: Call, wanted: Any, notify: Any) -> Subscription | None:
    return None


def adding(*contributions: Any, middleware: MiddlewareFunction | None = None) -> type[Plugin]:
    class Adding(Plugin):
        @hookimpl
        def register_methods(self) -> list[Any]:
            return list(contributions)

        @hookimpl
        def register_middleware(self) -> list[MiddlewareFunction]:
            return [] if middleware is None else [middleware]

    return Adding


def loaded(**plugins: type[Plugin]) -> Host:
    host = make_host(plugins=plugins)
    host.load()
    return host


def messages(host: Host) -> list[str]:
    return [str(problem) for problem in host.problems]


# --- invalid contributions

OWN = "the specification defines"


@pytest.mark.requirement("EXT-01")
@pytest.mark.parametrize(
    ("one", "why"),
    [
        *((Method(name, answer), OWN) for name in ("tools/call", "ping", "logging/setLevel", "subscriptions/listen")),
        *((Method(name, answer), "are reserved") for name in ("rpc.discover", "notifications/jobs")),
        *((Method(name, answer), "ASCII words") for name in ("a b", "", "a//b")),
        (Method(3, answer), "must be a string"),  # type: ignore[arg-type]
        (Method("a/b", None), "must be a function"),  # type: ignore[arg-type]
        (Method("a/b", answer, name_parameter=1), "must be a string"),  # type: ignore[arg-type]
        (Method("a/b", answer, capability=("tools", "x")), "the host advertises"),
        (Method("a/b", answer, capability=("experimental", "x")), "the host advertises"),
        (Method("a/b", answer, capability=("",)), "must be a tuple of names"),
        (Method("a/b", answer, capability="acme"), "must be a tuple of names"),  # type: ignore[arg-type]
        (Method("tasks/get", answer, capability=("tasks",)), "ends with revision 2025-11-25"),
        (Method("tasks/get", answer, capability=("tasks",), until="2026-07-28"), "ends with revision 2025-11-25"),
        (Method("a/b", answer, since="yesterday"), "revisions of the protocol"),
        (NotificationHandler("notifications/cancelled", note), OWN),
        (NotificationHandler("jobs/seen", note), "must begin with 'notifications/'"),
        (NotificationHandler("notifications/seen", "x"), "must be a function"),  # type: ignore[arg-type]
        (Extension("jobs"), "lacks its prefix"),
        (Extension("com.acme/"), "lacks its prefix or its name"),
        (Extension("com..acme/jobs"), "labels of letters"),
        (Extension("1.acme/jobs"), "labels of letters"),
        (Extension("com.acme/jobs-"), "letters and digits"),
        (Extension(ACME, {"x": object()}), "must be a JSON object"),
        (Extension(ACME, {"x": float("nan")}), "must be a JSON object"),
        (Extension(ACME, []), "must be a JSON object"),  # type: ignore[arg-type]
        (Extension(ACME, result_types=frozenset({"complete"})), OWN),
        (Extension(ACME, result_types=frozenset({"input_required"})), OWN),
        (Extension(ACME, result_types="job"), "must be a set of names"),  # type: ignore[arg-type]
        (Extension(ACME, describe="x"), "must be a function"),  # type: ignore[arg-type]
        (Extension(ACME, until="2026"), "revisions of the protocol"),
        (Extension(ACME, option="face"), "there is no option 'face'; there are: ui"),
        (Extension(ACME, mime_types={"ui://": 5}), "its mime_types must map"),  # type: ignore[dict-item]
        (Topic("toolsListChanged", ACME, subscribe), OWN),
        (Topic("jobIds", ACME, None), "a function `subscribe`"),  # type: ignore[arg-type]
        (Method("x/get", answer, ACME), "method 'x/get' belongs to 'com.acme/x', which no plugin provides"),
    ],
)
def test_an_invalid_contribution_is_reported_and_not_served(one: Any, why: str) -> None:
    host = loaded(p=adding(one))
    (message,) = messages(host)
    assert why in message
    assert "plugin 'p'" in message
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
def test_a_valid_contribution_is_served(one: Any) -> None:
    host = loaded(p=adding(one))
    assert messages(host) == []
    assert sum(map(len, host.contributed)) == 1


@pytest.mark.parametrize(
    ("first", "second", "claimed"),
    [
        ([Extension(ACME), Method("x/get", answer, ACME)], [Method("x/get", answer)], "method 'x/get'"),
        ([Extension(ACME), Method("x/get", answer, ACME)], [Extension(ACME)], f"extension '{ACME}'"),
        ([JOB], [JOB._replace(identifier="org.b/y")], "result type 'job'"),
        ([Extension(ACME, option="ui")], [Extension("org.b/y", option="ui")], "option 'ui'"),
        (
            [Extension(ACME, mime_types={"ui://": "text/html"})],
            [Extension("org.b/y", mime_types={"ui://": "text/plain"})],
            "MIME type of ui://",
        ),
    ],
)
def test_neither_of_two_claimants_is_served_nor_their_extensions(first: Any, second: Any, claimed: str) -> None:
    host = loaded(a=adding(*first, Method("x/put", answer, ACME)), b=adding(*second, Method("y/get", answer)))
    assert any(f"{claimed} is claimed by plugin 'a' and plugin 'b'; neither is served" in one for one in messages(host))
    assert not any("no plugin brings" in one for one in messages(host))
    assert list(host.contributed.methods) == ["y/get"]
    assert host.contributed.extensions == {}


def test_an_extension_with_an_invalid_method_is_not_served_at_all() -> None:
    host = loaded(a=adding(Extension(ACME), Method("rpc.x", answer, ACME), Method("x/get", answer, ACME)))
    assert any(f"extension '{ACME}' is not served, because a part of it is invalid" in one for one in messages(host))
    assert not any(host.contributed)


# --- calls


async def test_middleware_runs_around_methods_and_notifications_of_plugins() -> None:
    received: list[Any] = []

    async def receive(call: Call) -> None:
        received.append(call.params)

    async def around(call: Call, call_next: CallNext) -> Outcome:
        outcome = await call_next(call._replace(params={"say": str(call.params["say"]).upper()}))
        assert isinstance(outcome, MethodResult)
        return outcome._replace(value={**outcome.value, "around": call.method})

    plugin = adding(Method("x/say", answer), NotificationHandler("notifications/x", receive), middleware=around)
    async with make_host(plugins={"p": plugin}) as host:
        outcome = await host.dispatch(Call("x/say", {"say": "a"}))
        assert outcome == MethodResult({"said": "A", "around": "x/say"})
        await host.dispatch(Call("notifications/x", {"say": "b"}))
    assert received == [{"say": "B"}]


async def give(result: MethodResult, client: Client = DECLARES) -> Outcome:
    """Return the outcome of a call that middleware ends with a result."""

    async def around(call: Call, call_next: CallNext) -> Outcome:
        return result

    async with make_host(plugins={"p": adding(JOB, middleware=around)}) as host:
        return await host.dispatch(Call("tools/call", {"name": "x"}, client=client))


@pytest.mark.requirement("EXT-05", "MSG-14")
@pytest.mark.parametrize("capabilities", [{}, {"extensions": {}}, {"extensions": {ACME: None}}, {"extensions": []}])
async def test_a_result_type_is_for_clients_that_declare_its_extension(capabilities: dict[str, Any]) -> None:
    result = MethodResult({"jobId": "1"}, "job")
    assert await give(result) is result
    outcome = await give(result, DECLARES._replace(capabilities=capabilities))
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ProtocolError)
    assert outcome.error.code == -32021
    assert outcome.error.data == {"requiredCapabilities": {"extensions": {ACME: {}}}}


async def test_a_result_type_is_not_for_a_tool_that_calls_another(caplog: pytest.LogCaptureFixture) -> None:
    async def around(call: Call, call_next: CallNext) -> Outcome:
        return MethodResult({}, "job") if call.params["name"] == "inner" else await call_next(call)

    kit = Toolkit("k", prefix=False)

    @kit.tool
    async def outer(context: Context) -> str:
        """Call the other."""
        return str(await context.tools.call("inner"))

    async with make_host(kit, plugins={"p": adding(JOB, middleware=around)}) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "outer", "arguments": {}}, client=DECLARES))
    assert isinstance(outcome, Failure)
    assert "can be sent only to clients, not to a calling tool" in caplog.text


DEEP: Any = 1
for _ in range(101):
    DEEP = {"a": DEEP}
RESERVED = (
    "io.modelcontextprotocol/serverInfo", "com.mcp/x", "dev.mcp.tools/x", "io.modelcontextprotocol/related-task",
    "progressToken", "traceparent", "ui", "ui/resourceUri",
)  # fmt: skip


@pytest.mark.requirement("MSG-18")
@pytest.mark.parametrize(
    ("result", "why"),
    [
        (MethodResult({}, "task"), "no enabled extension defines the result type 'task'"),
        (MethodResult({}, "input_required"), "no enabled extension defines"),
        (MethodResult({"resultType": "job"}), "not by a member resultType"),
        *((MethodResult({"_meta": {key: 1}}), "is reserved") for key in RESERVED),
        (MethodResult({"_meta": {"com..x/y": 1}}), "labels of letters"),
        (MethodResult({"_meta": {"com.x/y ": 1}}), "letters and digits"),
        (MethodResult({"_meta": {"com.x/y": object()}}), "Unable to serialize"),
        (MethodResult({"_meta": []}), "must be a dict"),
    ],
)
async def test_an_invalid_result_is_masked_and_logged(
    result: MethodResult, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await give(result)
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "Internal error"
    assert why in caplog.text
    valid = MethodResult({"_meta": {"com.example.mcp/x": 1, "plain": 2, "com.x/": 3}})
    assert await give(valid) is valid


@pytest.mark.requirement("MSG-18")
@pytest.mark.parametrize(
    ("key", "valid"),
    [
        ("io.modelcontextprotocol/x-state", True),
        ("x", True),
        ("ui", False),
        ("io.modelcontextprotocol/serverInfo", False),
    ],
)
async def test_an_official_extension_writes_only_its_own_keys(key: str, valid: bool) -> None:
    async def say(call: Call) -> Outcome:
        return MethodResult({"_meta": {key: 1}})

    official = "io.modelcontextprotocol/x"
    async with make_host(plugins={"p": adding(Extension(official), Method("x/say", say, official))}) as host:
        assert isinstance(await host.dispatch(Call("x/say")), MethodResult if valid else Failure)


def test_a_plugin_can_mask_what_it_catches(caplog: pytest.LogCaptureFixture) -> None:
    failure = as_failure(Call("tools/call", {"name": "x"}), ValueError("canary-7f3a91"))
    assert (failure.error.message, bool(failure.error_id)) == ("Internal error", True)
    assert "canary-7f3a91" in caplog.text
    typed = ProtocolError(-32602, "no")
    assert as_failure(Call("x"), typed) == Failure(typed)


# --- `_meta` of tools and resources


def describe(item: Tool | Resource, said: Any, resources: Any) -> dict[str, Any] | None:
    if said == "wrong":
        raise ToolDefinitionError("it is wrong")
    if said == "fall":
        raise KeyError("fell")
    if said == "foreign":
        return {"org.other.mcp/x": 1, "io.modelcontextprotocol/serverInfo": 1}
    return None if said is None else {"com.acme/note": said, "x": {"about": item.name}}


DESCRIBING = adding(
    Extension(ACME, describe=describe, option="ui", mime_types={"face://": "text/face"}), Method("x/get", answer, ACME)
)
PLAIN = {"com.example/team": "red"}


def kit_saying(said: Any, option: str = "") -> Toolkit:
    kit = Toolkit("k", prefix=False)
    options: dict[str, Any] = {option: said} if option else {"extensions": {} if said is None else {ACME: said}}

    @kit.tool(meta=PLAIN, **options)
    def tool(context: Context) -> str:
        """Do nothing."""
        return ""

    return kit


@pytest.mark.parametrize("option", ["", "ui"])
async def test_an_extension_describes_tools_and_is_off_while_nothing_uses_it(option: str) -> None:
    described = {**PLAIN, "com.acme/note": "hello", "x": {"about": "tool"}}
    for said, plugins, meta in (
        ("hello", {"p": DESCRIBING}, described),
        (None, {"p": DESCRIBING}, PLAIN),
        ("hello", {}, PLAIN),
    ):
        async with make_host(kit_saying(said, option), plugins=plugins) as host:
            assert messages(host) == []
            assert host.assembly.tools["tool"].tool.meta == meta
            assert list(host.contributed.extensions) == ([ACME] if meta is described else [])
            assert isinstance(await host.dispatch(Call("x/get")), MethodResult if meta is described else Failure)


async def test_an_extension_is_turned_on_by_a_tool_that_is_added_later() -> None:
    async with make_host(plugins={"p": DESCRIBING}) as host:
        assert isinstance(await host.dispatch(Call("x/get")), Failure)
        host.catalogue.add(*kit_saying("late").register_tools())
        assert host.assembly.tools["tool"].tool.meta["com.acme/note"] == "late"  # type: ignore[index]
        assert isinstance(await host.dispatch(Call("x/get")), MethodResult)


def test_an_extension_defines_default_mime_types() -> None:
    kit = Toolkit("k")
    kit.resource("face://a")(lambda: "")
    kit.resource("face://b", mime_type="text/own")(lambda: "")
    for plugins, mime_type in (({"p": DESCRIBING}, "text/face"), ({}, None)):
        resources = make_host(kit, plugins=plugins).load().resources
        assert [one.mime_type for one, _ in resources.values()] == [mime_type, "text/own"]


@pytest.mark.parametrize(
    ("said", "why"), [("wrong", "it is wrong"), ("fall", "KeyError: 'fell'"), ("foreign", "is reserved")]
)
def test_a_tool_that_an_extension_rejects_is_not_served(said: str, why: str) -> None:
    host = make_host(kit_saying(said), plugins={"p": DESCRIBING})
    assert list(host.load().tools) == []
    (message,) = messages(host)
    assert "tool 'tool'" in message
    assert why in message


@pytest.mark.requirement("MSG-18", "MSG-20")
@pytest.mark.parametrize(
    ("meta", "why"),
    [
        *(({key: 1}, "is reserved") for key in ("pegboard/own", *RESERVED)),
        ({"com.example/x": DEEP}, "the value of 'com.example/x' is nested more than 100 levels deep"),
        ({"bad key": 1}, "letters and digits"),
        ({"com.example/x": object()}, "Unable to serialize"),
        ({"com.example/x": float("nan")}, "NaN"),
        (["x"], "must be a dict"),
    ],
)
def test_the_meta_of_a_tool_or_resource_is_checked(meta: Any, why: str) -> None:
    kit = Toolkit("k")
    kit.tool(meta=meta, description="Do nothing.")(lambda: "")
    vendors = {"openai/outputTemplate": "ui://widget/a.html", "com.example/team": {"members": [1, None]}, "plain": 1}
    kit.tool(name="valid", meta=vendors, description="Do nothing.")(lambda: "")
    kit.resource("x://y", meta=meta)(lambda: "")
    host = make_host(kit)
    assembly = host.load()
    assert len(messages(host)) == 2
    assert all("its meta: " in one and why in one for one in messages(host))
    assert assembly.resources == {}
    assert [bound.tool.meta for bound in assembly.tools.values()] == [vendors]
