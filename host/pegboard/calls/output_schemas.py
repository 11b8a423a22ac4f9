"""The check of results that middleware returns in place of a tool's result, against the tool's output schema (MCP,
server/tools).

The results of the tools themselves are checked during the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pegboard.calls.served_item import ServedItem
from pegboard.errors import ToolDefinitionError, ToolOutputSchemaError
from pegboard.messages.error_words import line
from pegboard.types.calls import Call, Outcome, ToolResult
from pegboard.types.catalogue import Tool

if TYPE_CHECKING:
    from pegboard.schemas.json_schema import JsonSchema


class OutputSchemas:
    """The output schemas of tools. Each schema is compiled at its first use.

    Args:
        tools: the tools by name.
    """

    def __init__(self, tools: Mapping[str, ServedItem]) -> None:
        self._tools = tools
        self._compiled: dict[str, JsonSchema | None] = {}

    def problem(self, call: Call, outcome: Outcome) -> str | None:
        """Return the reason why an outcome does not fit the tool's output schema, or None if it fits."""
        bound = self._tools.get(str(call.params.get("name")))
        if not isinstance(outcome, ToolResult) or outcome.is_error or bound is None or bound.tool.output_schema is None:
            return None
        if not outcome.structured:
            return "a ToolResult that is not structured for a tool with an output schema"
        if (schema := self._schema(bound.tool)) is None:
            return None
        try:
            problems = schema.problems(outcome.value)
        except ValueError:
            return "a ToolResult whose value is not JSON"
        if not problems:
            return None
        texts = "; ".join(line(path, text) for path, text in problems[:3])
        return f"a ToolResult that does not fit the tool's output schema: {texts}"

    def _schema(self, tool: Tool) -> JsonSchema | None:
        """Return the compiled schema of a tool, or None if only pydantic supports the schema."""
        if tool.name not in self._compiled:
            from pegboard.schemas.json_schema import compile_schema

            try:
                self._compiled[tool.name] = compile_schema(tool.output_schema, "output_schema", ToolOutputSchemaError)
            except ToolDefinitionError:
                self._compiled[tool.name] = None
        return self._compiled[tool.name]
