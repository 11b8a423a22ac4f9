"""Completion of the arguments of prompts and resource templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from pegboard.calls.content_results import awaited, unsendable
from pegboard.calls.execute import Runtime, run_function
from pegboard.calls.served_item import Function, ServedItem
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, Completion, RawResult

MAX_COMPLETION_VALUES = 100
"""The largest number of values in a completion (completion/complete)."""


class BoundCompleter(NamedTuple):
    """The source of completions for one argument.

    Attributes:
        values: all values, or None if `function` returns the values.
        function: receives the typed string, and may receive other arguments by name.
        typed: the parameter for the typed string.
        others: the parameters for other arguments, each with True if the argument may be absent.
        context: the parameter for the Context, or None.
    """

    values: tuple[str, ...] | None = None
    function: Function | None = None
    typed: str = ""
    others: Mapping[str, bool] = EMPTY
    context: str | None = None


async def complete(
    completer: BoundCompleter,
    bound: ServedItem,
    typed: str,
    chosen: Mapping[str, str],
    call: Call,
    runtime: Runtime,
) -> Completion | RawResult:
    """Return completions for an argument.

    Args:
        completer: the source of the values.
        bound: the prompt or template that has the argument.
        typed: the string that the user has typed.
        chosen: the other arguments that are already known.
        call: the call.
        runtime: the parts of the host that every call uses.

    Raises:
        ToolRuntimeError, MCPContextError: the function failed, or returned a value that is not a string.
    """
    if completer.function is None:
        return _cut(_beginning(completer.values or (), typed))
    keywords: dict[str, Any] = {completer.typed: typed}
    for name, optional in completer.others.items():
        if name in chosen or not optional:
            keywords[name] = chosen.get(name)
    returned = await awaited(
        run_function(bound, completer.function, completer.context, call, runtime, chosen, keywords)
    )
    if type(returned) is RawResult:
        return returned
    completion = (
        returned if isinstance(returned, Completion) else Completion(() if returned is None else _texts(returned))
    )
    if isinstance(returned, Iterator) and len(completion.values) > MAX_COMPLETION_VALUES:
        completion = completion._replace(has_more=True)
    if not all(isinstance(value, str) for value in completion.values):
        raise unsendable("a completion", TypeError("its values must be strings"))
    return _cut(completion)


def _texts(returned: Any) -> tuple[str, ...]:
    if isinstance(returned, str | bytes | Mapping) or not isinstance(returned, Iterable):
        raise unsendable("a completion", TypeError(f"it must be a list of strings, not {type(returned).__name__}"))
    # an iterator may have no end
    return tuple(islice(returned, MAX_COMPLETION_VALUES + 1)) if isinstance(returned, Iterator) else tuple(returned)


def _beginning(values: Iterable[str], typed: str) -> Completion:
    """Return the values that begin with `typed`, ignoring case."""
    wanted = typed.casefold()
    return Completion(tuple(value for value in values if value.casefold().startswith(wanted)))


def _cut(completion: Completion) -> Completion:
    count = len(completion.values)
    total = completion.total if completion.total is not None or completion.has_more else count
    has_more = completion.has_more or count > MAX_COMPLETION_VALUES or (total is not None and total > count)
    return Completion(tuple(completion.values[:MAX_COMPLETION_VALUES]), total, has_more)
