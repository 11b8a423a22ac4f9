"""The contract of transports: a third party's keeps it, and a faulty one breaks each rule."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import itertools
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import SkipTest

import pytest

from pegboard.plugin import Transport, TransportContext
from pegboard.testing import FarEnd, Lines, TransportContract
from pegboard.testing.contracts import contract
from pegboard.types import ANONYMOUS, LOCAL, Request, Response
from tools.install import ROOT

LIMIT = 4 * 2**20


def sample() -> ModuleType:
    """Return the module of a third party, from the samples."""
    path = ROOT / "tests" / "samples" / "acme_unix" / "acme_unix" / "__init__.py"
    spec = importlib.util.spec_from_file_location("acme_unix_sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class OnSockets(TransportContract):
    """For transports that listen on a path and speak lines."""

    def make(self) -> Transport:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "socket"
        return self.made(self.path)

    def made(self, path: Path) -> Transport:
        transport: Transport = sample().UnixTransport(path)
        return transport

    def dispose(self, made: Transport) -> None:
        self.folder.cleanup()

    async def connect(self, transport: Transport) -> FarEnd:
        return Lines(*await asyncio.open_unix_connection(self.path, limit=LIMIT))

    def make_unopenable(self) -> Transport:
        return self.made(Path("/nowhere/at/all"))


class TestUnixSocket(OnSockets):
    """The sample's."""


# --- one that can be told to be bad in many ways

FAULTS = {
    "no name": "test_it_has_a_name",
    "says nothing": "test_it_announces_its_address",
    "says it twice": "test_it_announces_its_address",
    "no peer": "test_a_connection_names_its_peer",
    "trusts all": "test_only_trusted_callers_are_trusted",
    "no caller": "test_only_trusted_callers_are_trusted",
    "forgets who": "test_the_host_identifies_the_caller",
    "lets in": "test_a_rejected_caller_is_not_served",
    "another error": "test_an_unopenable_channel_is_a_transport_error",
    "swallows": "test_messages_arrive_unchanged",
    "shortens": "test_messages_arrive_unchanged",
    "small": "test_a_large_message_arrives",
    "never waits": "test_drain_waits_for_a_slow_reader",
    "never ends": "test_messages_end_with_the_client",
    "minds the late": "test_a_closed_connection_drops_messages",
    "never closes": "test_the_host_can_end_a_connection",
    "one at a time": "test_clients_are_served_concurrently",
    "takes all along": "test_clients_are_served_concurrently",
    "does not stop": "test_it_ends_if_it_is_cancelled",
    "only once": "test_it_can_be_run_again",
}


ASKS = {"asks", "forgets who", "lets in"}
"""What is wrong with those that ask the host who the caller is; nothing with the first."""


class Line:
    """A connection of the transport below."""

    def __init__(self, writer: asyncio.StreamWriter, fault: str) -> None:
        self.peer = "" if fault == "no peer" else "peer"
        self._writer = writer
        self._fault = fault
        self._closed = False

    def send(self, message: bytes) -> None:
        if self._closed:
            if self._fault == "minds the late":
                raise BrokenPipeError
            return
        if self._fault == "swallows" and message == b"50":
            return
        self._writer.write((message[:1000] if self._fault == "shortens" else message) + b"\n")

    async def drain(self) -> None:
        if self._fault != "never waits" and not self._closed:
            await self._writer.drain()

    async def close(self) -> None:
        self._closed = True
        if self._fault != "never closes":
            self._writer.close()


class Bad:
    """Sound, but for one fault."""

    def __init__(self, path: Path, fault: str) -> None:
        self.name = "" if fault == "no name" else "bad"
        self._path = path
        self._fault = fault
        self._lock = asyncio.Lock()
        self._runs = itertools.count()
        self._lines: list[asyncio.Task[Any] | None] = []

    async def run(self, host: TransportContext) -> None:
        if self._fault == "only once" and next(self._runs):
            raise RuntimeError("it ran before")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._lines.append(asyncio.current_task())
            line, caller = Line(writer, self._fault), await self._caller(host)
            if caller == Response(401):
                await line.close()
            elif self._fault == "one at a time":
                async with self._lock:
                    await host.serve(line, self._messages(reader), caller=caller)
            else:
                await host.serve(line, self._messages(reader), caller=caller)

        limit = 65_536 if self._fault == "small" else LIMIT
        if self._fault != "another error" and not self._path.parent.exists():
            from pegboard.plugin import TransportError

            raise TransportError("there is no such folder")
        server = await asyncio.start_unix_server(serve, self._path, limit=limit)
        for _ in range({"says nothing": 0, "says it twice": 2}.get(self._fault, 1)):
            host.opened(str(self._path))
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if self._fault != "does not stop":
                raise
        finally:
            server.close()

    async def _caller(self, host: TransportContext) -> Any:
        if self._fault not in ASKS:
            return {"trusts all": LOCAL, "no caller": None}.get(self._fault, ANONYMOUS)
        headers: Any = {}
        found = await host.authenticate(Request("GET", "/", {}, headers))
        if isinstance(found, Response):
            return ANONYMOUS if self._fault == "lets in" else found
        return ANONYMOUS if self._fault == "forgets who" else found

    async def _messages(self, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        try:
            while line := await reader.readline():
                yield line
            if self._fault == "never ends":
                await asyncio.Event().wait()
        finally:
            for task in self._lines if self._fault == "takes all along" else ():
                if task is not None and task is not asyncio.current_task():
                    task.cancel()


def contract_of(fault: str) -> type[OnSockets]:
    class Faulty(OnSockets):
        trust = "host" if fault in ASKS else "nothing"

        def made(self, path: Path) -> Transport:
            return Bad(path, fault)

    return Faulty


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # who is bad leaves things open
@pytest.mark.parametrize(("fault", "rule"), FAULTS.items())
def test_a_faulty_transport_breaks_the_rule(fault: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MAX_RULE_SECONDS", 0.5)
    with pytest.raises((AssertionError, TimeoutError, OSError, RuntimeError)):
        getattr(contract_of(fault)(), rule)()
    gc.collect()


def test_a_sound_transport_breaks_no_rule() -> None:
    assert contract_of("").broken() == contract_of("asks").broken() == {}
    assert set(FAULTS.values()) == set(TransportContract.rules())


class OneClient(OnSockets):
    """Rules that do not apply are skipped."""

    many = False
    announces = False

    def make_unopenable(self) -> Any:
        return None


def test_rules_that_do_not_apply_are_skipped() -> None:
    for rule in (
        "test_clients_are_served_concurrently",
        "test_it_announces_its_address",
        "test_an_unopenable_channel_is_a_transport_error",
        "test_the_host_identifies_the_caller",
        "test_a_rejected_caller_is_not_served",
    ):
        with pytest.raises(SkipTest):
            getattr(OneClient(), rule)()
