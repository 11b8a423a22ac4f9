"""Functions for Arcade, as functions that pegboard can compile.

The adapted function takes a `HostContext` where the original takes the context of Arcade, and passes pydantic models
to it as dicts. A parameter that may be None is None if the caller leaves it out.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from pegboard import Context as HostContext
from pegboard import TextContent, ToolResult
from pegboard_plugins.compat.adapting import adapter, is_of_class
from pegboard_plugins.compat.arcade.context import Context
from pegboard_plugins.compat.typed_dicts import plain_type

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NOTHING = ToolResult({}, structured=True, content=(TextContent("{}"),))
"""The result of a function that has no return type and returns nothing."""


def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same parameters that pegboard can compile."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function, include_extras=True)
    contexts = {name for name in signature.parameters if is_of_class(hints.get(name), Context, HostContext)}
    models = {name for name in signature.parameters if _holds_model(hints.get(name))}
    types = {name: HostContext if name in contexts else plain_type(hint) for name, hint in hints.items()}
    is_silent = "return" not in hints
    # a parameter that may be None is optional, also without a default
    unset = {
        name: None
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and is_of_class(hints.get(name), type(None))
    }

    def prepared(*values: Any, **keywords: Any) -> Mapping[str, Any]:
        arguments = {**unset, **signature.bind_partial(*values, **keywords).arguments}
        for name in contexts & arguments.keys():
            if isinstance(arguments[name], HostContext):
                arguments[name] = Context(arguments[name])
        for name in models & arguments.keys():
            arguments[name] = _dumped(arguments[name])
        return arguments

    def answered(value: Any) -> Any:
        return _NOTHING if value is None and is_silent else value

    parameters = [
        parameter.replace(
            annotation=types.get(name, parameter.empty),
            default=unset.get(name, parameter.default),
            kind=parameter.KEYWORD_ONLY if unset and parameter.kind in _POSITIONAL else parameter.kind,
        )
        for name, parameter in signature.parameters.items()
    ]
    shown = signature.replace(parameters=parameters, return_annotation=types.get("return"))
    return adapter(function, prepared, answered, shown)


def _holds_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and not get_args(annotation):
        return issubclass(annotation, BaseModel)
    return any(_holds_model(part) for part in get_args(annotation))


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, list):
        return [_dumped(item) for item in value]
    return {key: _dumped(member) for key, member in value.items()} if isinstance(value, dict) else value
