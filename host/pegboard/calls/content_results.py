"""Prompts and reads of resources: their conversion errors, and the size limits of their results."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

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
from pegboard.wire.codec import encode, with_base64


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


def check_result_size(name: str, limit: int, result: ResourceResult | PromptResult | RawResult, kind: str) -> None:
    """Check the size of a result.

    Args:
        name: the name of the resource or prompt, for the log.
        limit: the size limit in bytes; 0 for no limit.
        result: the result.
        kind: "resource" or "prompt".

    Raises:
        FatalToolError: the result exceeds the limit.
    """
    if exceeds(limit, getattr(result, "value", result), name):
        raise FatalToolError(f"The {kind} is too large: it has more than {limit:,} bytes.")


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
    if type(returned) is RawResult:
        check_result_size(bound.name, bound.max_result_bytes, returned, "prompt")
        return returned
    try:
        result = prompt_result(returned, bound.item.description)
    except ContentError as error:
        raise unsendable("a prompt", error) from error
    check_result_size(bound.name, bound.max_result_bytes, result, "prompt")
    return result


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
    if type(returned) is RawResult:
        check_result_size(bound.name, bound.max_result_bytes, returned, "resource")
        return returned
    try:
        result = resource_result(returned, uri, bound.item.mime_type, lambda value: encode(with_base64(value)).decode())
    except (ContentError, TypeError) as error:
        raise unsendable("a resource", error) from error
    check_result_size(bound.name, bound.max_result_bytes, result, "resource")
    return result


def not_found(uri: str, why: str = "") -> NotFoundError:
    """Return the error for a URI that no resource has."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})
