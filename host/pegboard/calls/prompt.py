"""Prompts rendered for the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from pegboard.calls.content_results import awaited, check_result_size, unsendable
from pegboard.calls.execute import Runtime, run_function
from pegboard.calls.served_item import ServedItem
from pegboard.content.function_results import prompt_result
from pegboard.content.rules import ContentError
from pegboard.errors import PromptError, ToolInputError
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, InputRequired, PromptResult, RawResult

if TYPE_CHECKING:
    pass


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
