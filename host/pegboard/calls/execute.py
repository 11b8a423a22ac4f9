"""Running what authors wrote: one function, once, with whatever it does kept inside this call.

It knows nothing of names, protocols or middleware.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import get_ident
from types import CoroutineType
from typing import Any, Literal, NamedTuple

from pegboard.calls.deprecation import Deprecation
from pegboard.calls.failures import is_cancelled
from pegboard.calls.raised import Adapters, raise_meant
from pegboard.calls.requirements import check_requirements
from pegboard.calls.result_size import TooLarge, within
from pegboard.context import Bound, Context, Owner, Surroundings, _current
from pegboard.context.required import Requirements
from pegboard.context.rounds import Rounds
from pegboard.contracts import (
    Call,
    ErrorAdapter,
    InputRequired,
    TokenSource,
    Tool,
    ToolResult,
)
from pegboard.errors import (
    RetryableToolError,
)
from pegboard.schemas.signature import Signature

logger = logging.getLogger("pegboard")

CANNOT_ASK = "only an async function with a Context parameter can ask; make it one"

Mode = Literal["async", "inline", "thread"]
"""How a function runs: awaited, called on the event loop, or called in a thread of the host."""


class Function(NamedTuple):
    """An author's function and how it runs."""

    function: Callable[..., Any]
    mode: Mode

    @classmethod
    def of(cls, function: Callable[..., Any], *, inline: bool = False) -> Function:
        """Decide how a function runs by what it is."""
        target = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(target):
            return cls(function, "async")
        return cls(function, "inline" if inline else "thread")


class BoundTool(NamedTuple):
    """A tool with everything one host knows about it.

    Attributes:
        owner: what its functions share with the others of their plugin.
        requirements: what it needs beside its arguments, None when that is nothing.
        max_result_bytes: the largest result, as JSON; 0 for no limit.
        adapters: who knows what an exception means, in the order in which they are asked.
        deprecation: tells whoever calls it to use something else; None while it is not deprecated.
    """

    tool: Tool
    function: Function
    signature: Signature
    owner: Owner
    requirements: Requirements | None
    max_result_bytes: int
    adapters: tuple[ErrorAdapter, ...] = ()
    deprecation: Deprecation | None = None

    @property
    def name(self) -> str:
        """The tool's name on the wire."""
        return self.tool.name


class Threads:
    """The host's own threads for sync functions; none exist before the first is needed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[int] = set()

    async def run(self, function: Callable[..., Any], keywords: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        """Call a function in a thread; what it returned, and what it raised.

        The exception comes in a box: a future that is given `StopIteration` stays open for ever.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._size, thread_name_prefix="pegboard-tool")
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, copy_context().run, self._boxed, function, keywords
        )

    def _boxed(self, function: Callable[..., Any], keywords: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        self._running.add(get_ident())
        try:
            return function(**keywords), None
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are this call's failure
            return None, error
        finally:
            self._running.discard(get_ident())

    @property
    def busy(self) -> int:
        """How many functions run right now."""
        return len(self._running)

    def close(self) -> None:
        """Give the threads up. A function that runs cannot be stopped; nobody waits for it."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


class Runtime(NamedTuple):
    """What a host lends to every call.

    Attributes:
        threads: for sync functions.
        surroundings: what a context reaches of the host.
        token_sources: where the tokens of tools come from, with the names of their plugins, in the order in which
            they are asked.
        token_seconds: how long one of them may take.
    """

    threads: Threads
    surroundings: Surroundings
    token_sources: Sequence[tuple[str, TokenSource]] = ()
    token_seconds: float = 10


async def invoke(
    function: Function,
    keywords: Mapping[str, Any],
    threads: Threads,
    adapters: Adapters = (),
    rounds: Rounds | None = None,
) -> Any:
    """Run a function and return what it returned.

    Whatever it raises loses this call and nothing else: `SystemExit` and `KeyboardInterrupt` would end the event loop
    if they left the task, `StopIteration` would leave a future open. A task that the function itself started is out of
    reach.

    Raises:
        ToolRuntimeError, ProtocolError: raised by the author on purpose, or what an adapter made of an exception.
        FatalToolError: anything else; masked, with the original as its cause.
        asyncio.CancelledError: the call was cancelled.
    """
    try:
        if function.mode == "async":
            return await function.function(**keywords)
        if function.mode == "inline":
            value = function.function(**keywords)
        else:
            value, error = await threads.run(function.function, keywords)
            if error is not None:
                raise error
        # a plain wrapper around an async function gives what is still to be awaited
        return await value if isinstance(value, CoroutineType) else value
    except BaseException as error:
        if is_cancelled(error, rounds):
            raise
        raise_meant(error, adapters)


async def call_tool(bound: BoundTool, call: Call, runtime: Runtime) -> ToolResult | InputRequired:
    """Check what the tool requires, validate the arguments, run the tool, and check its result.

    Raises:
        ToolRuntimeError: the call failed; the message is for the model.
    """
    if bound.deprecation is not None:
        bound.deprecation.tell(call)
    if bound.requirements is not None:
        check_requirements(bound.requirements, call)
        if bound.requirements.authorization is not None:
            from pegboard.calls.tokens import with_token

            required = bound.requirements.authorization
            call = await with_token(bound, required, call, runtime.token_sources, runtime.token_seconds)
    arguments = call.params.get("arguments") or {}
    keywords = bound.signature.bind(arguments)
    value = await _run(bound, bound.function, bound.signature.context_parameter, call, runtime, arguments, keywords)
    if type(value) is InputRequired:
        return value
    result = _result(bound, value)
    if type(result) is ToolResult:
        return result
    return ToolResult(result, structured=bound.signature.output_schema is not None)


async def _run(
    bound: Bound,
    function: Function,
    parameter: str | None,
    call: Call,
    runtime: Runtime,
    arguments: Mapping[str, Any],
    keywords: dict[str, Any],
) -> Any:
    """Run a function in its context: what it returned, or an `InputRequired` where it asked.

    Args:
        bound: what the host knows of it.
        function: the function.
        parameter: that which takes the Context, None when none does.
        call: the call.
        runtime: what the host lends.
        arguments: the arguments as the client sent them.
        keywords: those that the function is called with.
    """
    asks = parameter is not None and function.mode == "async"
    task = asyncio.current_task() if asks and call.round is not None else None
    context = Context(call, bound, arguments, runtime.surroundings, task, None if asks else CANNOT_ASK)
    if parameter is not None:
        keywords[parameter] = context
    token = _current.set(context)
    try:
        value = await invoke(function, keywords, runtime.threads, bound.adapters, call.rounds)
    except BaseException as error:
        context.cancelled = isinstance(error, asyncio.CancelledError)
        if context.asked is None:
            raise
        return context.asked.conclude(None, error)
    finally:
        _current.reset(token)
        context.close()
    return value if context.asked is None else context.asked.conclude(value)


def _result(bound: BoundTool, value: Any) -> Any:
    """What a tool returned, JSON-ready, or a `ToolResult` where that says more."""
    limit = bound.max_result_bytes
    if not limit:
        return bound.signature.result(value)
    try:
        return within(limit, value, bound.signature.result)
    except TooLarge as error:
        logger.warning(
            "the result of %s is too large: %d bytes or more, and [host] max_result_bytes is %d",
            bound.tool.name,
            error.size,
            limit,
        )
    raise RetryableToolError(
        f"The result is too large: it has more than {limit:,} bytes.",
        additional_prompt_content="Ask for less: a narrower search, a smaller range, or one page at a time.",
    )
