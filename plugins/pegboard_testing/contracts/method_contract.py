"""The rules of methods that plugins add to the protocol (`pegboard.plugin.Method`)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, TypeAlias, get_args

from pegboard.errors import MCPError, ProtocolError
from pegboard.hookspecs import hookimpl
from pegboard.plugin.base import Plugin
from pegboard.plugin.methods import Extension, Method, NotificationHandler, Topic
from pegboard.types.callers import Client
from pegboard.types.calls import Call, MethodResult, Outcome
from pegboard.wire.meta_keys import INTERNAL_ERROR
from pegboard_client.handshake import STATELESS
from pegboard_testing.contracts.contract import Contract, rule
from pegboard_testing.in_memory import connect

Contribution: TypeAlias = Extension | Method | NotificationHandler | Topic
"""A contribution of the hook `register_methods`."""
MethodRequest: TypeAlias = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""

UNEXPECTED: Sequence[Any] = (None, True, -1, 1e308, "", "\0", "x" * 100_000, [], [[1]], {}, {"": None})
"""Values that few parameters may have."""
_OUTCOMES = get_args(Outcome)


class MethodContract(Contract[Iterable[Contribution]]):
    """The rules of methods. A host serves them to a client that declares their extensions.

    Attributes:
        revision: the revision of MCP in which the client sends the requests.
    """

    revision: ClassVar[str] = STATELESS

    @abstractmethod
    def make(self) -> Iterable[Contribution] | Awaitable[Iterable[Contribution]]:
        """Return the methods with their extensions, as `register_methods` does."""

    @abstractmethod
    def requests(self) -> Sequence[MethodRequest]:
        """Return requests that succeed: the name of a method, and its parameters."""

    def invalid_requests(self) -> Sequence[MethodRequest]:
        """Return requests that a method rejects."""
        return ()

    @rule
    async def test_the_host_serves_them(self, contributions: Iterable[Contribution]) -> None:
        """The host refuses names of the specification, and methods without their extension."""
        async with self._connect([*contributions]) as client:
            assert not client.problems, "; ".join(map(str, client.problems))

    @rule
    async def test_each_request_gets_a_result(self, contributions: Iterable[Contribution]) -> None:
        """The result is JSON."""
        async with self._connect([*contributions]) as client:
            for name, params in self.requests():
                try:
                    await client.request(name, params)
                except ProtocolError as error:
                    raise AssertionError(f"{name} {params} got error {error.code}: {error.message}") from None

    @rule
    async def test_invalid_requests_are_rejected(self, contributions: Iterable[Contribution]) -> None:
        """The client receives an error that says what is wrong, such as `ProtocolError(-32602, ...)`."""
        async with self._connect([*contributions]) as client:
            for name, params in self.invalid_requests():
                refusal = None
                try:
                    await client.request(name, params)
                except ProtocolError as error:
                    refusal = error
                assert refusal is not None, f"{name} accepted {params}"
                assert refusal.code != INTERNAL_ERROR, f"{name} {params} got the internal error {refusal.message!r}"
                assert refusal.message.strip(), f"the error for {name} {params} has no message"

    @rule
    async def test_unexpected_parameters_are_no_faults(self, contributions: Iterable[Contribution]) -> None:
        """A client may send any JSON: the method responds or raises an `MCPError`."""
        methods = _methods(contributions)
        for name, params in self.requests():
            for variant in _variants(params):
                outcome = await _outcome(methods[name], self._call(name, variant, methods))
                assert isinstance(outcome, (MCPError, *_OUTCOMES)), (
                    f"{name} {str(variant)[:200]} ended with {outcome!r}"
                )

    @rule
    async def test_result_types_belong_to_the_extension(self, contributions: Iterable[Contribution]) -> None:
        """Clients know the type "complete", and those of the extension that they declare."""
        contributions = [*contributions]
        methods = _methods(contributions)
        types = {item.identifier: item.result_types for item in contributions if isinstance(item, Extension)}
        for name, params in self.requests():
            outcome = await _outcome(methods[name], self._call(name, params, methods))
            known = {"complete", *types.get(methods[name].extension or "", ())}
            if isinstance(outcome, MethodResult):
                assert outcome.result_type in known, f"{name} returned the result type {outcome.result_type!r}"

    @rule
    async def test_the_parameters_of_a_request_are_not_changed(self, contributions: Iterable[Contribution]) -> None:
        """Middleware around the method reads them afterwards."""
        methods = _methods(contributions)
        for name, params in self.requests():
            call = self._call(name, params, methods)
            await _outcome(methods[name], call)
            assert call.params == params, f"the parameters of {name} became {call.params}"

    @rule
    async def test_a_cancelled_request_ends(self, contributions: Iterable[Contribution]) -> None:
        """The method does not suppress `asyncio.CancelledError`."""
        methods = _methods(contributions)
        for name, params in self.requests():
            task = asyncio.ensure_future(_outcome(methods[name], self._call(name, params, methods)))
            await asyncio.sleep(0)
            if not task.done():
                task.cancel()
                await asyncio.wait((task,))
                assert task.cancelled(), f"{name} went on after it was cancelled"

    @rule
    async def test_concurrent_requests_are_independent(self, contributions: Iterable[Contribution]) -> None:
        """A request succeeds or fails independently of other requests."""
        methods = _methods(contributions)
        requests = [*self.requests(), *self.invalid_requests()] * 3
        calls = [self._call(name, params, methods) for name, params in requests]
        alone = [type(await _outcome(methods[call.method], call)) for call in calls]
        together = await asyncio.gather(*[_outcome(methods[call.method], call) for call in calls])
        assert [type(outcome) for outcome in together] == alone, "concurrent requests end differently from single ones"

    def _connect(self, contributions: Sequence[Contribution]) -> connect:
        class ContributingPlugin(Plugin):
            @hookimpl
            def register_methods(self) -> Iterable[Contribution]:
                return contributions

        return connect(
            plugins={"contract_methods": ContributingPlugin},
            capabilities=_capabilities(contributions),
            revision=self.revision,
            strict=False,
        )

    def _call(self, name: str, params: Mapping[str, Any], methods: Mapping[str, Method]) -> Call:
        extensions: dict[str, Any] = {identifier: {} for method in methods.values() if (identifier := method.extension)}
        client = Client("contract", "1", self.revision, {"extensions": extensions, "experimental": extensions})
        return Call(name, deepcopy(dict(params)), client=client, request_id=1)


def _methods(contributions: Iterable[Contribution]) -> dict[str, Method]:
    return {item.name: item for item in contributions if isinstance(item, Method)}


def _capabilities(contributions: Iterable[Contribution]) -> dict[str, Any]:
    """Return the capabilities of a client that declares all extensions."""
    declared: dict[str, dict[str, Any]] = {"extensions": {}, "experimental": {}}
    for extension in (item for item in contributions if isinstance(item, Extension)):
        declared["experimental" if extension.experimental else "extensions"][extension.identifier] = {}
    return declared


def _variants(params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield parameters with a missing, an unknown or an unexpected member."""
    yield {}
    yield {**params, "contract_unknown": 1}
    for name in params:
        yield from ({**params, name: value} for value in UNEXPECTED)


async def _outcome(method: Method, call: Call) -> Any:
    """Return the outcome of a call, or what its handler raised."""
    try:
        return await method.handler(call)
    except Exception as error:  # noqa: BLE001 - the rules judge it
        return error
