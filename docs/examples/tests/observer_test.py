"""The rules of observers, and a session of a host with the observer."""

import asyncio
import logging

import pytest

from docs.examples.plugins.observer import SessionLog, SessionLogPlugin
from pegboard.plugin import Observer, SessionInfo
from pegboard.types import Client
from pegboard_testing import ObserverContract, connect


class TestObserver(ObserverContract):
    def make(self) -> Observer:
        return SessionLog()


async def open_session() -> None:
    """Start and end a session of a host with the observer."""
    async with connect(plugins={"session_log": SessionLogPlugin}) as client:
        host = client.host.for_protocols
        host.session_started("key", SessionInfo(id=None, client=Client("agent"), transport="stdio"))
        host.session_ended("key")


def test_sessions_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "session_log")
    asyncio.run(open_session())
    assert caplog.messages[-2:] == ["agent connected over stdio", "agent stayed 0 s; 0 threads are busy"]
