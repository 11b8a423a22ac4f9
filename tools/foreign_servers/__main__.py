"""`python -m tools.foreign_servers`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tools.comparison.environments import InstallFailed
from tools.foreign_servers.arcade import settled
from tools.foreign_servers.compare import differences
from tools.foreign_servers.probe import NoServer, probe, probe_http
from tools.foreign_servers.published import Published, servers
from tools.foreign_servers.rewrite import other_imports
from tools.foreign_servers.sources import CACHE, SOURCES, Source, examples, prepare
from tools.install import ROOT

AT_ONCE = 3
PORT = 3940
_SERVE = Path(__file__).with_name("serve.py")
_REVIEWED = Path(__file__).with_name("reviewed.toml")
_REPORT = CACHE / "report.json"


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


async def compare_example(source: Source, file: Path) -> Outcome:
    """Run one example in both forms and compare them."""
    path = example_path(source, file)
    copy = source.changed_place / file.relative_to(source.place)
    try:
        original = await served(source.python, file)
    except NoServer as error:
        return Outcome(path, "skipped", [str(error)])
    if others := other_imports(copy):
        return Outcome(path, "other", [f"imports {', '.join(others)}"])
    try:
        ours = await served(ROOT / ".venv" / "bin" / "python", copy)
    except NoServer as error:
        return Outcome(path, "fails", [str(error)])
    settle = settled if source.name == "arcade_mcp" else dict
    lines = list(differences(settle(original), settle(ours)))
    return Outcome(path, "differs" if lines else "same", lines)


async def served(python: Path, file: Path) -> dict[str, Any]:
    """Serve a file over stdio, or over HTTP if its name says so, and return what it answers.

    Raises:
        NoServer: it did not start or died.
    """
    if not file.stem.endswith("_http"):
        return await probe((python, _SERVE, file), file.parent, os.environ)
    return await probe_http((python, _SERVE, file, str(PORT)), PORT, CACHE / f"{file.stem}.log")


async def compare_published(server: Published, overrides: Path | None) -> Outcome:
    """Install a server of the package index, run it in both forms, and compare them."""
    try:
        server.prepare(overrides)
    except InstallFailed as error:
        return Outcome(server.path, "skipped", [str(error)])
    return Outcome(server.path, *await server.compare())


def example_path(source: Source, file: Path) -> str:
    """Return the name of an example in the table."""
    return f"{source.name}-{source.version}/{file.relative_to(source.place)}"


async def main(only: str, overrides: Path | None, finished: Mapping[str, Outcome]) -> list[Outcome]:
    """Compare all examples and published servers whose path or name contains `only`, without the finished ones."""
    room = asyncio.Semaphore(AT_ONCE)
    outcomes = dict(finished)

    async def compare(comparison: Awaitable[Outcome]) -> None:
        async with room:
            outcome = await comparison
        outcomes[outcome.path] = outcome
        sys.stderr.write(f"{outcome.verdict:8} {outcome.path}\n")
        _REPORT.write_text(json.dumps(list(outcomes.values()), indent=2))

    files = [(source, file) for source in SOURCES for file in examples(source) if only in str(file)]
    listed = [server for server in servers() if only in server.name]
    jobs = [compare(compare_example(*pair)) for pair in files if example_path(*pair) not in finished]
    jobs += [compare(compare_published(server, overrides)) for server in listed if server.path not in finished]
    await asyncio.gather(*jobs)
    paths = [*(example_path(*pair) for pair in files), *(server.path for server in listed)]
    return [outcomes[path] for path in paths]


def earlier() -> dict[str, Outcome]:
    """Return the outcomes of the earlier run, by path."""
    with suppress(FileNotFoundError):
        return {row[0]: Outcome(*row) for row in json.loads(_REPORT.read_text())}
    return {}


def is_reviewed(outcome: Outcome, reviewed: Mapping[str, Mapping[str, str]]) -> bool:
    """Return True if an outcome is no fault, or has a reason. Published servers are listed because they run."""
    is_published = "==" in outcome.path
    if outcome.verdict == "same" or (outcome.verdict in ("skipped", "other") and not is_published):
        return True
    return outcome.path in reviewed.get(outcome.verdict, {})


def report(outcomes: list[Outcome], *, details: bool) -> Iterator[str]:
    """Return the lines of the table."""
    reviewed = tomllib.loads(_REVIEWED.read_text("utf-8"))
    for outcome in outcomes:
        yield f"{outcome.verdict:8} {outcome.path}"
        reason = reviewed.get(outcome.verdict, {}).get(outcome.path, "")
        if reason:
            yield f"         reviewed: {reason}"
        elif not is_reviewed(outcome, reviewed):
            yield "         NOT REVIEWED"
        if details or not is_reviewed(outcome, reviewed):
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
    parser.add_argument("--resume", action="store_true", help="keep the outcomes of an earlier, unfinished run")
    parser.add_argument("--overrides", type=Path, help="a file with versions in the place of required ones")
    options = parser.parse_args()
    for source in SOURCES:
        prepare(source, options.overrides)
    results = asyncio.run(main(options.only, options.overrides, earlier() if options.resume else {}))
    sys.stdout.write("\n".join(report(results, details=options.details or bool(options.only))) + "\n")
    reasons = tomllib.loads(_REVIEWED.read_text("utf-8"))
    sys.exit(not all(is_reviewed(outcome, reasons) for outcome in results))
