"""The rules of HTTP routes (`pegboard.plugin.Route`)."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import suppress
from typing import ClassVar

from pegboard.hookspecs import hookimpl
from pegboard.host import Host
from pegboard.plugin.base import Plugin
from pegboard.plugin.middleware import Middleware
from pegboard.plugin.routes import Route
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.http import EventStream, Request, Response
from pegboard_testing.contracts.contract import Contract, rule
from pegboard_testing.in_memory_host import ConnectOptions, Kit, Observed, in_memory_host

INVALID_BODIES = (
    b"", b"\0", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b'{"a": 1, "a": 2}', b"[" * 5000, b"x" * 100_000,
)  # fmt: skip
"""Bodies that few handlers expect."""
STRANGERS = (ANONYMOUS, Caller("contract-stranger", scopes=frozenset({"contract"})))
"""Callers without the rights of an operator."""


class RouteContract(Contract[Route]):
    """The rules of a route. The route's handler receives a host with the toolkits in `kits`.

    Attributes:
        kits: toolkits and plugins that the host serves, as for `pegboard_testing.connect`.
    """

    kits: ClassVar[Sequence[Kit]] = ()

    @abstractmethod
    def make(self) -> Route | Awaitable[Route]:
        """Return a route."""

    @abstractmethod
    def requests(self) -> Sequence[Request]:
        """Return requests that the route handles successfully. Create each with `http_request`."""

    @rule
    async def test_its_method_and_path_are_valid(self, route: Route) -> None:
        """The host matches both exactly, except for `*`."""
        assert re.fullmatch(r"[A-Z]+|\*", route.method), f"its method is {route.method!r}"
        assert re.fullmatch(r"/[^?#\s]*", route.path), f"its path is {route.path!r}"

    @rule
    async def test_its_policy_is_named(self, route: Route) -> None:
        """An authenticator or "public" decides about callers."""
        assert isinstance(route.auth, str), f"its policy is {route.auth!r}"
        assert route.auth.strip(), "its policy is empty"

    @rule
    async def test_its_handler_responds(self, route: Route) -> None:
        """Each request gets a valid HTTP response with a status below 400."""
        async with self._host() as host:
            for request in self.requests():
                response = await _respond(route, request, host)
                if isinstance(response, Response):
                    assert response.status < 400, (
                        f"{_name(request)} got status {response.status}: {response.body[:500]!r}"
                    )

    @rule
    async def test_unexpected_requests_are_client_errors(self, route: Route) -> None:
        """A request with a missing header or an invalid body gets a response with a status below 500."""
        async with self._host() as host:
            for request in self.requests():
                variants = [request._replace(body=body) for body in INVALID_BODIES]
                variants += [request._replace(query={}), request._replace(query=dict.fromkeys(("", "a", "\0"), "\0"))]
                for variant in variants:
                    response = await _respond(route, variant, host)
                    if isinstance(response, Response):
                        assert response.status < 500, (
                            f"{_name(variant)} {variant.body[:80]!r} got status {response.status}"
                        )

    @rule
    async def test_concurrent_requests_are_independent(self, route: Route) -> None:
        """The status of a response does not depend on other requests."""
        async with self._host() as host:
            requests = [*self.requests()] * 5
            alone = [await _status(route, request, host) for request in requests]
            together = await asyncio.gather(*[_status(route, request, host) for request in requests])
            assert list(together) == alone, f"alone the requests got {alone}, together {together}"

    @rule
    async def test_a_call_has_the_rights_of_its_caller(self, route: Route) -> None:
        """A call as the operator, or as another user, would give every client of the route these rights."""
        calls: list[Call] = []
        async with self._host(calls) as host:
            for request in self.requests():
                for caller in STRANGERS:
                    calls.clear()
                    with suppress(Exception):  # the handler may require a caller that the route's policy admits
                        await _respond(route, request._replace(caller=caller, channel=ANONYMOUS), host)
                    for call in calls:
                        _check_rights(call, caller)

    @rule
    async def test_an_event_stream_can_be_closed(self, route: Route) -> None:
        """The server closes a stream when its client is gone."""
        async with self._host() as host:
            for request in self.requests():
                response = await _answer(route, request, host)
                if isinstance(response, EventStream):
                    await _close(response)

    def _host(self, calls: list[Call] | None = None) -> Host:
        recorder = _recorder([] if calls is None else calls)
        return in_memory_host(ConnectOptions(self.kits, plugins={"contract_recorder": recorder}), Observed())


def _recorder(calls: list[Call]) -> type[Plugin]:
    """Return a plugin that appends every call to a list, as the handler dispatched it."""

    class Recorder(Middleware):
        outermost = True

        async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
            if not call.path:
                calls.append(call)
            return await call_next(call)

    class RecorderPlugin(Plugin):
        @hookimpl
        def register_middleware(self) -> Iterable[Middleware]:
            return [Recorder()]

    return RecorderPlugin


def _check_rights(call: Call, caller: Caller) -> None:
    """Check that a call has no rights that the caller of its request does not have."""
    who = f"{call.method} ran for {call.caller!r}, and the caller of the request is {caller!r}"
    assert not call.caller.trusted, f"{who}: pass on `request.caller`"
    assert call.caller.subject in (None, caller.subject), f"{who}: pass on `request.caller`"
    assert call.caller.scopes <= caller.scopes, f"{who}: pass on `request.caller`"


async def _answer(route: Route, request: Request, host: Host) -> Response | EventStream:
    answer = route.handler(request, host.for_protocols)
    return answer if isinstance(answer, Response | EventStream) else await answer


async def _respond(route: Route, request: Request, host: Host) -> Response | EventStream:
    """Return the response to a request, checked by the rules of HTTP. A stream is closed."""
    response = await _answer(route, request, host)
    assert isinstance(response, Response | EventStream), f"{_name(request)} got {response!r}"
    for name, value in response.headers.items():
        assert re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name), f"{_name(request)} got the header {name!r}"
        assert re.fullmatch(r"[^\r\n\0]*", value), f"{_name(request)} got the header {name} with {value!r}"
    if isinstance(response, EventStream):
        await _close(response)
        return response
    assert type(response.status) is int, f"{_name(request)} got the status {response.status!r}"
    assert 200 <= response.status < 600, f"{_name(request)} got the status {response.status}"
    assert isinstance(response.body, bytes), f"{_name(request)} got a body of type {type(response.body).__name__}"
    return response


async def _status(route: Route, request: Request, host: Host) -> int:
    response = await _respond(route, request, host)
    return response.status if isinstance(response, Response) else 200


async def _close(stream: EventStream) -> None:
    close = getattr(stream.messages, "aclose", None)
    if close is not None:
        await close()


def _name(request: Request) -> str:
    return f"{request.method} {request.path}"
