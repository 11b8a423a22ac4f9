"""Compares key paths of the checkout with an earlier revision: `python -m benchmarks.regressions [--base REVISION]`."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from benchmarks.contenders import PEGBOARD, Contender, Contenders
from benchmarks.environments import CACHE, ROOT, Environments
from benchmarks.regressions import meters
from benchmarks.regressions.accepted import Accepted
from benchmarks.regressions.comparison import Compared, table
from benchmarks.regressions.meters import Meter
from benchmarks.regressions.paths import PATHS, KeyPath
from tools.install import find_uv

_CACHE: Final = CACHE / "regressions"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure both revisions and print the table. Return 1 if a path is slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regressions", description=__doc__)
    parser.add_argument("--base", default="", metavar="REVISION", help="revision to compare with (the last release)")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time, even if valgrind is installed")
    options = parser.parse_args(argv)
    base = options.base or last_release()
    meter = meters.CPU_TIME if options.cpu_time else meters.best()
    sides = (_contender(_exported(base), _CACHE / "base"), _contender(ROOT, _CACHE / "checkout"))
    accepted = Accepted.read().growth(base)
    if unknown := accepted.keys() - {path.name for path in PATHS}:
        raise SystemExit(f"regressions: accepted.toml names rows that are not compared: {', '.join(sorted(unknown))}")
    compared = compare(meter, PATHS, sides, accepted)
    print(table(compared, base[:12], meter))
    slower = [result.path for result in compared if result.is_slower]
    if slower:
        print(f"\nslower than accepted: {'; '.join(slower)}. benchmarks/README.md says how to go on.")
    return 1 if slower else 0


def compare(
    meter: Meter, paths: Sequence[KeyPath], sides: tuple[Contender, Contender], accepted: Mapping[str, float]
) -> list[Compared]:
    """Measure each path in both revisions, which take turns. With an exact meter, both processes run at once.

    Args:
        meter: the meter.
        paths: the paths.
        sides: the base and the checkout.
        accepted: the accepted growth of paths, as a share. The meter's limit is added.
    """

    def total(process: tuple[KeyPath, int, int]) -> float:
        path, requests, side = process
        cost = meter.total(path, sides[side], requests)
        name = ("base", "checkout")[side]
        print(f"regressions: {path.name}, {requests} requests, {name}: {cost:,.10g}", file=sys.stderr, flush=True)
        return cost

    paths = [path.longer(meter.times) for path in paths]
    kinds = [(path, requests, side) for path in paths for requests in path.runs for side in (0, 1)]
    processes = kinds * meter.rounds
    with ThreadPoolExecutor((os.cpu_count() or 1) if meter.is_exact else 1) as pool:
        costs = list(zip(processes, pool.map(total, processes), strict=True))

    def least(path: KeyPath, requests: int, side: int) -> float:
        return min(cost for process, cost in costs if process == (path, requests, side))

    def cost(path: KeyPath, side: int) -> float:
        return path.cost({requests: least(path, requests, side) for requests in path.runs})

    return [
        Compared(path.name, cost(path, 0), cost(path, 1), meter.limit + max(0, accepted.get(path.name, 0)))
        for path in paths
    ]


def last_release() -> str:
    """Return the tag of the last release before this commit, or the base before the first release."""
    command = ("git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD^")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or Accepted.read().base


def _exported(revision: str) -> Path:
    """Write the files of a revision into the cache, and return their folder."""
    done = subprocess.run(("git", "archive", revision), cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"regressions: this repository has no revision {revision}; fetch it (git fetch --unshallow --tags),"
            " or name another one: make regressions BASE=REVISION"
        )
    folder = _CACHE / "base" / f"checkout-{revision.replace('/', '-')}"
    shutil.rmtree(folder, ignore_errors=True)  # a branch moves
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer have filters
        archive.extractall(folder)  # noqa: S202 - it is this repository
    return folder


def _contender(checkout: Path, cache: Path) -> Contender:
    contender = Contenders(Environments(uv=find_uv("auto"), checkout=checkout, cache=cache)).get(PEGBOARD)
    _, *options = contender.command
    _, *served = contender.serve
    program = (contender.environment.python, "-m", "pegboard")
    return Contender(
        checkout.name,
        contender.environment,
        (*program, *options),
        (*program, *served),
        tools=contender.tools,
        records=contender.records,
    )


if __name__ == "__main__":
    sys.exit(main())
