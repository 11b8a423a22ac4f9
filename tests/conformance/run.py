"""Run the official conformance suite against `pegboard serve`; `make conformance` calls it.

    python -m tests.conformance.run                                          every revision, every scenario
    python -m tests.conformance.run --spec-version 2026-07-28 --scenario tools-list
    python -m tests.conformance.run --url http://127.0.0.1:3001/mcp          another server
    python -m tests.conformance.run --mounted                                through a host that mounts the server

Exit codes: 0 exactly the failures that `expected.yml` lists; 1 other failures, or fewer; 2 the suite or the server does
not run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests.conformance.suite import EXTENSIONS, Suite, installed_suite
from tests.conformance.verdict import EXPECTED, Verdict, judge, read_expected
from tests.support.asgi_servers import HOST_SCRIPT, SERVERS, serve_command
from tests.support.distributions import make_distribution
from tests.support.serving import serving as served
from tests.support.wire import PEGBOARD, client_environment

REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", *EXTENSIONS)
"""The revisions, and the extensions."""
KITS = sorted(Path(__file__).parent.glob("*_kit.py"))
CONFIG = """
[plugins.http]
port = 0
[plugins.mcp]
poll_after_seconds = 0.25
retry_ms = 100
"""
"""The server ends streams of long calls early, so that the suite resumes them."""


@contextmanager
def serving(folder: Path, asgi: str | None = None) -> Iterator[str]:
    """Run a host with the toolkits of this folder. Yield the URL of its endpoint.

    Args:
        folder: the working directory.
        asgi: the ASGI server that serves the host; None for the installed command `pegboard serve`.
    """
    site = folder / "site"
    names = [kit.stem.removesuffix("_kit") for kit in KITS]
    entry_points = {"pegboard.toolkits": {name: f"{name}_kit:kit" for name in names}}
    modules = {kit.name: kit.read_text(encoding="utf-8") for kit in KITS}
    make_distribution(site, "conformance-kit", "1.0", entry_points, modules)
    shutil.copytree(Path(__file__).parent / "skills", site / "skills")
    (folder / "hostconfig.toml").write_text(CONFIG, encoding="utf-8")
    if asgi is not None:
        command = serve_command(asgi, f"{HOST_SCRIPT.stem}:alone")
        (site / HOST_SCRIPT.name).write_text(HOST_SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    else:
        command = _serve(names)
    with served(command, folder, client_environment(folder, {"PYTHONPATH": str(site)})) as server:
        yield server.url
    assert "Traceback" not in server.stderr, server.stderr


def _serve(names: list[str]) -> list[str]:
    return [
        str(PEGBOARD),
        "serve",
        "--config",
        "hostconfig.toml",
        "--strict",
        "--only",
        ",".join(names),
    ]


@contextmanager
def mounting(folder: Path) -> Iterator[str]:
    """Run `pegboard serve` with a server of `serving` mounted. Yield the URL of the mounting host."""
    near = folder / "near"
    near.mkdir()
    with serving(folder) as url:
        mount = f'[plugins.upstreams.servers.far]\nurl = "{url}"\nprefix = false\nstart = "required"\n'
        (near / "hostconfig.toml").write_text("[host]\nautoload = false\n" + CONFIG + mount, encoding="utf-8")
        command: list[str | Path] = [PEGBOARD, "serve", "--config", "hostconfig.toml", "--strict"]
        with served(command, near, client_environment(near, {})) as server:
            yield server.url
        assert "Traceback" not in server.stderr, server.stderr


def conform(suite: Suite, url: str, revision: str, folder: Path, scenario: str | None = None) -> Verdict:
    """Run the scenarios of a revision, or one, and judge them."""
    names = suite.scenarios(revision) if scenario is None else [scenario]
    expected = read_expected(EXPECTED.read_text(encoding="utf-8"))
    return judge(names, suite.run(url, revision, folder, scenario), expected)


def report(revision: str, verdict: Verdict) -> None:
    """Print the verdict on a revision."""
    for failure, reason in verdict.expected:
        print(f"expected  {failure.scenario}: {failure.check} ({reason})")
    if not verdict.good:
        print(verdict.complaints())
    scenarios = len(verdict.passed) + len({failure.scenario for failure, _ in verdict.expected})
    scenarios += len({failure.scenario for failure in verdict.unexpected})
    counts = f"{len(verdict.passed)} of {scenarios} scenarios pass, {verdict.succeeded} checks succeed"
    print(
        f"conformance {revision}: {counts}, {verdict.skipped} are skipped, {len(verdict.unexpected)} fail unexpectedly"
    )


def main(arguments: list[str]) -> int:
    """Run the scenarios that the command line names."""
    parser = argparse.ArgumentParser(description="Run the official conformance suite against pegboard serve.")
    parser.add_argument(
        "--spec-version", action="append", metavar="V", help=f"one of {', '.join(REVISIONS)}; may be repeated"
    )
    parser.add_argument("--scenario", metavar="NAME", help="run only this scenario")
    parser.add_argument("--url", help="test a running server instead of starting one")
    parser.add_argument("--asgi", choices=SERVERS, help="serve the host with this ASGI server")
    parser.add_argument("--mounted", action="store_true", help="test a host that mounts the server")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the results of the suite in this folder")
    options = parser.parse_args(arguments)
    try:
        suite = installed_suite()
        with tempfile.TemporaryDirectory(prefix="conformance-") as temporary:
            good = _all(suite, options, Path(temporary))
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if good else 1


def _all(suite: Suite, options: argparse.Namespace, folder: Path) -> bool:
    good = True
    start = mounting(folder) if options.mounted else serving(folder, options.asgi)
    with nullcontext(options.url) if options.url else start as url:
        for revision in options.spec_version or REVISIONS:
            results = (options.output or folder / "results").resolve() / revision
            verdict = conform(suite, url, revision, results, options.scenario)
            report(revision, verdict)
            good = good and verdict.good
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
