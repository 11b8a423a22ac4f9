"""Messages between processes of different versions."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import Bus, encode
from pegboard_plugins.protocols.mcp.http.session_messages import SessionMessages


def test_unknown_members_are_ignored_and_later_messages_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bus, received = Bus(), list[Any]()
    SessionMessages(bus, "", {"deleted": lambda message, sender: received.append((message["session"], sender))})
    known = {"kind": "deleted", "session": "s", "more": 1}
    for message in (known, {**known, "kind": "moved"}, {**known, "kind": "shared"}):
        bus.deliver("mcp/sessions/", encode(message), 7)
    assert received == [("s", 7)]
    assert caplog.text.count("which has a later version") == 1
