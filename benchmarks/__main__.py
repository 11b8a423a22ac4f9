"""Runs the benchmarks: `python -m benchmarks [--only call,start] [--quick] [--json]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks import calls, client_calls, imports, lazy, lists, locked, machine, memory, promises, report, start
from benchmarks.bench import Bench
from benchmarks.contenders import NAMES, Contenders
from benchmarks.environments import Environments, find_uv
from benchmarks.http import auth, mounted_calls
from benchmarks.http import calls as http_calls
from benchmarks.http import lists as http_lists
from benchmarks.http import memory as http_memory
from benchmarks.results import Results

SCENARIOS = {
    scenario.NAME: scenario.run
    for scenario in (
        start,
        imports,
        memory,
        calls,
        lists,
        locked,
        lazy,
        http_calls,
        auth,
        http_lists,
        http_memory,
        client_calls,
        mounted_calls,
    )
}
_SHOWN_VERSIONS = (
    "pegboard",
    "mcp",
    "fastmcp",
    "pydantic",
    "pydantic-core",
    "pluggy",
    "anyio",
    "aiohttp",
    "uvicorn",
    "uvloop",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code."""
    options = _parser().parse_args(argv)
    environments = Environments(options.python, None if options.pip else find_uv())
    contenders = Contenders(environments)
    versions = {name: _versions(contenders, name) for name in options.contenders}
    theirs, ours = (None, None) if options.no_pin else machine.halves()
    rounds, seconds = (2, 0.1) if options.quick else (7, 0.4)
    bench = Bench(contenders, Results(), options.contenders, options.rounds or rounds, seconds, theirs)
    described = machine.description()
    with machine.own_processors(ours):
        before = machine.Moment.now()
        for scenario in options.only:
            SCENARIOS[scenario](bench)
        load = machine.Load.between(before, machine.Moment.now())
    described |= {"busy_others": round(load.others, 3), "steal": round(load.steal, 3)}
    described |= {"python": environments.version, "rounds": bench.rounds, "versions": versions}
    _show(bench.results, described, load.warnings() + report.noise(bench.results), as_json=options.json)
    return 0


def _show(results: Results, described: dict[str, Any], warnings: list[str], *, as_json: bool) -> None:
    kept = promises.lines(results)
    if as_json:
        document = {
            "machine": described,
            "warnings": warnings,
            "promises": kept,
            "results": results.as_json(),
            "ratios": report.ratios(results),
        }
        print(json.dumps(document, indent=1))
        return
    for key, value in described.items():
        print(f"{key}: {value}")
    for table in report.tables(results):
        print(f"\n{table}")
    print()
    for line in kept + [f"warning: {warning}" for warning in warnings]:
        print(line)


def _versions(contenders: Contenders, name: str) -> dict[str, str]:
    installed = contenders.get(name).environment.versions
    return {key: installed[key] for key in _SHOWN_VERSIONS if key in installed}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure pegboard beside others.")
    parser.add_argument(
        "--only",
        type=_list_of(SCENARIOS),
        default=tuple(SCENARIOS),
        metavar="SCENARIOS",
        help=f"with commas, of: {', '.join(SCENARIOS)}",
    )
    parser.add_argument(
        "--contenders",
        type=_list_of(NAMES),
        default=NAMES,
        metavar="NAMES",
        help=f"with commas, of: {', '.join(NAMES)}",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: for trying, not for quoting")
    parser.add_argument("--rounds", type=int, help="how often everything is measured; 7 unless --quick")
    parser.add_argument("--json", action="store_true", help="print JSON, with every round's values")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to make environments with")
    parser.add_argument("--pip", action="store_true", help="make environments with venv and pip, though uv is present")
    parser.add_argument("--no-pin", action="store_true", help="leave it to the kernel which processor runs whom")
    return parser


def _list_of(known: Any) -> Any:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
