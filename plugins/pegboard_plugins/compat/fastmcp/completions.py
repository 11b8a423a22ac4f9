"""One completion handler for all arguments, as one function for each argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from pegboard import Completion, Context
from pegboard.plugin import PromptDefinition, ResourceDefinition
from pegboard_plugins.compat.adapting import called, signed
from pegboard_plugins.compat.fastmcp.types import (
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

_VARIABLE = re.compile(r"\{[+#./;?&]?([\w,*]+)\}")


def completions_of(
    item: ResourceDefinition | PromptDefinition, handler: Callable[..., Any] | None
) -> Mapping[str, Callable[..., Any]]:
    """Return a completion function for each argument of a prompt, or for each variable of a template.

    Args:
        item: the prompt or template.
        handler: `async (reference, argument, context) -> Completion | None`; None for no completion.
    """
    if handler is None:
        return {}
    if isinstance(item, PromptDefinition):
        parameters = inspect.signature(item.function).parameters
        names = [name for name, parameter in parameters.items() if parameter.annotation is not Context]
        reference: object = PromptReference(name=item.name or "")
    else:
        names = [name for group in _VARIABLE.findall(item.uri) for name in group.split(",")]
        reference = ResourceTemplateReference(uri=item.uri)
    return {name: _function(handler, reference, name, [other for other in names if other != name]) for name in names}


def _function(handler: Callable[..., Any], reference: object, name: str, others: list[str]) -> Callable[..., Any]:
    async def complete(_typed: str, **chosen: str | None) -> Completion:
        arguments = {other: value for other, value in chosen.items() if value is not None}
        context = CompletionContext(arguments=arguments) if arguments else None
        result = await called(handler, reference, CompletionArgument(name=name, value=_typed), context)
        if result is None:
            return Completion(())
        values = getattr(result, "values", result)
        return Completion(values, getattr(result, "total", None), bool(getattr(result, "has_more", False)))

    text = str | None
    first = inspect.Parameter("_typed", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    rest = [inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY, annotation=text, default=None) for other in others]
    return signed(complete, inspect.Signature([first, *rest]))
