"""Resources read, prompts given, arguments completed: functions run, and what they gave checked.

It knows which function it is, and neither how it is found nor how the result is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from pegboard.calls.execute import Function, Runtime, _run
from pegboard.calls.result_size import TooLarge, log_too_large, within
from pegboard.context import NOBODY, Owner
from pegboard.context.required import Requirements
from pegboard.errors import (
    FatalToolError,
    MCPContextError,
    NotFoundError,
    PromptError,
    ToolExecutionError,
    ToolInputError,
)
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.schemas.signature import Signature
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, Completion, InputRequired, PromptResult, ResourceResult
from pegboard.wire.codec import encode

if TYPE_CHECKING:
    from pegboard.uris.matching import Matcher

MOST_VALUES = 100
"""How many values a completion may hold (completion/complete)."""


class Completer(NamedTuple):
    """What knows the values of one argument.

    Attributes:
        values: all of them, None where a function gives them.
        function: takes what has been typed, and may take other arguments by their names.
        typed: the parameter that takes what has been typed.
        others: the parameters that take other arguments, and which of them may be left out.
        context: the parameter that takes the Context, None when none does.
    """

    values: tuple[str, ...] | None = None
    function: Function | None = None
    typed: str = ""
    others: Mapping[str, bool] = EMPTY
    context: str | None = None


class BoundResource(NamedTuple):
    """A resource's or a template's function with everything one host knows about it.

    Attributes:
        name: its URI, or the template.
        mime_type: of what it gives, None where its author did not say.
        matcher: what a template's URIs are made of, None for a resource of one URI.
        owner: what its functions share with the others of their plugin.
        completers: by variable, what knows its values.
        requirements: what it needs beside its arguments, None when that is nothing.
        adapters: who knows what an exception means, in the order in which they are asked.
        timeout: for how many seconds each of its functions may run; 0 for no limit.
        max_result_bytes: the largest content; 0 for no limit.
    """

    name: str
    function: Function
    signature: Signature
    mime_type: str | None = None
    matcher: Matcher | None = None
    owner: Owner = NOBODY
    completers: Mapping[str, Completer] = EMPTY
    requirements: Requirements | None = None
    adapters: tuple[ErrorAdapter, ...] = ()
    timeout: float = 0
    max_result_bytes: int = 0

    @property
    def repeatable(self) -> bool:
        """Reading changes nothing."""
        return True


class BoundPrompt(NamedTuple):
    """A prompt's function with everything one host knows about it; the fields are those of a `BoundResource`.

    Attributes:
        parsed: the arguments whose text is read as JSON, as their types are no single values.
    """

    name: str
    function: Function
    signature: Signature
    description: str | None = None
    parsed: frozenset[str] = frozenset()
    owner: Owner = NOBODY
    completers: Mapping[str, Completer] = EMPTY
    requirements: Requirements | None = None
    adapters: tuple[ErrorAdapter, ...] = ()
    timeout: float = 0
    max_result_bytes: int = 0

    @property
    def repeatable(self) -> bool:
        """Reading changes nothing."""
        return True


async def read_resource(
    bound: BoundResource, uri: str, values: Mapping[str, Any], keywords: dict[str, Any], call: Call, runtime: Runtime
) -> ResourceResult | InputRequired:
    """Run a resource's function for one URI.

    Args:
        bound: the resource or template.
        uri: the URI that is read.
        values: what the URI is made of.
        keywords: the same as what the function takes (`bound.signature.bind`).
        call: the call.
        runtime: what the host lends.

    Raises:
        NotFoundError: the function says that there is nothing.
        ToolRuntimeError, MCPContextError: it failed, or gave what cannot be sent.
    """
    running = _run(bound, bound.function, bound.signature.context_parameter, call, runtime, values, keywords)
    given = await _given(running, uri)
    if type(given) is InputRequired:
        return given
    if given is None:
        raise not_found(uri)
    from pegboard.content.returned import resource_result
    from pegboard.content.rules import ContentError

    try:
        result = resource_result(given, uri, bound.mime_type, lambda value: encode(value).decode())
    except (ContentError, TypeError) as error:
        raise _masked("a resource", error) from error
    _check_size(bound, result, "resource")
    return result


def not_found(uri: str, why: str = "") -> NotFoundError:
    """The error for a URI where there is nothing."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})


async def get_prompt(bound: BoundPrompt, call: Call, runtime: Runtime) -> PromptResult | InputRequired:
    """Run a prompt's function for the arguments of a call.

    Raises:
        PromptError: an argument is unknown, missing, or not what the function declares.
        ToolRuntimeError, MCPContextError: it failed, or gave what cannot be sent.
    """
    arguments: Mapping[str, Any] = call.params.get("arguments") or EMPTY
    try:
        keywords = bound.signature.bind(_read(arguments, bound.parsed))
    except ToolInputError as error:
        raise PromptError(error.message.replace("of this tool", "of this prompt")) from error.__cause__
    running = _run(bound, bound.function, bound.signature.context_parameter, call, runtime, arguments, keywords)
    given = await _given(running)
    if type(given) is InputRequired:
        return given
    from pegboard.content.returned import prompt_result
    from pegboard.content.rules import ContentError

    try:
        result = prompt_result(given, bound.description)
    except ContentError as error:
        raise _masked("a prompt", error) from error
    _check_size(bound, result, "prompt")
    return result


def _check_size(bound: BoundResource | BoundPrompt, result: ResourceResult | PromptResult, what: str) -> None:
    if not bound.max_result_bytes:
        return
    try:
        within(bound.max_result_bytes, result, lambda same: same)
    except TooLarge as error:
        log_too_large(bound.name, error, bound.max_result_bytes)
        raise FatalToolError(f"The {what} is too large: it has more than {bound.max_result_bytes:,} bytes.") from None


def _read(arguments: Mapping[str, Any], parsed: frozenset[str]) -> dict[str, Any]:
    """The arguments, those read as JSON that are no single values by their types."""
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


async def _given(running: Awaitable[Any], uri: str | None = None) -> Any:
    """What a function gave. That something is not there, or cannot be had so, stays what it is."""
    try:
        return await running
    except ToolExecutionError as error:
        meant = error.__cause__
        if isinstance(meant, NotFoundError) and uri is not None and not meant.data:
            raise NotFoundError(meant.message, data={"uri": uri}) from None
        if isinstance(meant, MCPContextError):
            raise meant from None
        raise


def _masked(what: str, error: Exception) -> FatalToolError:
    return FatalToolError("It failed unexpectedly.", f"{what} gave what cannot be sent: {error}")


# --- completion


async def complete(
    completer: Completer,
    bound: BoundResource | BoundPrompt,
    typed: str,
    chosen: Mapping[str, str],
    call: Call,
    runtime: Runtime,
) -> Completion:
    """What an argument may be.

    Args:
        completer: what knows.
        bound: the prompt or template that the argument belongs to.
        typed: what has been typed.
        chosen: other arguments, as far as they are known.
        call: the call.
        runtime: what the host lends.

    Raises:
        ToolRuntimeError, MCPContextError: the function failed, or gave no values.
    """
    if completer.function is None:
        return _cut(_beginning(completer.values or (), typed))
    keywords: dict[str, Any] = {completer.typed: typed}
    for name, optional in completer.others.items():
        if name in chosen or not optional:
            keywords[name] = chosen.get(name)
    given = await _given(_run(bound, completer.function, completer.context, call, runtime, chosen, keywords))
    found = given if isinstance(given, Completion) else Completion(() if given is None else _texts(given))
    if isinstance(given, Iterator) and len(found.values) > MOST_VALUES:
        found = found._replace(has_more=True)
    if not all(isinstance(value, str) for value in found.values):
        raise _masked("a completion", TypeError("its values are not all texts"))
    return _cut(found)


def _texts(given: Any) -> tuple[str, ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise _masked("a completion", TypeError(f"{type(given).__name__} is no list of texts"))
    # an iterator may have no end
    return tuple(islice(given, MOST_VALUES + 1)) if isinstance(given, Iterator) else tuple(given)


def _beginning(values: Iterable[str], typed: str) -> Completion:
    """Those that begin as what has been typed, whatever the case of letters."""
    wanted = typed.casefold()
    return Completion(tuple(value for value in values if value.casefold().startswith(wanted)))


def _cut(found: Completion) -> Completion:
    count = len(found.values)
    total = found.total if found.total is not None or found.has_more else count
    has_more = found.has_more or count > MOST_VALUES or (total is not None and total > count)
    return Completion(tuple(found.values[:MOST_VALUES]), total, has_more)
