"""Prompts: handlers as functions of pegboard."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from pegboard import Context as HostContext
from pegboard.plugin import PromptDefinition
from pegboard_plugins.compat.arcade.context import Context
from pegboard_plugins.compat.arcade.types import Prompt, PromptArgument
from pegboard_plugins.compat.fastmcp.prompts import prompt_result

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def prompt_definition(prompt: Prompt, handler: Callable[..., Any] | None) -> PromptDefinition:
    """Return a prompt.

    Args:
        prompt: its names, description and arguments.
        handler: a function of the arguments, or of the context and the arguments, that returns messages. If None, the
            description is the message.
    """
    run: Callable[..., Any] = handler or (lambda arguments: prompt.description or f"Prompt: {prompt.name}")
    takes_context = sum(one.kind in _POSITIONAL for one in inspect.signature(run).parameters.values()) > 1

    async def render(running: HostContext, **arguments: str | None) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        found = run(Context(running), given) if takes_context else run(given)
        return prompt_result(await found if inspect.isawaitable(found) else found)

    own = inspect.Parameter("running", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=HostContext)
    parameters = [own, *map(_parameter, prompt.arguments or ())]
    render.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    render.__annotations__ = {one.name: one.annotation for one in parameters}
    return PromptDefinition(render, name=prompt.name, title=prompt.title, description=prompt.description or prompt.name)


def _parameter(argument: PromptArgument) -> inspect.Parameter:
    kind: Any = str if argument.required else str | None
    if argument.description:
        kind = Annotated[kind, argument.description]
    default = inspect.Parameter.empty if argument.required else None
    return inspect.Parameter(argument.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
