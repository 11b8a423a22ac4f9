"""The contract of transports: the one of a third party keeps it, and a faulty one breaks each rule."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from pegboard.plugin import Transport, TransportContext, TransportError
from pegboard.testing import FarEnd, Lines, TransportContract
from pegboard.testing.contracts import contract
from pegboard.types import ANONYMOUS, LOCAL, Request, Response
from tests.host.testing.contracts.faulty import Faults, cases, variant
from tools.install import ROOT

LIMIT = 4 * 2**20


class OnSockets(TransportContract):
    """For transports that listen on a path and speak lines."""

    made: Any

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

    @staticmethod
    def made(path: Path) -> Transport:
        sample = ROOT / "tests" / "samples" / "acme_unix" / "acme_unix" / "__init__.py"
        spec = importlib.util.spec_from_file_location("acme_unix_sample", sample)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        transport: Transport = module.UnixTransport(path)
        return transport


# --- faulty ones


class Line:
    """A connection of the transport below."""

    peer = "peer"
    closed = False

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer

    def send(self, message: bytes) -> None:
        if not self.closed:
            self.writer.write(message + b"\n")

    async def drain(self) -> None:
        if not self.closed:
            await self.writer.drain()

    async def close(self) -> None:
        self.closed = True
        self.writer.close()


class Sound:
    """A transport without a fault."""

    name = "sound"
    line: Any = Line

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = asyncio.Lock()

    async def run(self, host: TransportContext) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            line, caller = self.line(writer), await self.caller(host)
            if isinstance(caller, Response):
                await line.close()
            else:
                await self.serve(host, line, self.messages(reader), caller)

        if not self.path.parent.exists():
            raise TransportError("there is no such folder")
        server = await asyncio.start_unix_server(serve, self.path, limit=LIMIT)
        host.opened(str(self.path))
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()

    async def caller(self, host: TransportContext) -> Any:
        return ANONYMOUS

    async def serve(self, host: TransportContext, line: Any, messages: Any, caller: Any) -> None:
        await host.serve(line, messages, caller=caller)

    async def messages(self, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        while line := await reader.readline():
            yield line


class Asking(Sound):
    """A transport that asks the host for the caller."""

    async def caller(self, host: TransportContext) -> Any:
        headers: Any = {}
        return await host.authenticate(Request("GET", "/", {}, headers))


async def let_in(self: Any, host: TransportContext) -> Any:
    found = await Asking.caller(self, host)
    return ANONYMOUS if isinstance(found, Response) else found


async def forget(self: Any, host: TransportContext) -> Any:
    found = await Asking.caller(self, host)
    return found if isinstance(found, Response) else ANONYMOUS


async def trust(self: Any, host: TransportContext) -> Any:
    return LOCAL


async def run_without_check(self: Any, host: TransportContext) -> None:
    await asyncio.start_unix_server(lambda *_: None, self.path)


async def run_on(self: Any, host: TransportContext) -> None:
    try:
        await Sound.run(self, host)
    except asyncio.CancelledError:
        """Ignore it."""


async def serve_one(self: Any, host: TransportContext, *given: Any) -> None:
    async with self.lock:
        await Sound.serve(self, host, *given)


async def never_end(self: Any, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    async for line in Sound.messages(self, reader):
        yield line
    await asyncio.Event().wait()


async def keep_open(self: Any) -> None:
    self.closed = True


def line(**members: Any) -> Any:
    """Return a transport whose connections have other members."""
    return variant(Sound, line=variant(Line, **members))


FAULTS: Faults = [
    (variant(Sound, name=""), "test_it_has_a_name"),
    (variant(Sound, caller=trust), "test_only_trusted_callers_are_trusted"),
    (variant(Asking, caller=forget), "test_the_host_identifies_the_caller"),
    (variant(Asking, caller=let_in), "test_a_rejected_caller_is_not_served"),
    (variant(Sound, run=run_without_check), "test_an_unopenable_channel_is_a_transport_error"),
    (variant(Sound, messages=never_end), "test_messages_end_with_the_client"),
    (line(close=keep_open), "test_the_host_can_end_a_connection"),
    (variant(Sound, serve=serve_one), "test_clients_are_served_concurrently"),
    (variant(Sound, run=run_on), "test_it_ends_if_it_is_cancelled"),
]


def contract_of(kind: Any, **members: Any) -> type[OnSockets]:
    members["trust"] = "host" if issubclass(kind, Asking) else "nothing"
    checked: type[OnSockets] = variant(OnSockets, made=kind, **members)
    return checked


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a faulty one leaves things open
@pytest.mark.parametrize(("kind", "rule"), cases(FAULTS))
def test_a_faulty_transport_breaks_the_rule(kind: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MAX_RULE_SECONDS", 0.2)
    with pytest.raises((AssertionError, TimeoutError, OSError, RuntimeError)):
        getattr(contract_of(kind)(), rule)()
    gc.collect()


def test_a_sound_transport_breaks_no_rule() -> None:
    assert contract_of(Sound).broken() == contract_of(Asking).broken() == {}


def test_rules_that_do_not_apply_are_skipped() -> None:
    one_client = contract_of(Sound, many=False, announces=False, make_unopenable=lambda self: None)
    for rule in (
        "test_clients_are_served_concurrently",
        "test_it_announces_its_address",
        "test_an_unopenable_channel_is_a_transport_error",
        "test_the_host_identifies_the_caller",
    ):
        with pytest.raises(SkipTest):
            getattr(one_client(), rule)()
