"""Prompts and reads of resources: their conversion errors, and the size limits of their results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic_core import from_json

from pegboard.calls.execute import Runtime, run_function
from pegboard.calls.result_size import exceeds
from pegboard.calls.served_item import ServedItem
from pegboard.content.function_results import prompt_result, resource_result
from pegboard.content.rules import ContentError
from pegboard.errors import (
    FatalToolError,
    MCPContextError,
    NotFoundError,
    PromptError,
    ToolExecutionError,
    ToolInputError,
)
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, InputRequired, PromptResult, RawResult, ResourceResult

Sent = TypeVar("Sent", PromptResult, ResourceResult)


async def awaited(running: Awaitable[Any], uri: str | None = None) -> Any:
    """Wait for a running function and return its value. Errors that its author raised for clients keep their type.

    Args:
        running: the running function.
        uri: the URI of the resource that is read; None for prompts and completions.

    Raises:
        ToolRuntimeError, MCPContextError: the function failed.
    """
    try:
        return await running
    except ToolExecutionError as error:
        meant = error.__cause__
        if isinstance(meant, NotFoundError) and uri is not None and not meant.data:
            raise NotFoundError(meant.message, data={"uri": uri}) from None
        if isinstance(meant, MCPContextError):
            raise meant from None
        raise


def unsendable(what: str, error: Exception) -> FatalToolError:
    """Return the error for a value that cannot be sent. The log names `what` as the source of the value."""
    return FatalToolError("It failed unexpectedly.", f"{what} returned a value that cannot be sent: {error}")


def sendable(returned: Any, bound: ServedItem, kind: str, convert: Callable[[Any], Sent]) -> Sent | RawResult:
    """Return the result of a resource or prompt in a form that can be sent.

    Args:
        returned: the value that its function returned.
        bound: the resource or prompt.
        kind: "resource" or "prompt".
        convert: converts a value that is no `RawResult`.

    Raises:
        FatalToolError: the value cannot be sent, or exceeds the size limit.
    """
    if type(returned) is RawResult:
        result: Sent | RawResult = returned
    else:
        try:
            result = convert(returned)
        except (ContentError, TypeError) as error:
            raise unsendable(f"a {kind}", error) from error
    if exceeds(bound.max_result_bytes, getattr(result, "value", result), bound.name):
        raise FatalToolError(f"The {kind} is too large: it has more than {bound.max_result_bytes:,} bytes.")
    return result


# --- Prompts


async def get_prompt(bound: ServedItem, call: Call, runtime: Runtime) -> PromptResult | RawResult | InputRequired:
    """Run the function of a prompt for the arguments of a call.

    Raises:
        PromptError: an argument is unknown, missing, or not of the declared type.
        ToolRuntimeError, MCPContextError: the function failed, or returned a value that cannot be sent.
    """
    arguments: Mapping[str, Any] = call.params.get("arguments") or EMPTY
    try:
        keywords = bound.signature.bind(_read(arguments, bound.parsed))
    except ToolInputError as error:
        raise PromptError(error.message.replace("of this tool", "of this prompt")) from error.__cause__
    running = run_function(bound, bound.function, bound.signature.context_parameter, call, runtime, arguments, keywords)
    returned = await awaited(running)
    if type(returned) is InputRequired:
        return returned
    return sendable(returned, bound, "prompt", lambda value: prompt_result(value, bound.item.description))


def _read(arguments: Mapping[str, Any], parsed: frozenset[str]) -> dict[str, Any]:
    """Return the arguments. The strings of arguments in `parsed` are decoded as JSON."""
    read = dict(arguments)
    for name, text in arguments.items():
        if not isinstance(text, str):
            raise ToolInputError(f"Invalid arguments:\n{name}: it must be a string")
        if name in parsed:
            try:
                read[name] = from_json(text)
            except ValueError:
                raise ToolInputError(f"Invalid arguments:\n{name}: it must be JSON, as a string") from None
    return read


# --- Resources


async def read_resource(
    bound: ServedItem, uri: str, values: Mapping[str, Any], keywords: dict[str, Any], call: Call, runtime: Runtime
) -> ResourceResult | RawResult | InputRequired:
    """Run the function of a resource for one URI.

    Args:
        bound: the resource or template.
        uri: the URI.
        values: the values of the template's variables in the URI.
        keywords: the arguments of the function, as `bound.signature.bind` returns them.
        call: the call.
        runtime: the parts of the host that every call uses.

    Raises:
        NotFoundError: the function found no resource for the URI.
        ToolRuntimeError, MCPContextError: the function failed, or returned a value that cannot be sent.
    """
    if bound.uri_parameter is not None:
        keywords = {bound.uri_parameter: uri}
    running = run_function(bound, bound.function, bound.signature.context_parameter, call, runtime, values, keywords)
    returned = await awaited(running, uri)
    if type(returned) is InputRequired:
        return returned
    if returned is None:
        raise not_found(uri)
    return sendable(returned, bound, "resource", lambda value: resource_result(value, uri, bound.item.mime_type))


def not_found(uri: str, why: str = "") -> NotFoundError:
    """Return the error for a URI that no resource has."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})
