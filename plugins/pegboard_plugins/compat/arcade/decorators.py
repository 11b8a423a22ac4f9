"""The decorator `tool`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from pegboard import ToolMetadata
from pegboard import tool as host_tool
from pegboard.plugin import ErrorAdapter, ToolDefinition, ToolFunction
from pegboard.types import ToolAuthorization
from pegboard_plugins.compat.arcade.functions import adapted
from pegboard_plugins.compat.arcade.names import pascal_case
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration
from pegboard_plugins.compat.arcade.types import ToolExecution

P = ParamSpec("P")
R = TypeVar("R")


class _ToolDecorator:
    """Turn a function into a tool, for `MCPApp.add_tool` and for toolkits of pegboard.

    Write `@tool` or `@tool(desc=..., ...)`.
    """

    @overload
    def __call__(self, func: Callable[P, R], /) -> ToolFunction[P, R]: ...

    @overload
    def __call__(
        self,
        func: None = None,
        desc: str | None = None,
        name: str | None = None,
        requires_auth: ToolAuthorization | None = None,
        requires_secrets: Iterable[str] | None = None,
        requires_metadata: Iterable[str] | None = None,
        adapters: Sequence[ErrorAdapter] | None = None,
        metadata: ToolMetadata | None = None,
        ui: ResourceDeclaration | None = None,
        execution: ToolExecution | None = None,
    ) -> Callable[[Callable[P, R]], ToolFunction[P, R]]: ...

    def __call__(self, func: Callable[..., Any] | None = None, *given: Any, **options: Any) -> Any:
        def make(function: Callable[..., Any]) -> ToolFunction[..., Any]:
            return ToolFunction(tool_definition(function, *given, **options))

        return make if func is None else make(func)

    deprecated = staticmethod(host_tool.deprecated)


tool = _ToolDecorator()


def tool_definition(
    function: Callable[..., Any],
    desc: str | None = None,
    name: str | None = None,
    requires_auth: ToolAuthorization | None = None,
    requires_secrets: Iterable[str] | None = None,
    requires_metadata: Iterable[str] | None = None,
    adapters: Sequence[ErrorAdapter] | None = None,
    metadata: ToolMetadata | None = None,
    ui: ResourceDeclaration | None = None,
    execution: ToolExecution | None = None,
    meta: Mapping[str, Any] | None = None,
) -> ToolDefinition:
    """Return a tool with its options.

    Args:
        function: the function for Arcade.
        desc: replaces the docstring.
        name: the name; the function's name in Pascal case when None.
        requires_auth: the provider and scopes of the required token.
        requires_secrets: names of the required secrets.
        requires_metadata: keys of the required metadata.
        adapters: error adapters, asked before all others.
        metadata: the services that the tool uses, and its effects.
        ui: the interface that shows its results.
        execution: has no effect. pegboard has no background tasks, and runs the tool as an ordinary call.
        meta: the tool's `_meta`.
    """
    shown = name or pascal_case(function.__name__)
    return ToolDefinition(
        adapted(function),
        name=shown,
        title=shown,
        description=desc,
        metadata=metadata,
        meta=meta,
        requires_auth=requires_auth,
        requires_secrets=tuple(requires_secrets or ()),
        requires_metadata=tuple(requires_metadata or ()),
        extensions={} if ui is None else {"ui": ui},
        adapters=tuple(adapters or ()),
    )
