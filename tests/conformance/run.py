"""Run the official conformance suite against `pegboard serve`; `make conformance` calls it.

    python -m tests.conformance.run                                          every revision, every scenario
    python -m tests.conformance.run --spec-version 2026-07-28 --scenario tools-list
    python -m tests.conformance.run --url http://127.0.0.1:3001/mcp          another server
    python -m tests.conformance.run --mounted                                through a host that mounts the server
    python -m tests.conformance.run --on proxy                               two processes that share Redis, by turns

Exit codes: 0 exactly the failures that `expected.yml` lists; 1 other failures, or fewer; 2 the suite or the server does
not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.suite import EXTENSIONS, Suite, installed_suite
from tests.conformance.verdict import EXPECTED, Verdict, judge, read_expected
from tests.support.asgi_servers import HOST_SCRIPT, SERVERS, serve_command
from tests.support.distributions import make_distribution
from tests.support.redis_server import RedisServer
from tests.support.serving import serving as served
from tests.support.wire import PEGBOARD, client_environment
from tools.install import ROOT

KINDS = ("sqlite", "memory", "redis", "proxy", "workers")
"""Sessions in memory and tasks in SQLite, as by default; both in memory; both in Redis; there with two processes behind
a proxy, by turns; there with two workers.

Before workers the proxy makes each request a connection of its own, which the system gives to one of them.
"""
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
SHARED = '[host]\nstate = "redis"\nstate_keys = ["0123456789abcdef0123456789abcdef"]\n'


@contextmanager
def serving(folder: Path, asgi: str | None = None, on: str = "sqlite") -> Iterator[str]:
    """Run a host with the toolkits of this folder. Yield the URL of its endpoint.

    Args:
        folder: the working directory.
        asgi: the ASGI server that serves the host; None for the installed command `pegboard serve`.
        on: where sessions are, and how many processes serve, as in `KINDS`.
    """
    site = folder / "site"
    names = [kit.stem.removesuffix("_kit") for kit in KITS]
    entry_points = {"pegboard.toolkits": {name: f"{name}_kit:kit" for name in names}}
    modules = {kit.name: kit.read_text(encoding="utf-8") for kit in KITS}
    make_distribution(site, "conformance-kit", "1.0", entry_points, modules)
    shutil.copytree(Path(__file__).parent / "skills", site / "skills")
    if asgi is not None:
        command = serve_command(asgi, f"{HOST_SCRIPT.stem}:alone")
        (site / HOST_SCRIPT.name).write_text(HOST_SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    else:
        command = _serve(names, 2 if on == "workers" else 1)
    with ExitStack() as stack:
        shared = SHARED + stack.enter_context(RedisServer()).config if on not in ("sqlite", "memory") else ""
        if on == "memory":
            shared = '[plugins.tasks]\nstore = "memory"\n'
        (folder / "hostconfig.toml").write_text(shared + CONFIG, encoding="utf-8")
        environment = client_environment(folder, {"PYTHONPATH": str(site)})
        count = 2 if on == "proxy" else 1
        servers = [stack.enter_context(served(command, folder, environment)) for _ in range(count)]
        urls = [server.url for server in servers]
        yield stack.enter_context(_proxied(urls)) if on in ("proxy", "workers") else urls[0]
    for server in servers:
        assert "Traceback" not in server.stderr, server.stderr


@contextmanager
def _proxied(urls: list[str]) -> Iterator[str]:
    """Run a proxy of servers with the same path, which sends each request to the next one. Yield its URL."""
    parts = [urlsplit(url) for url in urls]
    command = [sys.executable, "-m", "tests.support.round_robin", *(part.netloc for part in parts)]
    with served(command, ROOT, os.environ) as proxy:
        yield proxy.url + parts[0].path


def _serve(names: list[str], workers: int) -> list[str]:
    return [
        str(PEGBOARD),
        "serve",
        "--config",
        "hostconfig.toml",
        "--strict",
        "--only",
        ",".join(names),
        *(["--workers", str(workers)] if workers > 1 else []),
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
    parser.add_argument(
        "--on", choices=KINDS, default="sqlite", help="where sessions and tasks are, and how many processes serve"
    )
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
    start = mounting(folder) if options.mounted else serving(folder, options.asgi, options.on)
    with nullcontext(options.url) if options.url else start as url:
        for revision in options.spec_version or REVISIONS:
            results = (options.output or folder / "results").resolve() / revision
            verdict = conform(suite, url, revision, results, options.scenario)
            report(revision, verdict)
            good = good and verdict.good
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
