"""`Tool` and `ToolResult`, as `fastmcp.tools` has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.results import ToolResult
from pegboard_plugins.compat.fastmcp.types import TextContent

__all__ = ["TextContent", "Tool", "ToolResult"]

__getattr__ = missing_names(__name__)


class Tool(NamedTuple):
    """A tool, for `FastMCP.add_tool`.

    Attributes:
        fn: its function.
        options: the options of `FastMCP.tool`.
    """

    fn: Callable[..., Any]
    options: Mapping[str, Any]

    @classmethod
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Self:
        """Create it from a function."""
        return cls(fn, {"name": name, **options})

    @property
    def name(self) -> str:
        """The name of the tool."""
        name: str = self.options.get("name") or self.fn.__name__
        return name
