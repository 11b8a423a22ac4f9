"""The contract of transports: the sample of a third party keeps it, and faulty ones break its rules."""

from __future__ import annotations

import asyncio
import gc
import runpy
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegboard.plugin import Transport
from pegboard.testing import FarEnd, Lines, TransportContract
from pegboard.testing.contracts import contract
from pegboard.types import ANONYMOUS, LOCAL, Request, Response
from tests.host.testing.contracts.faulty import Faults, cases, variant
from tools.install import ROOT

LIMIT = 4 * 2**20
SAMPLE = runpy.run_path(str(ROOT / "tests/samples/acme_unix/acme_unix/__init__.py"))
UNIX, CONNECTION = SAMPLE["UnixTransport"], SAMPLE["UnixConnection"]


class OnSockets(TransportContract):
    """For transports that listen on a path and speak lines."""

    made = UNIX

    def make(self) -> Transport:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "socket"
        transport: Transport = self.made(self.path)
        return transport

    def dispose(self, made: Transport) -> None:
        self.folder.cleanup()

    async def connect(self, transport: Transport) -> FarEnd:
        return Lines(*await asyncio.open_unix_connection(self.path, limit=LIMIT))

    def make_unopenable(self) -> Any:
        return self.made(Path("/nowhere/at/all"))


class TestUnixSocket(OnSockets):
    """The sample's."""


# --- the sample with faults


def serves(serve: Any, **host: Any) -> Any:
    """Return the transport with another way to serve a connection, and other methods of the host."""

    async def run(self: Any, real: Any) -> None:
        await UNIX.run(self, SimpleNamespace(**{"opened": real.opened, "serve": partial(serve, real)} | host))

    return variant(UNIX, run=run)


def line(**members: Any) -> Any:
    """Return the transport with other members of its connections."""
    changed = variant(CONNECTION, **members)
    return serves(lambda host, line, messages: host.serve(changed(line._writer, Path("x")), messages))


async def ask(host: Any, line: Any, messages: Any, found: Any = lambda caller: caller) -> None:
    """Serve the caller whom the host identifies."""
    headers: Any = {}
    caller = found(await host.authenticate(Request("GET", "/", {}, headers)))
    if isinstance(caller, Response):
        await line.close()
    else:
        await host.serve(line, messages, caller=caller)


async def raise_error(self: Any, host: Any) -> None:
    raise OSError("there is no such folder")


def swallow(self: Any, message: bytes) -> None:
    if message != b"50":
        CONNECTION.send(self, message)


def let_in(found: Any) -> Any:
    return ANONYMOUS if isinstance(found, Response) else found


def forget(found: Any) -> Any:
    return found if isinstance(found, Response) else ANONYMOUS


FAULTS: Faults = [
    (
        serves(lambda host, line, messages: host.serve(line, messages, caller=LOCAL)),
        "test_only_trusted_callers_are_trusted",
    ),
    (serves(partial(ask, found=forget)), "test_the_host_identifies_the_caller"),
    (serves(partial(ask, found=let_in)), "test_a_rejected_caller_is_not_served"),
    (variant(UNIX, run=raise_error), "test_an_unopenable_channel_is_a_transport_error"),
    (line(send=swallow), "test_messages_arrive_unchanged"),
]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a faulty one leaves things open
@pytest.mark.parametrize(("kind", "rule"), cases(FAULTS))
def test_a_faulty_transport_breaks_the_rule(kind: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MAX_RULE_SECONDS", 0.2)
    asks = rule in ("test_the_host_identifies_the_caller", "test_a_rejected_caller_is_not_served")
    with pytest.raises((AssertionError, TimeoutError, OSError)):
        getattr(variant(OnSockets, made=kind, trust="host" if asks else "nothing")(), rule)()
    gc.collect()


def test_a_transport_that_asks_the_host_breaks_no_rule() -> None:
    assert variant(OnSockets, made=serves(ask), trust="host").broken() == {}
