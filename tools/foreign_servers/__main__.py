"""`python -m tools.foreign_servers`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tools.foreign_servers.arcade import settled
from tools.foreign_servers.compare import differences
from tools.foreign_servers.probe import NoServer, probe
from tools.foreign_servers.published import Published, servers
from tools.foreign_servers.rewrite import other_imports
from tools.foreign_servers.sources import CACHE, SOURCES, Source, examples, prepare
from tools.install import ROOT

AT_ONCE = 4
_SERVE = Path(__file__).with_name("serve.py")


class Outcome(NamedTuple):
    """The comparison of one example.

    Attributes:
        path: the path of the file in its source distribution.
        verdict: "same", "differs", "fails", "skipped" if the original does not run by itself, or "other" if the server
            needs further modules.
        details: the differences, or the reason.
    """

    path: str
    verdict: str
    details: list[str]


async def compare_example(source: Source, file: Path, room: asyncio.Semaphore) -> Outcome:
    """Run one example in both forms and compare them."""
    path = f"{source.name}-{source.version}/{file.relative_to(source.place)}"
    copy = source.changed_place / file.relative_to(source.place)
    async with room:
        try:
            original = await probe((source.python, _SERVE, file), file.parent)
        except NoServer as error:
            return Outcome(path, "skipped", [str(error)])
        if others := other_imports(copy):
            return Outcome(path, "other", [f"imports {', '.join(others)}"])
        try:
            ours = await probe((ROOT / ".venv" / "bin" / "python", _SERVE, copy), copy.parent)
        except NoServer as error:
            return Outcome(path, "fails", [str(error)])
    settle = settled if source.name == "arcade_mcp" else dict
    lines = list(differences(settle(original), settle(ours)))
    return Outcome(path, "differs" if lines else "same", lines)


async def compare_published(server: Published, overrides: Path | None, room: asyncio.Semaphore) -> Outcome:
    """Install a server of the package index, run it in both forms, and compare them."""
    path = f"{server.name}=={server.version}"
    async with room:
        try:
            server.prepare(overrides)
        except LookupError as error:
            return Outcome(path, "skipped", [str(error)])
        verdict, lines = await server.compare()
    return Outcome(path, verdict, lines)


async def main(only: str, overrides: Path | None) -> list[Outcome]:
    """Compare all examples and published servers whose path or name contains `only`."""
    room = asyncio.Semaphore(AT_ONCE)
    jobs = [compare_example(source, file, room) for source in SOURCES for file in examples(source) if only in str(file)]
    jobs += [compare_published(server, overrides, room) for server in servers() if only in server.name]
    return list(await asyncio.gather(*jobs))


def report(outcomes: list[Outcome], *, details: bool) -> Iterator[str]:
    """Return the lines of the table."""
    for outcome in outcomes:
        yield f"{outcome.verdict:8} {outcome.path}"
        if outcome.verdict in ("fails", "other") or details:
            yield from (f"         {line}" for line in outcome.details)
    for kind, mark in (("examples", "/"), ("published servers", "==")):
        counts = Counter(outcome.verdict for outcome in outcomes if mark in outcome.path)
        yield f"{kind}: {', '.join(f'{verdict}: {count}' for verdict, count in sorted(counts.items()))}"
        if compared := counts.total() - counts["skipped"] - counts["other"]:
            yield f"{counts['same']} of {compared} {kind} are the same ({counts['same'] / compared:.0%})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.foreign_servers", description=__doc__)
    parser.add_argument("--only", default="", help="compare the examples whose path contains this string")
    parser.add_argument("--details", action="store_true", help="print all differences")
    parser.add_argument("--overrides", type=Path, help="a file with versions in the place of required ones")
    options = parser.parse_args()
    for source in SOURCES:
        prepare(source, options.overrides)
    results = asyncio.run(main(options.only, options.overrides))
    data: list[dict[str, Any]] = [outcome._asdict() for outcome in results]
    (CACHE / "report.json").write_text(json.dumps(data, indent=2))
    sys.stdout.write("\n".join(report(results, details=options.details or bool(options.only))) + "\n")
