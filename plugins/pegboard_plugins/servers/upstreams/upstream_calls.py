"""Calls of mounted items: the requests to the server, their questions, progress and log messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard
from weakref import WeakKeyDictionary

from pegboard import ClientError, Context, UpstreamError
from pegboard.plugin import Bus, ProtocolError, text_problems
from pegboard_client import Asked, QuestionHandler, ServerTimeoutError
from pegboard_plugins.servers.upstreams.parked_calls import Parked, ParkedCall, ParkedCalls
from pegboard_plugins.servers.upstreams.questions import (
    MAX_QUESTIONS,
    UpstreamQuestion,
    asks_in_rounds,
    declares,
)
from pegboard_plugins.servers.upstreams.upstream_errors import request_error
from pegboard_plugins.servers.upstreams.user_links import UserKey, user_of
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST

if TYPE_CHECKING:
    from pegboard_client import Client
    from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer

PresentContext: TypeAlias = Callable[[], Context[Any]]
"""Returns the latest call of the client, which a parked call outlives."""

_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_PASSED_META = ("traceparent", "tracestate", "baggage", _LOG_LEVEL)
"""The members of a request's `_meta` that a server receives too."""
_HOST_PREFIX = "pegboard/"
"""The prefix of the members of `_meta` that only this host writes."""
MAX_PROGRESS_CHARACTERS = 1000
"""The maximum length of a server's progress message."""
MAX_ABANDONED_SECONDS = 300.0
"""How long a server may ask for a call that has ended, as far as the host expects it."""


class UpstreamRequest(NamedTuple):
    """A request to a server.

    Attributes:
        method: the method.
        params: its parameters.
        repeatable: True if repeating the request has no further effect.
    """

    method: str
    params: dict[str, Any]
    repeatable: bool = True


class UpstreamCalls:
    """The calls of one server.

    Args:
        server: the server.
        bus: the bus of the plugin.
    """

    def __init__(self, server: UpstreamServer, bus: Bus) -> None:
        self._server = server
        self._rules = server.rules
        self._parked = ParkedCalls(bus, server.name)
        self._abandoned = AbandonedCalls()
        self._running: dict[Client, list[PresentContext]] = {}
        self._only_users: WeakKeyDictionary[Client, UserKey | None] = WeakKeyDictionary()

    async def result(self, context: Context[Any], request: UpstreamRequest) -> dict[str, Any]:
        """Send a request for a call and return its result. Pass the server's questions to the client of the call.

        Raises:
            MCPError: the server cannot be reached, or responded with an error.
        """
        capabilities = self._rules.capabilities(context.client.capabilities)
        if not capabilities:
            send = partial(self._exchange, context=context, request=request, capabilities={})
            return self._final(await self._server.use(context, send, repeatable=request.repeatable))
        return await self._in_rounds(context, request, capabilities)

    def close(self) -> None:
        """End the calls that wait for answers."""
        self._parked.close()

    def running(self, client: Client) -> Context[Any] | None:
        """Return the only call that uses a connection. Return None if several or anonymous users have used it.

        A message may belong to an earlier call, and must not reach another user.
        """
        running = self._running.get(client, ())
        user = self._only_users.get(client)
        return running[0]() if len(running) == 1 and user is not None and user.caller.is_known else None

    # --- rounds

    async def _in_rounds(
        self, context: Context[Any], request: UpstreamRequest, capabilities: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Send a request. As long as the result asks questions, repeat the request with the answers."""
        once = context.once if asks_in_rounds(context) else _always
        final: list[dict[str, Any]] = []
        pending: dict[str, Any] | None = None
        answers: dict[str, Any] = {}
        names: set[str] = set()

        async def step() -> dict[str, Any] | None:
            result = await self._advance(context, request, capabilities, pending, answers)
            if isinstance(result, Parked):
                return result._asdict()
            if result.get("resultType") == "input_required":
                return {"state": result.get("requestState"), "questions": result.get("inputRequests", {})}
            final.append(result)
            return None

        for number in count(1):
            kept = await once(f"{self._server.name}-{number}", step)
            if kept is None:
                break
            pending, answers = kept, await self._answers(context, kept["questions"], names)
        if not final:  # the call is part of another call, which runs again
            await step()
        return self._final(final[0])

    async def _advance(
        self,
        context: Context[Any],
        request: UpstreamRequest,
        capabilities: Mapping[str, Any],
        pending: Mapping[str, Any] | None,
        answers: Mapping[str, Any],
    ) -> Parked | dict[str, Any]:
        """Send the request, or continue it with the answers to its pending questions."""
        if pending is not None and "key" in pending:
            return await self._parked.resume(pending["key"], answers, context)
        if pending is not None:
            state = {} if pending["state"] is None else {"requestState": pending["state"]}
            more = {"inputResponses": answers} if answers else {}
            request = request._replace(params={**request.params, **state, **more})
        parks = asks_in_rounds(context)

        async def send(client: Client) -> Parked | dict[str, Any]:
            if parks and not client.stateless:
                return await self._parked.begin(context, partial(self._park, request))
            return await self._exchange(client, context, request, capabilities, self._answerer(context))

        try:
            return await self._server.use(context, send, repeatable=request.repeatable)
        except ProtocolError as error:
            if error.code != INVALID_PARAMS or not answers or asks_in_rounds(context):
                raise
            raise ClientError(error.message) from None  # the client's answer is invalid, and not its request

    async def _park(self, request: UpstreamRequest, call: ParkedCall) -> dict[str, Any]:
        """Send a request whose questions end the client's call."""

        async def ask(question: Asked) -> Mapping[str, Any]:
            self._supported(call.context, question)
            return await call.ask(question)

        send = partial(self._exchange, context=call.context, request=request, capabilities={}, ask=ask, call=call)
        return await self._server.use(call.context, send, repeatable=request.repeatable)

    async def _answers(self, context: Context[Any], questions: Any, names: set[str]) -> dict[str, Any]:
        """Ask the client of a call the questions of one round. Return the answers by the server's keys.

        Args:
            context: the call.
            questions: the questions by the server's keys.
            names: the keys of earlier rounds. The keys of this round are added.

        Raises:
            ClientCapabilityError: the client does not support a question.
            UpstreamError: the questions are invalid.
        """
        if not isinstance(questions, Mapping) or len(questions) > MAX_QUESTIONS:
            raise self._invalid(f"its questions are not an object, or more than {MAX_QUESTIONS}")
        host_questions, keys = {}, {}
        for key, question in questions.items():
            name = key
            while name in names:  # the client tells questions of all rounds apart
                name = f"{name}-again"
            names.add(name)
            keys[name] = key
            try:
                members = question if isinstance(question, Mapping) else {}
                host_questions[name] = self._rules.question(context, members.get("method"), members.get("params"))
            except ProtocolError as error:
                raise self._invalid(error.message) from error
        answers = await context.ask(**host_questions) if host_questions else {}
        return {keys[name]: answer for name, answer in answers.items()}

    def _answerer(self, context: Context[Any]) -> QuestionHandler:
        """Return a function that passes a question of a session to the client of a call."""

        async def ask(request: Asked) -> Mapping[str, Any]:
            question = self._supported(context, request)
            try:
                answer: Mapping[str, Any] = (await context.ask(question=question))["question"]
            except ClientError as error:
                raise ProtocolError(error.code or INTERNAL_ERROR, error.message) from error
            return answer

        return ask

    def _supported(self, context: Context[Any], request: Asked) -> UpstreamQuestion:
        """Return a question of a session, for the client of a call.

        Raises:
            ProtocolError: the question is refused, or the client does not declare the capability.
        """
        try:
            question = self._rules.question(context, request.method, dict(request.params))
        except ProtocolError as error:
            self._server.log.write(logging.WARNING, ", a question was refused", error.message)
            raise
        if not declares(context, question.needs()):
            raise ProtocolError(INVALID_PARAMS, f"the client does not support {question.needs()}")
        return question

    # --- one request

    async def _exchange(
        self,
        client: Client,
        context: Context[Any],
        request: UpstreamRequest,
        capabilities: Mapping[str, Any],
        ask: QuestionHandler | None = None,
        call: ParkedCall | None = None,
    ) -> dict[str, Any]:
        """Send one request. Report its progress to the client of the call.

        Raises:
            MCPError: the connection was lost, or the server responded with an error.
        """
        method, params, _ = request
        own = context.meta
        meta = {**{name: own[name] for name in _PASSED_META if name in own}, **self._server.meta(context)}
        if context.client.revision and not asks_in_rounds(context):
            meta[_LOG_LEVEL] = "debug"  # the host sends the messages that the client's session requested

        def present() -> Context[Any]:
            return context if call is None else call.context

        def report(progress: dict[str, Any]) -> None:
            _report(present(), progress)

        using = self._running.setdefault(client, [])
        using.append(present)
        user = user_of(context)
        if self._only_users.setdefault(client, user) != user:
            self._only_users[client] = None
        noting: AbstractContextManager[None] = nullcontext()
        if ask is not None and self._server.config.command is not None:
            ask, noting = self._abandoned.guarded(client, user, ask), self._abandoned.noted(client, user)
        try:
            with noting:
                return await client.exchange(
                    method,
                    params,
                    timeout=self._server.config.timeout,
                    meta=meta,
                    progress=report,
                    ask=ask,
                    capabilities=capabilities,
                )
        except ProtocolError as error:
            raise request_error(self._rules, context, method, params, error) from None
        finally:
            using.remove(present)
            if not using:
                self._running.pop(client, None)

    def _final(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return a result that asks no questions, without members of `_meta` that only the host may write.

        Raises:
            UpstreamError: the result has a type that the host does not know.
        """
        if result.get("resultType", "complete") != "complete":
            raise self._invalid(f"the result has the type {str(result['resultType'])[:100]!r}")
        if isinstance(meta := result.get("_meta"), dict):
            own = {name: value for name, value in meta.items() if not name.startswith(_HOST_PREFIX)}
            result = {**result, "_meta": own}
        return result

    def _invalid(self, why: str) -> UpstreamError:
        message = f"The server {self._server.name!r} asked for something that cannot be passed on."
        return UpstreamError(message, why, status_code=502, extra={"upstream": self._server.name})


def _report(context: Context[Any], progress: Mapping[str, Any]) -> None:
    """Report the progress of a server to the client of a call. Ignore invalid members."""
    done, total, message = (progress.get(name) for name in ("progress", "total", "message"))
    shown = message[:MAX_PROGRESS_CHARACTERS] if isinstance(message, str) and not any(text_problems(message)) else None
    if _is_number(done):
        context.progress.report(done, total if _is_number(total) else None, shown)


def _is_number(value: Any) -> TypeGuard[int | float]:
    """Return True for a number that JSON can express. A server may send 1e999."""
    return isinstance(value, int | float) and abs(value) < inf


async def _always(key: str, step: Callable[[], Awaitable[Any]]) -> Any:
    """Run a step of a call that is never repeated."""
    return await step()


class AbandonedCalls:
    """The calls of one server that ended without its response, by connection and user.

    The server may still ask for them. A program names no call in its questions. The only running call that can ask may
    be that of another user.
    """

    def __init__(self) -> None:
        self._ends: WeakKeyDictionary[Client, dict[UserKey, float]] = WeakKeyDictionary()

    @contextmanager
    def noted(self, client: Client, user: UserKey) -> Iterator[None]:
        """Note a call of a user that is cancelled, or has no response in time."""
        try:
            yield
        except (asyncio.CancelledError, ServerTimeoutError):
            self._ends.setdefault(client, {})[user] = monotonic() + MAX_ABANDONED_SECONDS
            raise

    def guarded(self, client: Client, user: UserKey, ask: QuestionHandler) -> QuestionHandler:
        """Return a function that refuses questions which may belong to an abandoned call of another user."""

        async def asked(question: Asked) -> Mapping[str, Any]:
            now, ends = monotonic(), self._ends.get(client, {})
            if any(other != user and end > now for other, end in ends.items()):
                raise ProtocolError(INVALID_REQUEST, "the question may belong to a cancelled call of another user")
            return await ask(question)

        return asked
