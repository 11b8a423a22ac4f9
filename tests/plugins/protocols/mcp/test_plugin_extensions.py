"""Extensions, methods, topics and notifications of plugins: their capabilities, and the clients that may use them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard import MCPError
from pegboard.plugin import Contributions, Extension, Method, NotificationHandler, ProtocolError, Subscription, Topic
from pegboard.types import LOCAL, Call, Client, MethodResult, Notify, Outcome
from pegboard_plugins.protocols.mcp.notification_dispatcher import MAX_RUNNING_NOTIFICATIONS, NotificationDispatcher
from pegboard_plugins.protocols.mcp.plugin_extensions import require_method, subscribe_topics
from tests.host.hosting import make_host, plugin_of, until

ACME = "com.acme/x"
DECLARED: dict[str, Any] = {"extensions": {ACME: {}}}


async def answer(call: Call) -> Outcome:
    return MethodResult()


def contributed(*extensions: Extension, methods: Any = (), topics: Any = ()) -> Contributions:
    return Contributions(
        extensions={extension.identifier: extension for extension in extensions},
        methods={method.name: method for method in methods},
        topics={topic.name: topic for topic in topics},
    )


def client(revision: str, **declared: Any) -> Client:
    return Client(name="c", version="1", revision=revision, capabilities=declared)


@pytest.mark.parametrize(
    ("extension", "who", "code"),
    [
        (Extension(ACME), client("2024-11-05", extensions={ACME: {"any": 1}}), 0),
        (Extension(ACME), client("2026-07-28"), -32021),
        (Extension(ACME, negotiated=False), client("2026-07-28"), 0),
        (Extension(ACME, experimental=True), client("2025-11-25"), -32021),
        (Extension(ACME, since="2026-07-28"), client("2025-11-25", **DECLARED), -32601),
    ],
)
def test_a_method_of_an_extension_is_for_clients_that_declare_it(extension: Extension, who: Client, code: int) -> None:
    known = contributed(extension, methods=[Method("x/get", answer, ACME)])
    if not code:
        assert require_method(known, "x/get", who).name == "x/get"
        return
    with pytest.raises(ProtocolError) as caught:
        require_method(known, "x/get", who)
    assert caught.value.code == code
    if code == -32021:
        place = "experimental" if extension.experimental else "extensions"
        assert caught.value.data == {"requiredCapabilities": {place: {ACME: {}}}}


@pytest.mark.parametrize(
    ("fails", "declared", "message"),
    [
        (None, {"extensions": {"com.acme/y": {}}}, "declares the extension com.acme/x"),
        (ProtocolError(-32602, "no"), DECLARED, "no"),
        (KeyError("canary-7f3a91"), DECLARED, "Internal error"),
    ],
)
def test_a_failed_subscription_leaves_nothing(fails: Exception | None, declared: dict[str, Any], message: str) -> None:
    opened: list[str] = []

    def begin(call: Call, wanted: Any, notify: Notify) -> Subscription:
        opened.append("a")
        return Subscription(wanted, opened.clear)

    def fail(call: Call, wanted: Any, notify: Notify) -> Subscription:
        assert fails is not None
        raise fails

    known = contributed(Extension(ACME), topics=[Topic("a", ACME, begin), Topic("b", ACME, fail)])
    call = Call("subscriptions/listen", client=client("2026-07-28", **declared))
    with pytest.raises(MCPError, match=message) as caught:
        subscribe_topics(known, call, {"a": [1], "b": [1]}, lambda *sent: None)
    assert "canary" not in str(caught.value)
    assert opened == []


async def test_notifications_beyond_the_limit_are_dropped() -> None:
    received: list[Any] = []
    gate = asyncio.Event()

    async def handle(call: Call) -> None:
        received.append(call.params["n"])
        await gate.wait()

    handling = plugin_of(register_methods=[NotificationHandler("notifications/x", handle)])
    async with make_host(plugins={"p": handling}) as host:
        dispatcher = NotificationDispatcher(host.for_protocols)
        for number in range(MAX_RUNNING_NOTIFICATIONS + 5):
            dispatcher.dispatch_notification("notifications/x", {"n": number}, LOCAL, None)
        await until(lambda: len(received) == MAX_RUNNING_NOTIFICATIONS)
        gate.set()
        await until(lambda: not dispatcher._running)
        dispatcher.dispatch_notification("notifications/x", {"n": -1}, LOCAL, None)
        await until(lambda: len(received) > MAX_RUNNING_NOTIFICATIONS)
        assert received == [*range(MAX_RUNNING_NOTIFICATIONS), -1]
