"""`python -m tools.error_messages`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.error_messages.calls import CALLS, answers
from tools.foreign_servers.sources import SOURCES, prepare
from tools.install import ROOT

PAGE = ROOT / "docs" / "error-messages.md"
BEGIN, END = "<!-- answers -->\n", "<!-- end -->\n"
OURS = ("pegboard:Toolkit", "prefix")
"""The arguments of the server for pegboard."""
CLASSES = {
    ("mcp", "1.30.0"): "mcp.server.fastmcp:FastMCP",
    ("mcp", "2.3.0"): "mcp.server:MCPServer",
    ("fastmcp", "4.1.6"): "fastmcp:FastMCP",
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


def page(by_server: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Return the lines of the generated part: a table of lengths, then the answers of pegboard."""
    yield "| mistake | " + " | ".join(by_server) + " |"
    yield "|---|" + "--:|" * len(by_server)
    for place, call in enumerate(CALLS):
        cells = [_length(texts[place]) for texts in by_server.values()]
        yield f"| {call.mistake} | {' | '.join(cells)} |"
    refused = [
        place for place in range(len(CALLS)) if all(_length(texts[place]).isdigit() for texts in by_server.values())
    ]
    means = [str(sum(len(texts[place]) for place in refused) // len(refused)) for texts in by_server.values()]
    yield f"| mean of the {len(refused)} that all refuse | {' | '.join(means)} |"
    for call, text in zip(CALLS, by_server["pegboard"], strict=True):
        yield f"\n### {call.mistake}\n\n`{call.tool}` with `{json.dumps(call.arguments)}`\n\n```\n{text}\n```"


def _length(text: str) -> str:
    return "accepted" if text.startswith("accepted: ") else str(len(text))


def write(path: Path, by_server: Mapping[str, Sequence[str]]) -> None:
    """Replace the generated part of the page."""
    head, _, rest = path.read_text("utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    path.write_text(head + BEGIN + "\n".join(page(by_server)).rstrip() + "\n" + END + tail, "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.error_messages", description=__doc__)
    parser.add_argument("--overrides", type=Path, help="a file with versions in the place of required ones")
    write(PAGE, ask_all(parser.parse_args().overrides))
