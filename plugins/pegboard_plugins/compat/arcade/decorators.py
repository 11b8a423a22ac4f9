"""The decorator `tool`."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, get_args, overload

from pydantic import BaseModel

from pegboard import Context as HostContext
from pegboard import TextContent, ToolMetadata, ToolResult
from pegboard import tool as host_tool
from pegboard.plugin import ErrorAdapter, ToolDefinition, ToolFunction
from pegboard.types import ToolAuthorization
from pegboard_plugins.compat.adapting import adapter, is_of_class
from pegboard_plugins.compat.arcade.context import Context
from pegboard_plugins.compat.arcade.names import pascal_case
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration
from pegboard_plugins.compat.arcade.types import ToolExecution
from pegboard_plugins.compat.typed_dicts import plain_type

P = ParamSpec("P")
R = TypeVar("R")


class ArcadeToolOptions(TypedDict, total=False):
    """The options of a tool besides `desc`, which replaces the docstring.

    Attributes:
        name: the name; the function's name in Pascal case when None.
        requires_auth: the provider and scopes of the required token.
        requires_secrets: names of the required secrets.
        requires_metadata: keys of the required metadata.
        adapters: error adapters, asked before all others.
        metadata: the services that the tool uses, and its effects.
        ui: the interface that shows its results.
        execution: the support of tasks. The tool runs as a task if the client supports tasks.
        meta: the tool's `_meta`.
    """

    name: str | None
    requires_auth: ToolAuthorization | None
    requires_secrets: Iterable[str] | None
    requires_metadata: Iterable[str] | None
    adapters: Sequence[ErrorAdapter] | None
    metadata: ToolMetadata | None
    ui: ResourceDeclaration | None
    execution: ToolExecution | None
    meta: Mapping[str, Any] | None


class _ToolDecorator:
    """Turn a function into a tool, for `MCPApp.add_tool` and for toolkits of pegboard.

    Write `@tool` or `@tool(desc=..., ...)`.
    """

    @overload
    def __call__(self, func: Callable[P, R], /) -> ToolFunction[P, R]: ...

    @overload
    def __call__(
        self, func: None = None, desc: str | None = None, **options: Unpack[ArcadeToolOptions]
    ) -> Callable[[Callable[P, R]], ToolFunction[P, R]]: ...

    def __call__(
        self, func: Callable[..., Any] | None = None, desc: str | None = None, **options: Unpack[ArcadeToolOptions]
    ) -> Any:
        def make(function: Callable[..., Any]) -> ToolFunction[..., Any]:
            return ToolFunction(tool_definition(function, desc, **options))

        return make if func is None else make(func)

    deprecated = staticmethod(host_tool.deprecated)


tool = _ToolDecorator()


def tool_definition(
    function: Callable[..., Any], desc: str | None = None, **options: Unpack[ArcadeToolOptions]
) -> ToolDefinition:
    """Return a tool with its options.

    Raises:
        TypeError: an option does not exist.
    """
    for option in options.keys() - ArcadeToolOptions.__optional_keys__:
        raise TypeError(f"there is no option {option!r}{': use `desc`' if option == 'description' else ''}")
    shown = options.get("name") or pascal_case(function.__name__)
    getattr(function, "__dict__", {}).update(  # toolkits put these into messages
        __tool_name__=shown,
        __tool_description__=desc or inspect.cleandoc(function.__doc__ or ""),
        __tool_requires_auth__=options.get("requires_auth"),
        __tool_requires_secrets__=options.get("requires_secrets"),
        __tool_requires_metadata__=options.get("requires_metadata"),
        __tool_metadata__=options.get("metadata"),
        __tool_ui__=options.get("ui"),
    )
    interface = options.get("ui")
    execution = options.get("execution")
    support = None if execution is None else execution.task_support
    run = adapted(function)
    vars(run)["__tool_name__"] = shown  # authors format it into messages
    return ToolDefinition(
        run,
        name=shown,
        title=shown,
        description=desc,
        metadata=options.get("metadata"),
        meta=options.get("meta"),
        requires_auth=options.get("requires_auth"),
        requires_secrets=tuple(options.get("requires_secrets") or ()),
        requires_metadata=tuple(map(str, options.get("requires_metadata") or ())),
        extensions={} if interface is None else {"ui": interface},
        task=None if support == "forbidden" else support,
        adapters=tuple(options.get("adapters") or ()),
    )


# --- Functions for Arcade, as functions that pegboard can compile.
# The adapted function takes a `HostContext` where the original takes the context of Arcade, and passes pydantic models
# to it as dicts. A parameter that may be None is None if the caller leaves it out.

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
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
            kind=parameter.KEYWORD_ONLY if unset and parameter.kind in POSITIONAL else parameter.kind,
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
