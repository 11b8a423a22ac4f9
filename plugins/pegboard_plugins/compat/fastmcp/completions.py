"""One completion handler for all arguments, as one function for each argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pegboard import Completion
from pegboard_plugins.compat.fastmcp.types import CompletionArgument, CompletionContext


def completions(
    handler: Callable[..., Any], reference: object, names: Iterable[str]
) -> Mapping[str, Callable[..., Any]]:
    """Return a completion function for each argument of a prompt or template.

    Args:
        handler: `async (reference, argument, context) -> Completion | None`.
        reference: the PromptReference or ResourceTemplateReference.
        names: the arguments.
    """
    names = tuple(names)
    return {name: _function(handler, reference, name, [one for one in names if one != name]) for name in names}


def _function(handler: Callable[..., Any], reference: object, name: str, others: list[str]) -> Callable[..., Any]:
    async def complete(typed: str, **chosen: str | None) -> Completion:
        given = {other: value for other, value in chosen.items() if value is not None}
        context = CompletionContext(arguments=given) if given else None
        answer = handler(reference, CompletionArgument(name=name, value=typed), context)
        found = await answer if inspect.isawaitable(answer) else answer
        if found is None:
            return Completion(())
        values = getattr(found, "values", found)
        return Completion(values, getattr(found, "total", None), bool(getattr(found, "has_more", False)))

    text = str | None
    first = inspect.Parameter("typed", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    rest = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, annotation=text, default=None) for one in others]
    complete.__signature__ = inspect.Signature([first, *rest])  # type: ignore[attr-defined]
    complete.__annotations__ = {"typed": str, **dict.fromkeys(others, text)}
    return complete
