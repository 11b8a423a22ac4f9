"""The tools that a model gets: definitions as an MCP server lists them, and functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any, NotRequired, TypedDict

from pegboard_evals.scoring import ActualCall, plain_name


class MCPToolDefinition(TypedDict):
    """A tool as an MCP server lists it."""

    name: str
    description: NotRequired[str]
    inputSchema: NotRequired[Mapping[str, Any]]


class ToolCatalog:
    """The functions whose tools a suite offers to the model."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._codes: set[CodeType | None] = set()

    def add_module(self, module: ModuleType) -> None:
        """Add all tools in a module or package."""
        self._modules.append(module.__name__)

    def add_tool(self, tool_func: Callable[..., Any], toolkit_or_name: object = None) -> None:
        """Add the tool of a function. The second argument has no effect: the host names the tool."""
        self._codes.add(code_of(tool_func))

    def __contains__(self, function: Callable[..., Any]) -> bool:
        module = f"{getattr(function, '__module__', '')}."
        return code_of(function) in self._codes or any(module.startswith(f"{name}.") for name in self._modules)


def shown_tool(tool: Mapping[str, Any]) -> MCPToolDefinition:
    """Return the members of a tool that a model gets."""
    schema = tool.get("inputSchema") or {"type": "object", "properties": {}}
    return {"name": tool.get("name", ""), "description": tool.get("description") or "", "inputSchema": schema}


def with_defaults(call: ActualCall, tools: Sequence[MCPToolDefinition]) -> ActualCall:
    """Return a call with the tool's own name, and with the defaults of its schema for missing and null values."""
    name, arguments = call
    tool = next((tool for tool in tools if plain_name(tool["name"]) == plain_name(name)), None)
    if tool is None:
        return call
    properties = tool.get("inputSchema", {}).get("properties", {})
    defaults = {key: schema["default"] for key, schema in properties.items() if "default" in schema}
    missing = {key: value for key, value in defaults.items() if arguments.get(key) is None}
    return tool["name"], {**arguments, **missing}


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function, which is the same for each import of its file."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None
