"""What of the additions of plugins is advertised in a revision, and who may call what."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard.plugin import Contributions, Extension, Method, NotificationHandler, Plugin, ProtocolError, hookimpl
from pegboard.types import LOCAL, Call, Client, MethodResult, Outcome
from pegboard_plugins.mcp.notification_dispatcher import MAX_RUNNING_NOTIFICATIONS, NotificationDispatcher
from pegboard_plugins.mcp.plugin_extensions import contributed_capabilities, require_method
from tests.host.hosting import make_host, until

ACME = "com.acme/x"


async def answer(call: Call) -> Outcome:
    return MethodResult()


def contributed(*extensions: Extension, methods: Any = ()) -> Contributions:
    return Contributions({one.identifier: one for one in extensions}, {one.name: one for one in methods})


def client(revision: str, **declared: Any) -> Client:
    return Client("c", "1", revision, declared)


@pytest.mark.requirement("EXT-04")
def test_extensions_and_experiments_stand_in_their_places() -> None:
    known = contributed(Extension(ACME, {"a": 1}), Extension("x", experimental=True), Extension("org.b/y"))
    assert contributed_capabilities(known, "2026-07-28") == {
        "extensions": {ACME: {"a": 1}, "org.b/y": {}},
        "experimental": {"x": {}},
    }


@pytest.mark.requirement("EXT-07")
def test_the_capability_of_a_method_is_advertised_where_the_method_is() -> None:
    methods = [
        Method("tasks/list", answer, capability=("tasks", "list"), until="2025-11-25"),
        Method("tasks/run", answer, capability=("tasks", "requests", "tools"), until="2025-11-25"),
        Method("acme/x", answer, ACME, capability=("acme",)),
        Method("acme/y", answer),
    ]
    known = contributed(Extension(ACME, since="2025-06-18"), methods=methods)
    tasks: dict[str, Any] = {"tasks": {"list": {}, "requests": {"tools": {}}}}
    assert contributed_capabilities(known, "2025-03-26") == tasks
    assert contributed_capabilities(known, "2025-11-25") == {**tasks, "acme": {}, "extensions": {ACME: {}}}
    assert contributed_capabilities(known, "2026-07-28") == {"acme": {}, "extensions": {ACME: {}}}


def code(known: Contributions, name: str, who: Client) -> int:
    """0 when the client may call it."""
    try:
        require_method(known, name, who)
    except ProtocolError as error:
        return error.code
    return 0


@pytest.mark.parametrize(
    ("extension", "who", "expected"),
    [
        (Extension(ACME), client("2026-07-28", extensions={ACME: {}}), 0),
        (Extension(ACME), client("2024-11-05", extensions={ACME: {"any": 1}}), 0),
        (Extension(ACME), client("2026-07-28"), -32021),
        (Extension(ACME), client("2026-07-28", extensions=[ACME]), -32021),
        (Extension(ACME), client("2026-07-28", extensions={ACME: True}), -32021),
        (Extension(ACME, negotiated=False), client("2026-07-28"), 0),
        (Extension(ACME, experimental=True), client("2025-11-25", experimental={ACME: {}}), 0),
        (Extension(ACME, since="2026-07-28"), client("2025-11-25", extensions={ACME: {}}), -32601),
        (Extension(ACME, until="2025-11-25"), client("2026-07-28", extensions={ACME: {}}), -32601),
    ],
)
def test_who_may_call_a_method_of_an_extension(extension: Extension, who: Client, expected: int) -> None:
    assert code(contributed(extension, methods=[Method("x/get", answer, ACME)]), "x/get", who) == expected


def test_a_method_of_no_extension_is_for_everybody_while_it_exists() -> None:
    known = contributed(methods=[Method("x/get", answer, since="2025-06-18", until="2025-11-25")])
    assert [code(known, "x/get", client(one)) for one in ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")] == [
        -32601, 0, 0, -32601,
    ]  # fmt: skip
    assert code(known, "x/put", client("2025-11-25")) == -32601


def test_what_is_missing_is_named_in_its_place() -> None:
    known = contributed(Extension("x", experimental=True), methods=[Method("x/get", answer, "x")])
    with pytest.raises(ProtocolError) as caught:
        require_method(known, "x/get", client("2025-11-25"))
    assert caught.value.data == {"requiredCapabilities": {"experimental": {"x": {}}}}


async def test_notifications_beyond_a_bound_are_dropped() -> None:
    heard: list[Call] = []
    gate = asyncio.Event()

    async def dispatch_notification(call: Call) -> None:
        heard.append(call)
        await gate.wait()

    class Listening(Plugin):
        @hookimpl
        def register_methods(self) -> list[NotificationHandler]:
            return [NotificationHandler("notifications/x", dispatch_notification)]

    async with make_host(plugins={"p": Listening}) as host:
        hearing = NotificationDispatcher(host)
        for number in range(MAX_RUNNING_NOTIFICATIONS + 5):
            hearing.dispatch_notification("notifications/x", {"n": number}, LOCAL, None)
        await until(lambda: len(heard) == MAX_RUNNING_NOTIFICATIONS)
        gate.set()
        await until(lambda: not hearing._running)
        hearing.dispatch_notification("notifications/x", {"n": -1}, LOCAL, None)
        await until(lambda: len(heard) > MAX_RUNNING_NOTIFICATIONS)
        assert [call.params["n"] for call in heard] == [*range(MAX_RUNNING_NOTIFICATIONS), -1]
