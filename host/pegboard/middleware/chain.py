"""The chain of middleware around each handler, built once. Faults are logged with the name of the middleware.

The chain is independent of the meaning of methods. Its caller decides the order.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError, current_task
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, NoReturn, TypeAlias

from pegboard.calls.failures import is_cancelled
from pegboard.errors import MCPError
from pegboard.messages.error_fields import describe_error
from pegboard.middleware.around import Around
from pegboard.middleware.time_limit import MiddlewareTime, took_too_long
from pegboard.plugin.middleware import Middleware, MiddlewareFunction
from pegboard.records import NamedTuple
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
        one = self.middleware
        code = getattr(one.on_message, "__name__", hook) if isinstance(one, Around) else f"{type(one).__name__}.{hook}"
        return f"the middleware {self.name!r} of {self.owner} ({code})"

    def overrides(self, hook: str) -> bool:
        """Return True if the middleware overrides a method of the base class."""
        own = getattr(self.middleware, hook)
        return getattr(own, "__func__", own) is not getattr(Middleware, hook)

    def around(self, method: str) -> Iterator[tuple[str, MiddlewareFunction]]:
        """Yield the middleware methods that wrap requests of `method`, outermost first."""
        if isinstance(self.middleware, Around):
            if self.middleware.stands_around(method):
                yield "on_message", self.middleware.on_message
            return
        kind = "on_notification" if method.startswith("notifications/") else "on_request"
        for hook in ("on_message", kind, REQUEST_HOOKS.get(method)):
            if hook is not None and self.overrides(hook):
                yield hook, getattr(self.middleware, hook)


class MiddlewareFault(Exception):
    """A middleware broke a rule or raised an untyped exception. The error is masked.

    Args:
        developer_message: the name of the middleware, and its fault.
    """

    def __init__(self, developer_message: str) -> None:
        super().__init__(developer_message)
        self.developer_message = developer_message


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
        found = list(link.around(method))
        inner = handler
        for hook, handle in reversed(found):
            handler = wrap(link.blame(hook), handle, handler, method, promises, time)
        if found and link.overrides("wants"):
            handler = _where_wanted(link, handler, inner)
    return handler


def _where_wanted(link: MiddlewareLink, around: CallNext, inner: CallNext) -> CallNext:
    wants = link.middleware.wants

    def choose(call: Call) -> Any:
        try:
            wanted = wants(call)
        except BaseException as error:  # noqa: BLE001 - any exception of a plugin is masked
            _raise_fault(link.blame("wants"), error)
        return around(call) if wanted else inner(call)

    return choose


def wrap(
    blame: str,
    handle: MiddlewareFunction,
    call_next: CallNext,
    method: str,
    promises: OutcomeCheck | None,
    time: MiddlewareTime,
) -> CallNext:
    """Return a handler wrapped in one middleware method. Faults of the middleware fail only the call."""
    # the outcome of a notification is ignored
    kinds = None if method.startswith("notifications/") else _OUTCOMES.get(method, _EVERY)
    cuts = time.cuts

    async def run(call: Call) -> Outcome:
        following = _Following(blame, call_next)
        if time.timer is None:
            time.wake()
        try:
            outcome = await handle(call, following.run)
        except MCPError:
            following.raised = None  # in a cycle with its traceback it would keep the variables of the function
            raise
        except BaseException as error:
            if following in cuts and time.settle(following):
                raise took_too_long() from error
            _pass_on(blame, following, error, call)
        finally:
            if cuts:
                time.settle(following)
        if kinds is not None and type(outcome) not in kinds:
            given = type(outcome).__name__
            raise MiddlewareFault(
                f"{blame} returned {given} for {method}: return the outcome of call_next, or another outcome"
            )
        if promises is not None and outcome is not following.given and (wrong := promises(call, outcome)):
            raise MiddlewareFault(f"{blame} returned {wrong}")
        if (following.raised is not None or following.given is None) and _cancelled():
            logger.error("%s answered a cancelled call: let CancelledError pass", blame, extra={"call": call})
            raise CancelledError
        return outcome

    time.code = run.__code__
    return run


class _Following:
    """The `call_next` of one middleware in one call.

    Attributes:
        given: the last outcome of `call_next`, or None before the first.
        raised: the last exception of `call_next`.
        inside: True while the middleware waits for `call_next`. That time does not count for the middleware.
    """

    __slots__ = ("_blame", "_call_next", "given", "inside", "raised")

    def __init__(self, blame: str, call_next: CallNext) -> None:
        self._blame = blame
        self._call_next = call_next
        self.inside = False
        self.given: Outcome | None = None
        self.raised: BaseException | None = None

    async def run(self, call: Call) -> Outcome:
        """Run the rest of the chain."""
        if self.given is not None:
            self._refuse_again()
        if type(call) is not Call:
            raise MiddlewareFault(f"{self._blame} called call_next with {type(call).__name__}: pass a Call")
        self.inside = True
        try:
            outcome = await self._call_next(call)
        except BaseException as error:
            self.raised = error
            self.inside = False
            raise
        self.inside = False
        if self.given is not None:
            self._refuse_again()  # it was called several times at once
        self.given = outcome
        return outcome

    def _refuse_again(self) -> None:
        if not _failed(self.given):
            raise MiddlewareFault(
                f"{self._blame} called call_next again after a success: repeat only calls that failed"
            )


def _pass_on(blame: str, following: _Following, error: BaseException, call: Call) -> NoReturn:
    """Raise the error that the caller of a middleware sees for an exception. Call it in the `except` block."""
    if error is following.raised or isinstance(error, MiddlewareFault) or is_cancelled(error, call.rounds):
        raise error
    _raise_fault(blame, error)


def _failed(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Failure) or (isinstance(outcome, ToolResult | RawResult) and outcome.is_error)


def _cancelled() -> bool:
    task = current_task()
    return task is not None and task.cancelling() > 0


def _raise_fault(blame: str, error: BaseException) -> NoReturn:
    raise MiddlewareFault(f"{blame} raised {describe_error(error)}") from error


LINK_CODE = next(one for one in wrap.__code__.co_consts if isinstance(one, CodeType))
"""The code that runs a middleware; its variable `blame` names the middleware."""
CALL_NEXT_CODE = _Following.run.__code__
"""The code of `call_next`, which passes a call on."""
