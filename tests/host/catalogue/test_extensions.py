"""Methods, notifications, topics and extensions of plugins: which are served, and which results are valid."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.plugin import (
    Extension,
    Method,
    NotificationHandler,
    Plugin,
    ProtocolError,
    Subscription,
    Topic,
    as_failure,
)
from pegboard.types import Call, CallNext, Client, Failure, MethodResult, Outcome, Resource, Tool
from tests.host.hosting import failure, kit_of, make_host, plugin_of

ACME = "com.acme/x"
DECLARES = Client("c", "1", "2026-07-28", {"extensions": {ACME: {}}})
JOB = Extension(ACME, result_types=frozenset({"job"}))


async def answer(call: Call) -> Outcome:
    return MethodResult({"said": call.params.get("say")})


async def note(call: Call) -> None:
    """Take note of nothing."""


def subscribe(call: Call, wanted: Any, notify: Any) -> Subscription | None:
    return None


def adding(*contributions: Any, **others: Any) -> type[Plugin]:
    return plugin_of(register_methods=contributions, **others)


def loaded(**plugins: type[Plugin]) -> Host:
    host = make_host(plugins=plugins)
    host.load()
    return host


def messages(host: Host) -> list[str]:
    return [str(problem) for problem in host.problems]


OWN = "the specification defines"
INVALID: list[tuple[Any, str]] = [
    (Method("tools/call", answer), OWN),
    (Method("notifications/jobs", answer), "are reserved"),
    (Method("a/b", answer, capability=("tools", "x")), "the host advertises"),
    (Method("tasks/get", answer, capability=("tasks",), until="2026-07-28"), "ends with revision 2025-11-25"),
    (Method("x/get", answer, ACME), "method 'x/get' belongs to 'com.acme/x', which no plugin provides"),
    (NotificationHandler("notifications/cancelled", note), OWN),
    (Extension("jobs"), "lacks its prefix"),
    (Extension(ACME, {"x": float("nan")}), "must be a JSON object"),
    (Extension(ACME, result_types=frozenset({"complete"})), OWN),
    (Extension(ACME, option="face"), "there is no option 'face'; there are: ui"),
    (Topic("toolsListChanged", ACME, subscribe), OWN),
]


@pytest.mark.requirement("EXT-01")
def test_an_invalid_contribution_is_reported_and_not_served() -> None:
    for contribution, why in INVALID:
        host = loaded(p=adding(contribution))
        (message,) = messages(host)
        assert why in message
        assert "plugin 'p'" in message
        assert not any(host.for_protocols.contributed)


@pytest.mark.parametrize(
    ("first", "second", "claimed"),
    [
        ([Extension(ACME), Method("x/get", answer, ACME)], [Method("x/get", answer)], "method 'x/get'"),
        ([Extension(ACME), Method("x/get", answer, ACME)], [Extension(ACME)], f"extension '{ACME}'"),
        ([JOB], [JOB._replace(identifier="org.b/y")], "result type 'job'"),
    ],
)
def test_neither_of_two_claimants_is_served_nor_their_extensions(first: Any, second: Any, claimed: str) -> None:
    host = loaded(a=adding(*first, Method("x/put", answer, ACME)), b=adding(*second, Method("y/get", answer)))
    assert any(
        f"{claimed} is claimed by plugin 'a' and plugin 'b'; neither is served" in message for message in messages(host)
    )
    assert list(host.for_protocols.contributed.methods) == ["y/get"]
    assert host.for_protocols.contributed.extensions == {}


def test_an_extension_with_an_invalid_method_is_not_served_at_all() -> None:
    host = loaded(a=adding(Extension(ACME), Method("rpc.x", answer, ACME), Method("x/get", answer, ACME)))
    assert any(
        f"extension '{ACME}' is not served, because a part of it is invalid" in message for message in messages(host)
    )
    assert not any(host.for_protocols.contributed)


async def give(result: MethodResult, client: Client = DECLARES) -> Outcome:
    """Return the outcome of a call that middleware ends with a result."""

    async def around(call: Call, call_next: CallNext) -> Outcome:
        return result

    async with make_host(plugins={"p": adding(JOB, middleware=[around])}) as host:
        return await host.dispatch(Call("tools/call", {"name": "x"}, client=client))


@pytest.mark.requirement("EXT-05", "MSG-14")
@pytest.mark.parametrize("capabilities", [{}, {"extensions": {ACME: None}}, {"extensions": []}])
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

    async def outer(context: Context) -> str:
        return str(await context.tools.call("inner"))

    async with make_host(kit_of(outer), plugins={"p": adding(JOB, middleware=[around])}) as host:
        await failure(host, "outer", client=DECLARES)
    assert "can be sent only to clients, not to a calling tool" in caplog.text


DEEP: Any = 1
for _ in range(101):
    DEEP = {"a": DEEP}
RESERVED = ("io.modelcontextprotocol/serverInfo", "com.mcp/x", "dev.mcp.tools/x", "progressToken", "traceparent", "ui")


@pytest.mark.requirement("MSG-18")
@pytest.mark.parametrize(
    ("result", "why"),
    [
        (MethodResult({}, "input_required"), "no enabled extension defines the result type 'input_required'"),
        (MethodResult({"resultType": "job"}), "not by a member resultType"),
        *((MethodResult({"_meta": {key: 1}}), "is reserved") for key in RESERVED),
        (MethodResult({"_meta": {"com..x/y": 1}}), "labels of letters"),
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
    ("key", "valid"), [("io.modelcontextprotocol/x-state", True), ("ui", False), (RESERVED[0], False)]
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


def describe(item: Tool | Resource, own: Any, resources: Any) -> dict[str, Any] | None:
    if own == "fall":
        raise KeyError("fell")
    if own == "foreign":
        return {"io.modelcontextprotocol/serverInfo": 1}
    return {"com.acme/note": own, "x": {"about": item.name}}


DESCRIBING = adding(Extension(ACME, describe=describe, option="ui"), Method("x/get", answer, ACME))
PLAIN = {"com.example/team": "red"}


def kit_saying(own: Any, option: str = "") -> Toolkit:
    kit = Toolkit("k", prefix=False)
    options: dict[str, Any] = {option: own} if option else {"extensions": {ACME: own}}
    kit.tool(name="tool", description="Do nothing.", meta=PLAIN, **options)(lambda: "")
    return kit


@pytest.mark.parametrize("option", ["", "ui"])
async def test_an_extension_describes_tools_and_is_off_without_its_plugin(option: str) -> None:
    described = {**PLAIN, "com.acme/note": "hello", "x": {"about": "tool"}}
    for plugins, meta in (({"p": DESCRIBING}, described), ({}, PLAIN)):
        async with make_host(kit_saying("hello", option), plugins=plugins) as host:
            assert messages(host) == []
            assert host.assembly.tools["tool"].tool.meta == meta
            assert list(host.for_protocols.contributed.extensions) == ([ACME] if plugins else [])


@pytest.mark.parametrize(("own", "why"), [("fall", "KeyError: 'fell'"), ("foreign", "is reserved")])
def test_a_tool_that_an_extension_rejects_is_not_served(own: str, why: str) -> None:
    host = make_host(kit_saying(own), plugins={"p": DESCRIBING})
    assert list(host.load().tools) == []
    (message,) = messages(host)
    assert "tool 'tool'" in message
    assert why in message


@pytest.mark.requirement("MSG-18", "MSG-20")
def test_the_meta_of_a_tool_or_resource_is_checked() -> None:
    kit = Toolkit("k")
    wrong: list[tuple[Any, str]] = [
        *(({key: 1}, "is reserved") for key in ("pegboard/own", *RESERVED)),
        ({"com.example/x": DEEP}, "the value of 'com.example/x' is nested more than 100 levels deep"),
        ({"bad key": 1}, "letters and digits"),
        ({"com.example/x": float("nan")}, "NaN"),
        (["x"], "must be a dict"),
    ]
    for number, (meta, _) in enumerate(wrong):
        kit.tool(name=f"t{number}", meta=meta, description="Do nothing.")(lambda: "")
    kit.resource("x://y", meta=wrong[0][0])(lambda: "")
    vendors = {"openai/outputTemplate": "ui://widget/a.html", "com.example/team": {"members": [1, None]}, "plain": 1}
    kit.tool(name="valid", meta=vendors, description="Do nothing.")(lambda: "")
    host = make_host(kit)
    assembly = host.load()
    assert [bound.tool.meta for bound in assembly.tools.values()] == [vendors]
    assert assembly.resources == {}
    ordered = sorted(messages(host), key=lambda message: "x://y" in message)
    for (_, why), message in zip([*wrong, wrong[0]], ordered, strict=True):
        assert "its meta: " in message
        assert why in message
