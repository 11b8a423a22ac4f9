"""`python -m tools.error_messages`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent

from tools.error_messages.calls import CALLS, answers
from tools.foreign_servers.sources import SOURCES, prepare
from tools.install import ROOT

PAGE = ROOT / "docs" / "error-messages.md"
BEGIN, END = "<!-- answers -->\n", "<!-- end -->\n"
FIRST_LINE = "Invalid arguments:\n"
OURS = ("pegboard:Toolkit", "prefix")
"""The arguments of the server for pegboard."""
CLASSES = {
    ("mcp", "1.30.0"): "mcp.server.fastmcp:FastMCP",
    ("mcp", "2.3.0"): "mcp.server:MCPServer",
    ("fastmcp", "4.2.3"): "fastmcp:FastMCP",
}
"""The server class of each other framework."""


def ask_all(overrides: Path | None) -> dict[str, list[str]]:
    """Return the answers of all frameworks, by the name and version of the framework.

    Args:
        overrides: a requirements file whose versions replace those that the frameworks require.
    """
    by_server = {"pegboard": answers(ROOT / ".venv" / "bin" / "python", *OURS)}
    for source in sorted(SOURCES, key=lambda item: item.name):
        if server := CLASSES.get((source.name, source.version)):
            prepare(source, overrides)
            by_server[f"{source.name} {source.version}"] = answers(source.python, server)
    return by_server


def page(by_server: Mapping[str, Sequence[str]]) -> str:
    """Return the generated part of the page: the mean lengths, then the examples."""
    refused = [texts for texts in zip(*by_server.values(), strict=True) if not any(map(_is_accepted, texts))]
    means = [sum(map(len, column)) // len(refused) for column in zip(*refused, strict=True)]
    shown = ", ".join(f"{name} {mean}" for name, mean in zip(by_server, means, strict=True))
    start = f"Mean length in characters of the answers to the {len(refused)} calls that all frameworks refuse: {shown}."
    return f"{start}\n\n```text answers\n{examples(by_server['pegboard'])}\n```\n"


def examples(texts: Sequence[str]) -> str:
    """Return each wrong call with its answer below, without the first line that all have."""
    return "\n\n".join(
        f"{call.tool} {json.dumps(call.arguments)}\n{indent(text.removeprefix(FIRST_LINE), '    ')}"
        for call, text in zip(CALLS, texts, strict=True)
    )


def _is_accepted(text: str) -> bool:
    return text.startswith("accepted: ")


def write(path: Path, by_server: Mapping[str, Sequence[str]]) -> None:
    """Replace the generated part of the page."""
    head, _, rest = path.read_text("utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    path.write_text(head + BEGIN + page(by_server) + END + tail, "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.error_messages", description=__doc__)
    parser.add_argument("--overrides", type=Path, help="a file with versions in the place of required ones")
    write(PAGE, ask_all(parser.parse_args().overrides))
