"""What `subscriptions/listen` can be asked for beyond what the specification has: begun whole, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import Contributions, Extension, ProtocolError, Subscription, Topic
from pegboard.types import Call, Client, Notify
from pegboard_plugins.mcp.plugin_extensions import subscribe_topics

ACME = "com.acme/x"
CALL = Call("subscriptions/listen", client=Client("c", "1", "2026-07-28", {"extensions": {ACME: {}}}))
SENT: list[Any] = []


def notify(method: str, params: dict[str, Any]) -> None:
    SENT.append((method, params))


class Topics:
    """Topics that note who listens."""

    def __init__(self) -> None:
        self.open: list[str] = []

    def topic(self, name: str, *, fails: Exception | None = None, has: bool = True) -> Topic:
        def begin(call: Call, wanted: Any, notify: Notify) -> Subscription | None:
            if fails is not None:
                raise fails
            if not has:
                return None
            self.open.append(name)
            notify(f"notifications/{name}", {"of": wanted})
            return Subscription(wanted[:1], lambda: self.open.remove(name))

        return Topic(name, ACME, begin)


def contributed(*topics: Topic, **fields: Any) -> Contributions:
    return Contributions(extensions={ACME: Extension(ACME, **fields)}, topics={one.name: one for one in topics})


@pytest.mark.requirement("LISTEN-01")
def test_what_is_wanted_begins_and_ends() -> None:
    topics = Topics()
    SENT.clear()
    known = contributed(topics.topic("a"), topics.topic("b"), topics.topic("c", has=False))
    begun = subscribe_topics(known, CALL, {"a": [1, 2], "c": [3], "toolsListChanged": True, "unknown": 1}, notify)
    assert begun.honoured == {"a": [1]}
    assert (topics.open, SENT) == (["a"], [("notifications/a", {"of": [1, 2]})])
    begun.close()
    begun.close()
    assert topics.open == []


@pytest.mark.parametrize(("client", "code"), [({}, -32021), ({"extensions": {"com.acme/y": {}}}, -32021)])
def test_a_client_that_does_not_declare_the_extension_gets_nothing(client: Any, code: int) -> None:
    topics = Topics()
    call = CALL._replace(client=CALL.client._replace(capabilities=client))
    with pytest.raises(ProtocolError) as caught:
        subscribe_topics(contributed(topics.topic("a")), call, {"a": [1]}, notify)
    assert caught.value.code == code
    assert caught.value.data == {"requiredCapabilities": {"extensions": {ACME: {}}}}
    assert topics.open == []


def test_what_does_not_exist_in_a_revision_is_left_aside() -> None:
    topics = Topics()
    begun = subscribe_topics(contributed(topics.topic("a"), until="2025-11-25"), CALL, {"a": [1]}, notify)
    assert (begun.honoured, topics.open) == ({}, [])


@pytest.mark.parametrize(
    ("fails", "message"), [(ProtocolError(-32602, "no"), "no"), (KeyError("canary-7f3a91"), "Internal error")]
)
def test_what_has_begun_ends_when_something_fails(fails: Exception, message: str) -> None:
    topics = Topics()
    a, b = topics.topic("a"), topics.topic("b", fails=fails)
    with pytest.raises(Exception, match=message) as caught:
        subscribe_topics(contributed(a, b), CALL, {"a": [1], "b": [1]}, notify)
    assert "canary" not in str(caught.value)
    assert topics.open == []
