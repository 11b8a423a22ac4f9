"""The execution of one function in one call. This module is independent of names, protocols and middleware."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.calls.deadlines import Deadline, Deadlines, begun, driven
from pegboard.calls.exception_mapping import mapped
from pegboard.calls.failures import is_cancelled
from pegboard.calls.result_size import TooLarge, built_within, exceeds, log_too_large, within
from pegboard.calls.served_item import Function, ServedItem
from pegboard.calls.threads import Job, Threads
from pegboard.context import Context, _current
from pegboard.context.bound_function import HostAccess
from pegboard.context.requirements import NO_REQUIREMENTS, Requirements, missing_metadata, missing_secrets
from pegboard.errors import (
    ContextRequiredToolError,
    FatalToolError,
    InsufficientScopeError,
    ResultTooLargeError,
    ToolTimeoutError,
    UpstreamError,
)
from pegboard.plugin.secrets import TokenSource
from pegboard.routing.operator_token import PROOF
from pegboard.secrets.redaction import remember
from pegboard.types.calls import MEDIA_TYPES, Call, InputRequired, RawResult, ToolResult

if TYPE_CHECKING:
    from pegboard.middleware.time_limit import MiddlewareTime

logger = logging.getLogger("pegboard")

UNAUTHORIZED = 401
"""The status with which services reject a token."""
CANNOT_ASK = "only an async function with a Context parameter can ask; make it one"


class Runtime(NamedTuple):
    """The parts of a host that every call uses.

    Attributes:
        threads: the threads for sync functions.
        deadlines: the deadlines of running functions.
        host_access: the parts of the host that a context uses.
        middleware: the time limits of middleware.
        token_seconds: the time limit of one token source in seconds.
        token_sources: the sources of tokens, in the order of lookup, each with the name of its plugin.
    """

    threads: Threads
    deadlines: Deadlines
    host_access: HostAccess
    middleware: MiddlewareTime
    token_seconds: float
    token_sources: Sequence[tuple[str, TokenSource]] = ()

    def close(self) -> None:
        """Close the threads, and remove the time limits."""
        for part in (self.deadlines, self.middleware, self.threads):
            part.close()


async def invoke(
    bound: ServedItem, function: Function, keywords: Mapping[str, Any], runtime: Runtime, context: Context
) -> Any:
    """Run a function and return its value, with the content of the files in it.

    An exception fails only this call. `SystemExit` and `KeyboardInterrupt` would end the event loop if they left the
    task, and `StopIteration` would leave a future open. Tasks that the function starts are not covered.

    After `bound.timeout` seconds, an async function is cancelled, and closed if it does not end soon after. A function
    in a thread continues after its call has failed. Inline functions cannot be interrupted.

    Args:
        bound: the tool, resource or prompt.
        function, keywords: the function and its arguments.
        runtime, context: the parts of the host that every call uses, and the context of the function.

    Raises:
        ToolRuntimeError, ProtocolError: the error that the author raised, or that an adapter returned for an exception.
        FatalToolError: the function raised another exception. Its text is masked; it is the cause of the error.
        ToolTimeoutError: the function took longer than its limit.
        asyncio.CancelledError: the call was cancelled.
    """
    call = context._call
    limit = bound.task_timeout if call.runs_task else bound.timeout
    job = Job(function.function, keywords, bound.name) if function.mode == "thread" else None
    clock: Deadline | None = runtime.deadlines.start(limit, context) if job and limit else None
    try:
        value = function.function(**keywords) if job is None else (await runtime.threads.run(job)).take()
        if isinstance(value, CoroutineType):  # also from a plain wrapper around an async function
            if limit:
                try:
                    waits_for = value.send(None)
                except StopIteration as end:
                    value = end.value  # it did not wait for anything
                else:
                    clock = clock or runtime.deadlines.start(limit, context)
                    value = await driven(value, waits_for, clock)
            else:
                value = await value
        if MEDIA_TYPES and (reading := _reading(value, bound, runtime)) is not None:
            clock = clock or (runtime.deadlines.start(limit, context) if limit else None)
            value = await (reading if clock is None else begun(reading, clock))
        if clock is None or not clock.stop():
            return value
    except BaseException as error:  # noqa: BLE001 - it is raised as the error for the caller
        if clock is None or not clock.stop():
            raise _failure(error, context, bound)  # noqa: B904 - it has its cause
    raise _too_long(bound._replace(timeout=limit), function, job, runtime.threads, clock.error)


def _failure(error: BaseException, context: Context, bound: ServedItem) -> BaseException:
    """Return the mapped error of an exception, or a cancellation of the call itself."""
    call = context._call
    if is_cancelled(error, call.rounds):
        return error
    meant = mapped(error, bound.adapters)
    token = None if call.supplied is None else call.supplied.authorization
    if token is not None and isinstance(meant, UpstreamError) and meant.status_code == UNAUTHORIZED:
        meant.additional_prompt_content = meant.additional_prompt_content or token.renewal or None
    return meant


def _reading(value: Any, bound: ServedItem, runtime: Runtime) -> Coroutine[Any, Any, Any] | None:
    """Return a coroutine that reads the files in a value, or None if the value contains no files."""
    from pegboard.calls.media_results import reading_of  # most hosts send no files

    return reading_of(value, bound, runtime.threads.step)


def _too_long(
    bound: ServedItem, function: Function, job: Job | None, threads: Threads, error: BaseException | None
) -> ToolTimeoutError:
    """Log that a function took longer than its limit, and return the error for the caller.

    Raises:
        ToolRuntimeError, ProtocolError: an exception ended the function before its limit.
    """
    if error is not None:
        raise mapped(error, bound.adapters)
    seconds = f"{bound.timeout:g} second{'' if bound.timeout == 1 else 's'}"
    if job is not None and job.begun is None:
        logger.warning("%s could not start within its limit of %s: all threads are busy", bound.name, seconds)
        return ToolTimeoutError(
            f"The server is busy: the call could not start within {seconds}.",
            additional_prompt_content="Nothing was done. Try again later.",
            can_retry=True,
        )
    if job is None:
        in_thread = function.is_sync and function.mode == "async"  # with dependencies
        rest = "; if its function runs, the thread stays busy until it returns" if in_thread else ""
        logger.warning("%s took longer than its limit of %s and was cancelled%s", bound.name, seconds, rest)
    else:
        logger.warning(
            "%s took longer than its limit of %s: its thread cannot be stopped and stays busy until the function "
            "returns, like %d of the %d busy threads",
            bound.name,
            seconds,
            threads.given_up,
            threads.busy,
        )
    advice = "Ask for less: a narrower search, a smaller range, or one part at a time."
    if not bound.repeatable:
        advice += " Its effects so far may remain: check them before you try again."
    return ToolTimeoutError(
        f"It took longer than {seconds} and was given up.", additional_prompt_content=advice, can_retry=bound.repeatable
    )


async def call_tool(bound: ServedItem, call: Call, runtime: Runtime) -> ToolResult | RawResult | InputRequired:
    """Check the requirements of the tool, validate the arguments, run the tool, and check its result.

    Raises:
        ToolRuntimeError: the call failed; the message is for the model.
    """
    if bound.warning is not None:
        bound.warning.warn(call)
    if bound.requirements is not NO_REQUIREMENTS:
        check_requirements(bound.requirements, call)
        if bound.requirements.authorization is not None:
            from pegboard.authorization.token_lookup import with_token

            required, hint = bound.requirements.authorization, bound.requirements.token_hint
            call = await with_token(bound, required, call, runtime.token_sources, runtime.token_seconds, hint)
    arguments = call.params.get("arguments") or {}
    keywords = bound.signature.bind(arguments)
    value = await run_function(
        bound, bound.function, bound.signature.context_parameter, call, runtime, arguments, keywords
    )
    kind = type(value)
    if kind is InputRequired:
        return value  # type: ignore[no-any-return]
    if kind is RawResult:
        if exceeds(bound.max_result_bytes, value.value, bound.name):
            is_structured = bound.tool.output_schema is not None
            raise ResultTooLargeError(bound.max_result_bytes, lambda size: None, is_structured=is_structured)
        return value  # type: ignore[no-any-return]
    result = _result(bound, value)
    if isinstance(result, ToolResult):
        return result
    return ToolResult(result, structured=bound.signature.output_schema is not None)


async def run_function(
    bound: ServedItem,
    function: Function,
    parameter: str | None,
    call: Call,
    runtime: Runtime,
    arguments: Mapping[str, Any],
    keywords: dict[str, Any],
) -> Any:
    """Run a function with a Context. Return its value, or an `InputRequired` if the function asked the client.

    Args:
        bound: the tool, resource or prompt.
        function: the function.
        parameter: the name of the Context parameter, or None.
        call: the call.
        runtime: the parts of the host that every call uses.
        arguments: the arguments as the client sent them.
        keywords: the arguments of the function.
    """
    if call.session is not None and (parameter is not None or bound.signature.dependencies):
        await call.session.load()  # another process may have changed its values
    asks = parameter is not None and not function.is_sync
    task = asyncio.current_task() if asks and call.round is not None else None
    context = Context(call, bound, arguments, runtime.host_access, task, None if asks else CANNOT_ASK)
    if parameter is not None:
        keywords[parameter] = context
    token = _current.set(context)
    try:
        value = await invoke(bound, function, keywords, runtime, context)
    except BaseException as error:
        context.cancelled = context.cancelled or isinstance(error, asyncio.CancelledError)
        remember(call)  # the error may contain its token
        if context.asked is None:
            raise
        return context.asked.conclude(None, error)
    finally:
        _current.reset(token)
        context.close()
    return value if context.asked is None else context.asked.conclude(value)


def _result(bound: ServedItem, value: Any) -> Any:
    """Return a tool's value as a JSON-ready string or number, or as a `ToolResult`.

    Raises:
        ResultTooLargeError: the result exceeds the size limit.
    """
    limit = bound.max_result_bytes
    try:
        return within(limit, value, bound.signature.result)
    except TooLarge as error:
        log_too_large(bound.name, error, limit)
    raise ResultTooLargeError(
        limit,
        lambda size: built_within(size, value, bound.signature.result),
        is_structured=bound.signature.output_schema is not None,
    )


# --- The secrets, tokens and metadata that a function requires of a call.


def check_requirements(required: Requirements, call: Call) -> None:
    """Check that a call has the secrets, tokens and metadata that a function requires.

    Raises:
        ContextRequiredToolError: the caller is anonymous, and must not run the function.
        InsufficientScopeError: the caller's token lacks a scope.
        FatalToolError: a secret is not set, or metadata is unknown.
    """
    supplied = call.supplied
    if not call.caller.is_known and required.guard:
        raise ContextRequiredToolError(
            f"This tool {required.guard}, and the server does not know the caller. Its operator can {PROOF}.",
            "Do not try again before this has changed. Tell the user that the operator of this server must change it.",
        )
    if not call.allows(required.scopes):
        raise InsufficientScopeError(required.scopes)
    if supplied is not None and supplied.lenient:
        return
    if missing := sorted(missing_secrets(required, call.supplied)):
        raise FatalToolError(
            f"This tool needs a secret that is not set on the server: {', '.join(missing)}. Ask its operator to set it."
        )
    if missing := missing_metadata(required, call):
        keys = ", ".join(missing)
        raise FatalToolError(
            f"This tool needs metadata that is not set on the server: {keys}. Ask its operator to set it.",
            f"the tool requires metadata that has no value: {keys}; set {_ways(missing)}",
        )


def _ways(missing: list[str]) -> str:
    """Return the names of the settings for missing metadata."""
    ways = ["`[host] user`"] if "user_id" in missing else []
    if missing != ["user_id"]:
        ways.append("`[host] metadata`")
    return " and ".join(ways)
