"""Prompts: handlers as functions of pegboard."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from pegboard import Context as HostContext
from pegboard.plugin import PromptDefinition
from pegboard_plugins.compat.adapting import called, signed
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
    takes_context = sum(parameter.kind in _POSITIONAL for parameter in inspect.signature(run).parameters.values()) > 1
    names = {f"argument_{number}": argument.name for number, argument in enumerate(prompt.arguments or ())}

    async def render(running: HostContext, **arguments: str | None) -> Any:
        values = {names[parameter]: value for parameter, value in arguments.items() if value is not None}
        return prompt_result(await called(run, *((Context(running), values) if takes_context else (values,))))

    own = inspect.Parameter("running", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=HostContext)
    parameters = [own, *map(_parameter, names, prompt.arguments or ())]
    return PromptDefinition(
        signed(render, inspect.Signature(parameters)),
        name=prompt.name,
        title=prompt.title,
        description=prompt.description or prompt.name,
    )


def _parameter(parameter: str, argument: PromptArgument) -> inspect.Parameter:
    """Return a parameter that clients call by the name of the argument, which need not be a name of Python."""
    kind: Any = str if argument.required else str | None
    annotation = Annotated[kind, argument.name, argument.description or ""]
    default = inspect.Parameter.empty if argument.required else None
    return inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
