"""The chain of middleware around each handler, built once. Faults are logged with the name of the middleware.

The chain is independent of the meaning of methods. Its caller decides the order.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError, current_task
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from pegboard.calls.failures import is_cancelled
from pegboard.errors import MCPError, ToolTimeoutError
from pegboard.messages.error_fields import describe_error
from pegboard.middleware.time_limit import MiddlewareFault, MiddlewareTime, RunningLink
from pegboard.plugin.middleware import Middleware, MiddlewareFunction
from pegboard.types.calls import (
    Call,
    CallNext,
    Completion,
    Failure,
    InputRequired,
    Listing,
    MethodResult,
    Outcome,
    PromptResult,
    RawResult,
    ResourceResult,
    ToolResult,
)
from pegboard.wire.encoded_result import EncodedResult

logger = logging.getLogger("pegboard")

REQUEST_HOOKS: Mapping[str, str] = {
    "tools/call": "on_call_tool",
    "resources/read": "on_read_resource",
    "prompts/get": "on_get_prompt",
    "completion/complete": "on_complete",
}
"""The middleware method that wraps each request of one method."""

LIST_HOOKS: Mapping[str, str] = {
    "tools/list": "on_list_tools",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/list": "on_list_prompts",
}
"""The middleware method that wraps the creation of each list."""

CLIENT_NOTIFICATIONS = tuple(
    f"notifications/{name}" for name in ("initialized", "cancelled", "progress", "roots/list_changed")
)
"""The notifications of clients in the specification."""

_ANY = frozenset({MethodResult, InputRequired, Failure})
_OUTCOMES: Mapping[str, frozenset[type[Any]]] = {
    "tools/call": _ANY | {ToolResult, EncodedResult, RawResult},
    "resources/read": _ANY | {ResourceResult, RawResult},
    "prompts/get": _ANY | {PromptResult, RawResult},
    "completion/complete": _ANY | {Completion, RawResult},
    **dict.fromkeys(LIST_HOOKS, _ANY | {Listing}),
}
_EVERY = _ANY.union(*_OUTCOMES.values())

OutcomeCheck: TypeAlias = Callable[[Call, Outcome], str | None]
"""Returns the reason why a middleware's outcome is invalid, or None if it is valid."""


class MiddlewareLink(NamedTuple):
    """One middleware in the chain.

    Attributes:
        name: the name of the middleware in order lists.
        owner: the plugin of the middleware, for the log.
        middleware: the middleware.
    """

    name: str
    owner: str
    middleware: Middleware

    def blame(self, hook: str) -> str:
        """Return the middleware's name for the log."""
        middleware = self.middleware
        code = (
            getattr(middleware.on_message, "__name__", hook)
            if isinstance(middleware, Around)
            else f"{type(middleware).__name__}.{hook}"
        )
        return f"the middleware {self.name!r} of {self.owner} ({code})"

    def overrides(self, hook: str) -> bool:
        """Return True if the middleware overrides a method of the base class."""
        own = getattr(self.middleware, hook)
        return getattr(own, "__func__", own) is not getattr(Middleware, hook)

    def wraps(self) -> list[str]:
        """Return the overridden hooks, or the methods that a function wraps."""
        if isinstance(self.middleware, Around):
            return [*self.middleware.methods] or ["on_message"]
        return [hook for hook in vars(Middleware) if hook.startswith(("on_", "check")) and self.overrides(hook)]

    def around(self, method: str) -> Iterator[tuple[str, MiddlewareFunction]]:
        """Yield the middleware methods that wrap requests of `method`, outermost first."""
        if isinstance(self.middleware, Around):
            if self.middleware.wraps_method(method):
                yield "on_message", self.middleware.on_message
            return
        kind = "on_notification" if method.startswith("notifications/") else "on_request"
        for hook in ("on_message", kind, REQUEST_HOOKS.get(method)):
            if hook is not None and self.overrides(hook):
                yield hook, getattr(self.middleware, hook)


def chain(
    method: str,
    handler: CallNext,
    links: Sequence[MiddlewareLink],
    promises: OutcomeCheck | None,
    time: MiddlewareTime,
) -> CallNext:
    """Return a method's handler wrapped in middleware, or the handler itself if no middleware wraps the method.

    Args:
        method: the method.
        handler: runs the method.
        links: all middleware, outermost first.
        promises: the checks of outcomes that a middleware replaced.
        time: the time limits of middleware.
    """
    for link in reversed(links):
        hooks = list(link.around(method))
        inner = handler
        for hook, handle in reversed(hooks):
            handler = LinkMethod(link.blame(hook), handle, handler, method, promises, time).run
        checks = not method.startswith("notifications/") and link.overrides("check")
        if checks:
            handler = _after_check(link, handler)
        if (hooks or checks) and link.overrides("wants"):
            handler = _where_wanted(link, handler, inner)
    return handler


def _after_check(link: MiddlewareLink, handler: CallNext) -> CallNext:
    check = link.middleware.check

    def run(call: Call) -> Any:
        try:
            check(call)
        except MCPError:
            raise
        except BaseException as error:  # noqa: BLE001 - any other exception of a plugin is masked
            _raise_fault(link.blame("check"), error)
        return handler(call)

    return run


def _where_wanted(link: MiddlewareLink, around: CallNext, inner: CallNext) -> CallNext:
    wants = link.middleware.wants

    def choose(call: Call) -> Any:
        try:
            wanted = wants(call)
        except BaseException as error:  # noqa: BLE001 - any exception of a plugin is masked
            _raise_fault(link.blame("wants"), error)
        return around(call) if wanted else inner(call)

    return choose


class LinkMethod:
    """One middleware method around the rest of the chain. Faults of the middleware fail only the call.

    Args:
        blame: the name of the middleware, for the log.
        handle: the method.
        call_next: the rest of the chain.
        method: the method of the calls.
        promises: the checks of outcomes that a middleware replaced.
        time: the time limits of middleware.
    """

    __slots__ = ("_call_next", "_handle", "_is_ignored", "_kinds", "_promises", "_time", "blame")

    def __init__(
        self,
        blame: str,
        handle: MiddlewareFunction,
        call_next: CallNext,
        method: str,
        promises: OutcomeCheck | None,
        time: MiddlewareTime,
    ) -> None:
        self.blame = blame
        self._handle = handle
        self._call_next = call_next
        self._kinds = _OUTCOMES.get(method, _EVERY)
        self._is_ignored = method.startswith("notifications/")
        self._promises = promises
        self._time = time

    async def run(self, call: Call) -> Outcome:
        """Run the middleware method around one call."""
        time = self._time
        if time.timer is None:
            time.wake()
        link = RunningLink(self.blame, self._call_next, call)
        time.running[link] = current_task(time.loop)
        try:
            outcome = await self._handle(call, link.call_next)
        except MCPError:
            link.raised = None  # in a cycle with its traceback it would keep the variables of the function
            raise
        except BaseException as error:
            if link in time.cuts and time.settle(link):
                raise ToolTimeoutError("It took too long and was given up.") from error
            _pass_on(link, error)
        finally:
            time.running.pop(link, None)  # the host may have stopped
            if time.cuts:
                time.settle(link)
        if outcome is not link.given or link.raised is not None or type(outcome) not in self._kinds:
            self._check(link, outcome)
        return outcome

    def _check(self, link: RunningLink, outcome: Outcome) -> None:
        """Check the outcome of the middleware.

        Raises:
            MiddlewareFault: the outcome is invalid.
            asyncio.CancelledError: the call was cancelled.
        """
        if not self._is_ignored and type(outcome) not in self._kinds:
            kind = type(outcome).__name__
            method = link.call.method
            raise MiddlewareFault(
                f"{self.blame} returned {kind} for {method}: return the outcome of call_next, or another outcome"
            )
        if outcome is not link.given and self._promises is not None and (wrong := self._promises(link.call, outcome)):
            raise MiddlewareFault(f"{self.blame} returned {wrong}")
        if (link.raised is not None or link.given is None) and _cancelled():
            logger.error("%s answered a cancelled call: let CancelledError pass", self.blame, extra={"call": link.call})
            raise CancelledError


def _pass_on(link: RunningLink, error: BaseException) -> NoReturn:
    """Raise the error that the caller of a middleware sees for an exception. Call it in the `except` block."""
    if error is link.raised or isinstance(error, MiddlewareFault) or is_cancelled(error, link.call.rounds):
        raise error
    _raise_fault(link.blame, error)


def _cancelled() -> bool:
    task = current_task()
    return task is not None and task.cancelling() > 0


def _raise_fault(blame: str, error: BaseException) -> NoReturn:
    raise MiddlewareFault(f"{blame} raised {describe_error(error)}") from error


# --- Plain functions as middleware.


class Around(Middleware):
    """The middleware that `around` makes from a function.

    Args:
        function: `async (call, call_next) -> Outcome`.
        methods: the wrapped methods; empty for all requests and notifications.
        name: the name of the middleware in order lists.
    """

    def __init__(self, function: MiddlewareFunction, methods: tuple[str, ...] = (), name: str | None = None) -> None:
        self.name = name
        self.methods = methods
        self.on_message = function  # type: ignore[method-assign,assignment]  # the function replaces the method

    def wraps_method(self, method: str) -> bool:
        """Return True if the function wraps a method."""
        return not self.methods or method in self.methods


def around(*methods: str, name: str | None = None) -> Callable[[MiddlewareFunction], Middleware]:
    """Return a decorator that turns a function `async (call, call_next) -> Outcome` into middleware.

    Args:
        methods: the wrapped methods, such as "tools/call" or methods of plugins. Without methods, the function wraps
            all requests and notifications, like a function without this decorator.
        name: the name of the middleware in order lists; None for the plugin's name.

    Raises:
        TypeError: `around` is used without parentheses.
    """
    if any(map(callable, methods)):
        raise TypeError("around requires method names: write @around('tools/call'), or remove the decorator")
    return lambda function: Around(function, methods, name)
