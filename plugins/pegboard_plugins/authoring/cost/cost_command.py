"""`pegboard cost`: the estimated number of tokens that the tools cost in each request of a model."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.plugin import CommandContext, encode
from pegboard.terminal import estimated_tokens, print_json, print_table, say, tool_tokens
from pegboard.types import Tool

MAX_LARGEST_TOOLS = 5
"""The number of tools that are named above the budget."""


class ToolCost(TypedDict):
    """The estimated tokens of a tool."""

    name: str
    toolkit: str
    tokens: int
    longest_part: str


class CostOutput(TypedDict):
    """The output of `pegboard cost`."""

    ok: bool
    tokens: int
    budget: int | None
    toolkits: dict[str, int]
    tools: list[ToolCost]


def token_count(text: str) -> int:
    """Return a number of tokens on the command line."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number from 0, not {text!r}")
    return int(text)


def run_cost(command: CommandContext) -> int:
    """Print the estimated tokens of each toolkit and tool. Fail above `--budget`, and without all tools."""
    host = command.host
    missing = command.missing_items(host).values()
    for finding in missing:
        say(f"{finding.level}: {finding.message}")
    is_complete = not any(finding.level == "error" for finding in missing)
    tools = [bound.tool for bound in host.assembly.tools.values()]
    costs = {tool.name: tool_tokens(tool) for tool in tools}
    total = sum(costs.values())
    over = command.options.budget is not None and total > command.options.budget
    is_fine = is_complete and not over and not any(problem.fatal for problem in host.problems)
    if command.options.json:
        print_json(_as_json(tools, costs, command.options.budget, ok=is_fine))
        return 0 if is_fine else 1
    print_table([*_rows(tools, costs), ("total", f"{total:>7}", "")])
    if over:
        say(
            f"the tools cost about {total} tokens, over the budget of {command.options.budget}: shorten or disable some"
        )
        for tool in _largest(tools, costs)[:MAX_LARGEST_TOOLS]:
            say(f"  {tool.name} ({costs[tool.name]}): {_longest_part(tool)}")
    return 0 if is_fine else 1


def _rows(tools: list[Tool], costs: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    yield "TOOL", " TOKENS", "LONGEST PART"
    for owner, cost in _of_toolkits(tools, costs).items():
        yield owner, f"{cost:>7}", ""
        for tool in _largest([tool for tool in tools if tool.owner == owner], costs):
            yield f"  {tool.name}", f"{costs[tool.name]:>7}", _longest_part(tool)


def _of_toolkits(tools: list[Tool], costs: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens of each toolkit, the largest first."""
    tokens: dict[str, int] = {}
    for tool in tools:
        tokens[tool.owner] = tokens.get(tool.owner, 0) + costs[tool.name]
    return dict(sorted(tokens.items(), key=lambda item: (-item[1], item[0])))


def _largest(tools: list[Tool], costs: Mapping[str, int]) -> list[Tool]:
    return sorted(tools, key=lambda tool: (-costs[tool.name], tool.name))


def _longest_part(tool: Tool) -> str:
    """Return the part of a tool with the most tokens: the description, or a parameter."""
    parameters = tool.input_schema.get("properties", {})
    parts = {f"parameter {name}": encode(about).decode() for name, about in parameters.items()}
    parts["description"] = tool.description
    name = max(parts, key=lambda part: estimated_tokens(parts[part]))
    return f"{name}, {estimated_tokens(parts[name])}"


def _as_json(tools: list[Tool], costs: Mapping[str, int], budget: int | None, *, ok: bool) -> CostOutput:
    return {
        "ok": ok,
        "tokens": sum(costs.values()),
        "budget": budget,
        "toolkits": _of_toolkits(tools, costs),
        "tools": [
            {"name": tool.name, "toolkit": tool.owner, "tokens": costs[tool.name], "longest_part": _longest_part(tool)}
            for tool in _largest(tools, costs)
        ],
    }
