"""The contracts of protocols and methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from docs.examples.plugins.method import EXTENSION, ClockPlugin
from docs.examples.plugins.protocol import WordsProtocol
from pegboard.plugin import Extension, Method, ProtocolError, StreamProtocol, encode
from pegboard.types import Call, Caller, MethodResult
from pegboard_plugins.protocols.mcp import McpPlugin
from pegboard_plugins.protocols.mcp.settings import McpConfig
from pegboard_testing import MethodContract, StreamProtocolContract
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, variant

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "contract", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class TestMcp(StreamProtocolContract):
    def make(self) -> StreamProtocol:
        (protocol,) = McpPlugin(McpConfig()).register_protocols()
        return protocol

    def call(self, tool: str, number: int) -> bytes:
        return encode(message(number, "tools/call", {"name": tool, "_meta": META}))


class TestMcpSession(TestMcp):
    def call(self, tool: str, number: int) -> bytes:
        return encode(message(number, "tools/call", {"name": tool}))

    def opening(self) -> list[bytes]:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        return [encode(message(0, "initialize", params)), encode(begun)]


def message(number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def serving(change: Callable[..., Any]) -> Any:
    """Return a protocol that serves in another way, given the sound `serve` and its arguments."""

    async def serve(self: Any, *arguments: Any) -> Any:
        async def sound(*changed: Any) -> Any:
            return await WordsProtocol.serve(self, *changed)

        return await change(self, sound, *arguments)

    return variant(WordsProtocol, serve=serve)


async def drops(self: Any, sound: Any, connection: Any, *others: Any) -> Any:
    connection.send = lambda message: None
    return await sound(connection, *others)


async def as_one_caller(self: Any, sound: Any, connection: Any, messages: Any, host: Any, caller: Caller) -> Any:
    return await sound(connection, messages, host, Caller("ada"))


async def to_the_last(self: Any, sound: Any, connection: Any, *others: Any) -> Any:
    self.last, connection.send_own = connection, connection.send

    def send(message: bytes) -> None:
        self.last.send_own(message)  # the last connection when the message is sent

    connection.send = send
    return await sound(connection, *others)


async def strict(self: Any, sound: Any, connection: Any, messages: Any, *others: Any) -> Any:
    async def checked() -> Any:
        async for line in messages:
            yield line.decode().encode()

    return await sound(connection, checked(), *others)


async def finishes_always(self: Any, sound: Any, connection: Any, *others: Any) -> Any:
    connection.finishes = True
    return await sound(connection, *others)


async def never_finishes(self: Any, sound: Any, connection: Any, *others: Any) -> Any:
    connection.finishes = False
    return await sound(connection, *others)


async def goes_on(self: Any, sound: Any, *arguments: Any) -> Any:
    return await asyncio.shield(asyncio.ensure_future(sound(*arguments)))


async def floods(self: Any, sound: Any, connection: Any, messages: Any, host: Any, caller: Caller) -> Any:
    async for line in messages:
        await host.dispatch(Call("tools/call", {"name": line.decode()}, caller))
        connection.send(b"answer")


async def tells(self: Any, sound: Any, connection: Any, *others: Any) -> Any:
    send = connection.send
    connection.send = lambda message: send(message + b" KeyError: contract-canary-0123456789")
    return await sound(connection, *others)


PROTOCOLS: Faults = [
    (variant(WordsProtocol, name=" "), "test_it_has_a_name"),
    (serving(drops), "test_each_call_is_answered"),
    (serving(as_one_caller), "test_a_call_has_the_caller_of_its_connection"),
    (serving(to_the_last), "test_connections_are_independent"),
    (serving(drops), "test_failures_are_answered_and_masked"),
    (serving(tells), "test_failures_are_answered_and_masked"),
    (serving(strict), "test_invalid_messages_do_not_end_the_connection"),
    (serving(finishes_always), "test_calls_end_with_their_client"),
    (serving(never_finishes), "test_calls_are_finished_if_the_connection_says_so"),
    (serving(goes_on), "test_it_ends_if_it_is_cancelled"),
    (serving(floods), "test_a_client_that_does_not_read_is_not_read"),
    (variant(WordsProtocol, check_tool=lambda self, tool: tool.input_schema["type"]), "test_it_checks_tools"),
]


async def change(call: Any) -> Any:
    call.params["changed"] = True
    return MethodResult()


async def shield(call: Call) -> Any:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return MethodResult()


async def untyped(call: Call) -> Any:
    return MethodResult({"format": call.params.get("format", "iso").upper()})


async def unknown_type(call: Call) -> Any:
    return MethodResult({}, "job")


async def not_json(call: Call) -> Any:
    return MethodResult({"now": object()})


async def accept(call: Call) -> Any:
    return MethodResult()


def clock(handler: Any, name: str = "clock/now") -> Callable[[], Iterable[Any]]:
    """Return a function that returns the extension of the example with another method."""

    def contributions() -> Iterable[Any]:
        return [Extension(EXTENSION), Method(name, handler, extension=EXTENSION)]

    return contributions


def busy() -> Iterable[Any]:
    """Return a method that rejects a request while another runs."""
    running: list[Call] = []

    async def alone(call: Call) -> Any:
        if running:
            raise ProtocolError(-32602, "busy")
        running.append(call)
        await asyncio.sleep(0)
        running.clear()
        return MethodResult()

    return clock(alone)()


def sound_clock() -> Iterable[Extension | Method]:
    return ClockPlugin(None).register_methods()


METHODS: Faults = [
    (clock(accept, "tools/call"), "test_the_host_serves_them"),
    (lambda: [Method("clock/now", accept, extension=EXTENSION)], "test_the_host_serves_them"),
    (clock(not_json), "test_each_request_gets_a_result"),
    (clock(accept), "test_invalid_requests_are_rejected"),
    (clock(untyped), "test_unexpected_parameters_are_no_faults"),
    (clock(unknown_type), "test_result_types_belong_to_the_extension"),
    (clock(change), "test_the_parameters_of_a_request_are_not_changed"),
    (clock(shield), "test_a_cancelled_request_ends"),
    (busy, "test_concurrent_requests_are_independent"),
]
REQUESTS = {
    "requests": lambda self: [("clock/now", {}), ("clock/now", {"format": "seconds"})],
    "invalid_requests": lambda self: [("clock/now", {"format": "stardate"})],
}
LINES = {"call": lambda self, tool, number: tool.encode()}
MUTANTS = [
    Mutants(StreamProtocolContract, WordsProtocol, PROTOCOLS, LINES),
    Mutants(MethodContract, sound_clock, METHODS, REQUESTS),
]
