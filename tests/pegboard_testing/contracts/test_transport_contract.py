"""The contract of transports: the sample of a third party keeps it, and faulty transports break its rules."""

from __future__ import annotations

import asyncio
import runpy
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pegboard.plugin import Transport
from pegboard.types import ANONYMOUS, LOCAL, Response, header_fields
from pegboard_testing import FarEnd, Lines, TransportContract, http_request
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, variant
from tools.install import ROOT

LIMIT = 4 * 2**20
SAMPLE = runpy.run_path(str(ROOT / "tests/samples/acme_unix/acme_unix/__init__.py"))
UNIX, CONNECTION = SAMPLE["UnixTransport"], SAMPLE["UnixConnection"]
PUBLIC = "tcp://0.0.0.0:8000"


class OnSockets(TransportContract):
    """For transports that listen on a path and speak lines."""

    def make(self) -> Transport:
        transport: Transport = UNIX(new_path())
        return transport

    def dispose(self, made: Any) -> None:
        made._path.unlink(missing_ok=True)
        made._path.parent.rmdir()

    async def connect(self, transport: Any) -> FarEnd:
        return Lines(*await asyncio.open_unix_connection(transport._path, limit=LIMIT))

    def make_unopenable(self) -> Any:
        made: Any = self.make()
        made._path.parent.rmdir()
        return made


def new_path() -> Path:
    return Path(tempfile.mkdtemp()) / "socket"


def of(kind: Any) -> Any:
    """Return a function that makes a transport on a new path."""
    return lambda: kind(new_path())


def runs(**host: Any) -> Any:
    """Return the transport with other methods of its host, which receive the real host first."""

    async def run(self: Any, real: Any) -> None:
        changed = {name: partial(change, real) for name, change in host.items()}
        await UNIX.run(self, SimpleNamespace(**{"opened": real.opened, "serve": real.serve} | changed))

    return of(variant(UNIX, run=run))


def line(**members: Any) -> Any:
    """Return the transport with other members of its connections."""
    changed = variant(CONNECTION, **members)
    return runs(serve=lambda host, line, messages: host.serve(changed(line._writer, Path("x")), messages))


def sends(change: Any) -> Any:
    """Return the transport that changes the messages that it sends."""
    return line(send=lambda self, message: CONNECTION.send(self, change(message)))


def announces(address: str, **more: Any) -> Any:
    """Return the transport that announces this address."""
    return runs(opened=lambda host, _, **options: host.opened(address, **{**options, **more}))


async def received(change: Any, host: Any, line: Any, messages: Any) -> None:
    async def changed() -> AsyncIterator[bytes]:
        async for message in messages:
            yield change(message)

    await host.serve(line, changed())


async def endless(host: Any, line: Any, messages: Any) -> None:
    async def and_more() -> AsyncIterator[bytes]:
        async for message in messages:
            yield message
        await asyncio.Event().wait()

    await host.serve(line, and_more())


async def one_by_one(host: Any, line: Any, messages: Any) -> None:
    async with LOCKS.setdefault(id(host), asyncio.Lock()):
        await host.serve(line, messages)


LOCKS: dict[int, asyncio.Lock] = {}


async def refuse_again(self: Any, host: Any) -> None:
    if getattr(self, "ran", False):
        raise OSError("it ran before")
    self.ran = True
    await UNIX.run(self, host)


async def swallow(self: Any, host: Any) -> None:
    with suppress(asyncio.CancelledError):
        await UNIX.run(self, host)


async def raise_error(self: Any, host: Any) -> None:
    raise OSError("there is no such folder")


async def no_drain(self: Any) -> None:
    """Do nothing."""


def send_or_raise(self: Any, message: bytes) -> None:
    if self._writer.is_closing():
        raise ConnectionResetError("the client is gone")
    CONNECTION.send(self, message)


FAULTS: Faults = [
    (of(variant(UNIX, name=" ")), "test_it_has_a_name"),
    (
        runs(opened=lambda host, *arguments, **more: [host.opened(*arguments, **more) for _ in range(2)]),
        "test_it_announces_its_address",
    ),
    (announces(PUBLIC), "test_only_local_addresses_are_announced_as_local"),
    (announces("tools.example:8000"), "test_only_local_addresses_are_announced_as_local"),
    (line(peer=property(lambda self: "", lambda self, value: None)), "test_a_connection_names_its_peer"),
    (
        runs(serve=lambda host, line, messages: host.serve(line, messages, caller=LOCAL)),
        "test_only_trusted_callers_are_trusted",
    ),
    (of(variant(UNIX, run=raise_error)), "test_an_unopenable_channel_is_a_transport_error"),
    (sends(lambda message: b"51" if message == b"50" else message), "test_messages_arrive_unchanged"),
    (sends(bytes.strip), "test_messages_arrive_unchanged"),
    (runs(serve=partial(received, bytes.strip)), "test_messages_arrive_unchanged"),
    (sends(lambda message: message[: 2**16]), "test_a_large_message_arrives"),
    (line(drain=no_drain), "test_drain_waits_for_a_slow_reader"),
    (runs(serve=endless), "test_messages_end_with_the_client"),
    (line(send=send_or_raise), "test_a_closed_connection_drops_messages"),
    (line(close=no_drain), "test_the_host_can_end_a_connection"),
    (runs(serve=one_by_one), "test_clients_are_served_concurrently"),
    (of(variant(UNIX, run=swallow)), "test_it_ends_if_it_is_cancelled"),
    (of(variant(UNIX, run=refuse_again)), "test_it_can_be_run_again"),
]


async def greet(
    host: Any,
    line: Any,
    messages: Any,
    *,
    asked: Any = None,
    found: Any = lambda caller: caller,
    fields: Any = header_fields,
) -> None:
    """Serve the caller of the credential that the client sends first."""
    credential = (await messages.readline()).strip().decode()
    headers = {"Authorization": credential if asked is None else asked(credential)}
    caller = found(await host.authenticate(http_request()._replace(headers=fields(headers))))
    if isinstance(caller, Response):
        await line.close()
    else:
        await host.serve(line, messages, caller=caller)


async def say_hello(self: Any, transport: Any, headers: Mapping[str, str] | None = None) -> FarEnd:
    client = await OnSockets.connect(self, transport)
    await client.send((headers or {}).get("Authorization", "").encode())
    return client


def greets(**faults: Any) -> Any:
    return runs(serve=partial(greet, **faults), authenticate=lambda host, request: host.authenticate(request))


FIRST: list[Any] = []


def remember(caller: Any) -> Any:
    """Return the caller of the first client."""
    FIRST.append(caller)
    return FIRST[0]


IDENTIFIES, REJECTS = "test_the_host_identifies_the_caller", "test_a_rejected_caller_is_not_served"
ASKING: Faults = [
    (greets(asked=lambda credential: ""), IDENTIFIES),
    (greets(asked=str.lower), IDENTIFIES),
    (greets(fields=dict), IDENTIFIES),
    (greets(found=lambda caller: caller if isinstance(caller, Response) else ANONYMOUS), IDENTIFIES),
    (greets(found=remember), IDENTIFIES),
    (greets(found=lambda caller: ANONYMOUS if isinstance(caller, Response) else caller), REJECTS),
]
ANNOUNCED = "test_a_public_address_is_announced_as_public"
PUBLICLY: Faults = [(announces(PUBLIC), ANNOUNCED), (announces(PUBLIC, local=False, policy=None), ANNOUNCED)]
MUTANTS = [
    Mutants(OnSockets, of(UNIX), FAULTS),
    Mutants(OnSockets, greets(), ASKING, {"trust": "host", "connect": say_hello, "connect_with": say_hello}),
    Mutants(OnSockets, announces(PUBLIC, local=False), PUBLICLY, {"make_public": lambda self: self.make()}),
]
