"""Runs the benchmarks: `python -m benchmarks [--only call,start] [--quick] [--resume]`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import calls, client_calls, data, imports, lists, machine, memory, promises, report, start
from benchmarks.bench import Bench
from benchmarks.contenders import NAMES, Contenders
from benchmarks.document import Document, revision, text
from benchmarks.environments import CACHE, Environments
from benchmarks.http import auth, mounted_calls
from benchmarks.http import calls as http_calls
from benchmarks.http import lists as http_lists
from benchmarks.http import memory as http_memory
from benchmarks.http import sizes as http_sizes
from benchmarks.messages import WrongAnswerError
from benchmarks.process import ServerFailedError
from tools.install import find_uv

SCENARIOS = {
    scenario.NAME: scenario.run
    for scenario in (
        start,
        imports,
        memory,
        calls,
        lists,
        http_calls,
        auth,
        http_lists,
        http_memory,
        http_sizes,
        client_calls,
        mounted_calls,
        data,
    )
}
_SHOWN_VERSIONS = (
    "pegboard",
    "mcp",
    "fastmcp",
    "arcade-mcp-server",
    "pydantic",
    "pydantic-core",
    "pluggy",
    "anyio",
    "aiohttp",
    "uvicorn",
    "uvloop",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the requested scenarios, print the results, and return the exit code."""
    options = _parser().parse_args(argv)
    environments = Environments(options.python, None if options.pip else find_uv("auto"), options.overrides)
    contenders = Contenders(environments)
    versions, missing = _versions(contenders, options.contenders)
    rounds, seconds = (2, 0.1) if options.quick else (7, 0.4)
    method = {
        "revision": revision(),
        "machine": machine.description(),
        "python": environments.version,
        "rounds": options.rounds or rounds,
        "seconds": options.seconds or seconds,
        "pinned": not options.no_pin,
        "versions": versions,
    }
    document = Document(method, missing=missing)
    if options.resume and options.output.exists():
        document = _continued(document, Document.read(json.loads(options.output.read_text("utf-8"))))
    failed = _measure(document, contenders, options)
    _show(document, as_json=options.json)
    return 1 if failed else 0


def _continued(new: Document, old: Document) -> Document:
    if old.method == new.method:
        return Document(new.method, old.results, old.scenarios, new.missing)
    differing = ", ".join(key for key in new.method if new.method[key] != old.method.get(key))
    _say(f"the earlier results have another {differing}: measuring all scenarios again")
    return new


def _measure(document: Document, contenders: Contenders, options: argparse.Namespace) -> list[str]:
    """Measure the scenarios that the document lacks, and write it after each. Return the scenarios that failed."""
    method, failed = document.method, []
    cpus = None if options.no_pin else machine.one_processor()
    names = tuple(name for name in options.contenders if name not in document.missing)
    with machine.own_processors(cpus):
        bench = Bench(contenders, document.results, names, method["rounds"], method["seconds"], cpus)
        for number, scenario in enumerate(options.only, 1):
            place = f"scenario {number} of {len(options.only)}, {scenario}"
            if scenario in document.scenarios:
                _say(f"{place}: taken from {options.output}")
                continue
            _say(place)
            try:
                with document.measuring(scenario):
                    SCENARIOS[scenario](bench)
            except (ServerFailedError, WrongAnswerError, OSError) as error:
                _say(f"{place} failed: {error}")
                failed.append(scenario)
            document.write(options.output)
    return failed


def _show(document: Document, *, as_json: bool) -> None:
    if as_json:
        print(text(document.as_json()), end="")
        return
    for key, value in document.method.items():
        print(f"{key}: {value}")
    for table in report.tables(document.results):
        print(f"\n{table}")
    print()
    for promise in promises.of(document.results):
        print(promises.line(promise))
    for warning in document.warnings():
        print(f"warning: {warning}")


def _versions(contenders: Contenders, names: Sequence[str]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Install all contenders. Return the versions that are shown, and the contenders that could not be installed."""
    versions, missing = {}, {}
    for name in names:
        try:
            installed = contenders.get(name).environment.versions
        except subprocess.CalledProcessError:
            missing[name] = "its environment could not be made: replace versions that the index lacks with --overrides"
        else:
            versions[name] = {key: installed[key] for key in _SHOWN_VERSIONS if key in installed}
    return versions, missing


def _say(what: str) -> None:
    print(f"benchmarks: {what}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure pegboard beside others.")
    parser.add_argument(
        "--only",
        type=_list_of(SCENARIOS),
        default=tuple(SCENARIOS),
        metavar="SCENARIOS",
        help=f"scenarios, separated by commas: {', '.join(SCENARIOS)}",
    )
    parser.add_argument(
        "--contenders",
        type=_list_of(NAMES),
        default=NAMES,
        metavar="NAMES",
        help=f"contenders, separated by commas: {', '.join(NAMES)}",
    )
    parser.add_argument("--quick", action="store_true", help="two short rounds, to try the command")
    parser.add_argument("--rounds", type=int, help="number of rounds (7, with --quick 2)")
    parser.add_argument("--seconds", type=float, help="seconds for each kind of call (0.4, with --quick 0.1)")
    parser.add_argument("--json", action="store_true", help="print the JSON document instead of tables")
    parser.add_argument(
        "--output",
        type=Path,
        default=CACHE / "results.json",
        metavar="FILE",
        help="file of the JSON document, written after each scenario (%(default)s)",
    )
    parser.add_argument("--resume", action="store_true", help="measure only scenarios that the document lacks")
    parser.add_argument("--overrides", type=Path, metavar="FILE", help="requirements that replace versions; needs uv")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the environments")
    parser.add_argument(
        "--pip", action="store_true", help="make environments with venv and pip, even if uv is installed"
    )
    parser.add_argument("--no-pin", action="store_true", help="let the kernel choose the processors")
    return parser


def _list_of(allowed: Any) -> Any:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        for name in names:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"unknown name {name!r}: use {', '.join(allowed)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
