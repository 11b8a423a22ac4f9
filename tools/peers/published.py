"""Published servers, each mounted as a user mounts it, beside a direct client.

A step of the client is a list, or a request for one item. The steps are taken twice: the process of the server is
killed between them. A server that starts slowly is one whose program waits for a file: its lists are requested before.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pegboard_client import Client, Program
from tools.comparison.differences import difference
from tools.comparison.environments import npm_environment, python_environment
from tools.comparison.exploring import attempt, explore, exploring_client, lists_of
from tools.comparison.processes import listening, processes_of, running
from tools.install import ROOT
from tools.peers.lineup import CACHE
from tools.peers.work_place import GIT_VARIABLES, make_site, make_work_place

HERE = Path(__file__).parent
DAY = "2026-11-28"
"""No dependency of a server is newer, so that each run installs the same versions."""
START_SECONDS = 300
REQUEST_SECONDS = 60
RESTART_SECONDS = 300
DIRECT_REVISION = {"2025-11-25": "2025-11-25", "2026-07-28": None}
"""The revision of the direct client, by that of the client of the host. None is the newest that the server speaks."""
SITE = CACHE / "site"
SITE_PORT = 3909
NOT_REVIEWED = "NOT REVIEWED"
PEGBOARD = str(ROOT / ".venv" / "bin" / "pegboard")
WAITING = ("sh", "-c", 'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"')
"""The start of a command that waits for a file."""
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_CONNECTION = ("resultType", "ttlMs", "cacheScope", "execution")
"""Members of results and items that belong to the connection, and `execution`, which the host removes."""


class PublishedServer(NamedTuple):
    """A server of the package indexes.

    Attributes:
        name: the name of its section.
        package: the package and its exact version: `npm:NAME@VERSION` or `pypi:NAME==VERSION`.
        digest: the digest of the package: its `integrity` in npm, or the SHA-256 of its wheel in PyPI.
        command: its command.
        args: the arguments.
        env: the variables.
        calls: calls of tools. Other tools are called with sampled arguments.
        prompts: the arguments of prompts, by name.
        requirements: further requirements, where those of the package no longer fit together.
    """

    name: str
    package: str
    digest: str
    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = {}
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    prompts: Mapping[str, Mapping[str, str]] = {}
    requirements: Sequence[str] = ()

    @property
    def place(self) -> Path:
        """The folder of its environment."""
        return CACHE / "published" / self.name

    @property
    def gate(self) -> Path:
        """The file that lets it start."""
        return self.place.with_suffix(".gate")

    @property
    def work(self) -> Path:
        """Its working directory."""
        return self.place.with_suffix(".work")

    def install(self, overrides: Path | None) -> None:
        """Install it with the versions of that day, and check its digest.

        Raises:
            SystemExit: a step failed, or the package has another digest.
        """
        index, _, package = self.package.partition(":")
        if index == "npm":
            npm_environment(self.place, (f"--before={DAY}", package))
            lock = json.loads((self.place / "package-lock.json").read_text("utf-8"))
            digest = lock["packages"][f"node_modules/{package.rpartition('@')[0]}"]["integrity"]
            if digest != self.digest:
                raise SystemExit(f"{package} has the digest {digest}, not {self.digest}")
        else:
            wanted = self.place.with_suffix(f".{self.digest}.txt")
            wanted.parent.mkdir(parents=True, exist_ok=True)
            wanted.write_text(f"{package} --hash=sha256:{self.digest}\n", "utf-8")
            python_environment(
                self.place, ("--exclude-newer", f"{DAY}T00:00:00Z", "-r", wanted, *self.requirements), overrides
            )

    @property
    def program(self) -> tuple[str, ...]:
        """The command of its process."""
        folder = "node_modules/.bin" if self.package.startswith("npm:") else "bin"
        return (str(self.place / folder / self.command), *self.args)

    @property
    def variables(self) -> dict[str, str]:
        """The environment of its process."""
        return {"HOME": str(self.work), "PEER_NAME": self.name, **GIT_VARIABLES, **self.env}

    def direct(self) -> Program:
        """Return the address for a direct client."""
        command, *args = (*WAITING, str(self.gate), *self.program)
        return Program(command, args, self.variables, self.work, stderr=lambda _: None)

    def mounted(self) -> Program:
        """Write the configuration of a host, let it remember the lists, and return the host's address."""
        command, *args = (*WAITING, str(self.gate), *self.program)
        config = self.place.with_suffix(".toml")
        env = ", ".join(f"{name} = {json.dumps(value)}" for name, value in self.variables.items())
        lines = [
            *("[host]", "autoload = false", f"[plugins.upstreams.servers.{self.name}]", "prefix = false"),
            *("sampling = true", f"cwd = {json.dumps(str(self.work))}", f"env = {{ {env} }}"),
            *(f"command = {json.dumps(command)}", f"args = {json.dumps(args)}", ""),
        ]
        config.write_text("\n".join(lines), "utf-8")
        home = {"HOME": str(self.place.with_suffix(".home"))}
        trust = (PEGBOARD, "config", "trust", "--config", str(config))
        subprocess.run(trust, env=os.environ | home, check=True, capture_output=True)
        return Program(PEGBOARD, ("stdio", "--config", str(config)), home, self.place, stderr=lambda _: None)


class Comparison(NamedTuple):
    """The steps of a client through the mount, beside the same steps of a direct client.

    Attributes:
        name: the server.
        revision: the revision of the client.
        steps: how many steps were compared.
        unsteady: how many more have another answer in each run of the direct client.
        differences: for each step with another answer, its name and the answers.
    """

    name: str
    revision: str
    steps: int
    unsteady: int
    differences: dict[str, str]


def published_servers() -> Iterator[PublishedServer]:
    """Yield the servers that are compared."""
    for name, fields in tomllib.loads((HERE / "published.toml").read_text("utf-8")).items():
        yield PublishedServer(name, **fields)


async def compare_all_published(only: Callable[[str], bool], overrides: Path | None) -> AsyncIterator[Comparison]:
    """Compare the published servers with a chosen name, for clients of both eras, while a site is there to fetch."""
    make_site(SITE)
    site = (sys.executable, "-m", "http.server", str(SITE_PORT), "--bind", "127.0.0.1", "--directory", str(SITE))
    async with running(site, CACHE / "site.log", {}):
        await listening(SITE_PORT, CACHE / "site.log")
        for server in published_servers():
            if only(server.name):
                server.install(overrides)
                for revision in DIRECT_REVISION:
                    yield await compare_published(server, revision)


def report_published(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the table. A difference without a reason in `reviewed.toml` is NOT REVIEWED."""
    equal = comparison.steps - len(comparison.differences)
    unsteady = f"; {comparison.unsteady} more differ in each run" if comparison.unsteady else ""
    yield f"{comparison.name:20} {comparison.revision} {equal} of {comparison.steps} steps are the same{unsteady}"
    for step, shown in comparison.differences.items():
        yield f"    {step}: {reviewed(comparison.name, step.partition(': ')[2])}"
        yield f"        {shown}"


def reviewed(server: str, step: str) -> str:
    """Return the reason of a difference, or NOT_REVIEWED."""
    reasons = tomllib.loads((HERE / "reviewed.toml").read_text("utf-8"))
    reason: str = reasons.get(server, {}).get(step, NOT_REVIEWED)
    return reason


async def compare_published(server: PublishedServer, revision: str) -> Comparison:
    """Compare a mounted server with itself, for clients of a revision."""
    original = await direct(server, revision)
    ours = await mounted(server, revision)
    different = {key for key in original.keys() | ours.keys() if original.get(key) != ours.get(key)}
    again = await direct(server, revision) if different else original
    unsteady = {key for key in different if original.get(key) != again.get(key)}
    lines = {key: difference(original.get(key), ours.get(key)) for key in sorted(different - unsteady)}
    return Comparison(server.name, revision, len(original) - len(unsteady), len(unsteady), lines)


async def direct(server: PublishedServer, revision: str) -> dict[str, Any]:
    """Return the findings of a direct client of two processes, one after the other."""
    make_work_place(server.work)
    server.gate.touch()
    found: dict[str, Any] = {}
    for number in range(2):
        async with _client(server, server.direct(), DIRECT_REVISION[revision]) as client:
            found |= await first_steps(server, client, number) | await next_steps(server, client, number)
    return found


async def mounted(server: PublishedServer, revision: str) -> dict[str, Any]:
    """Return the findings of a client of a host. The process of the server is killed once."""
    make_work_place(server.work)
    server.gate.touch()
    address = server.mounted()
    server.gate.unlink()
    async with _client(server, address, revision) as client:
        found = await first_steps(server, client, 0) | await next_steps(server, client, 0)
        processes = processes_of(server.program, f"PEER_NAME={server.name}")
        assert processes, f"no process runs {server.program}"
        for process in processes:
            os.kill(process, signal.SIGKILL)
        found |= await first_steps(server, client, 1) | await next_steps(server, client, 1)
    return found


def _client(server: PublishedServer, address: Program, revision: str | None) -> Client:
    return exploring_client(address, revision, START_SECONDS, server.work.as_uri())


async def first_steps(server: PublishedServer, client: Client, number: int) -> dict[str, Any]:
    """Return the lists before the server has started, and the answer to a call that waits for it."""
    lists = await lists_of(client)
    tool = server.calls[0] if server.calls else (lists["tools"][0]["name"], {})
    calling = asyncio.create_task(_connected(client, *tool))
    server.gate.touch()
    return _plain({**lists, "first call": await calling}, f"start {number}: ")


async def next_steps(server: PublishedServer, client: Client, number: int) -> dict[str, Any]:
    """Return the answers of the server."""
    return _plain(await explore(client, server.calls, server.prompts, REQUEST_SECONDS), f"use {number}: ")


async def _connected(client: Client, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool until the host has connected to its server again."""
    async with asyncio.timeout(RESTART_SECONDS):
        while True:
            result = await attempt(client.call(tool, arguments))
            error = (result.get("_meta") or {}).get("pegboard/error") or {}
            if not str(error.get("kind")).startswith("NETWORK_TRANSPORT"):
                return result
            await asyncio.sleep(0.1)


def _plain(answers: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return answers without the members of a connection."""
    return {
        prefix + key: [_item(item) for item in answer] if isinstance(answer, list) else _item(answer)
        for key, answer in answers.items()
    }


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in item.items() if key not in _CONNECTION}
    meta = {key: value for key, value in kept.pop("_meta", {}).items() if key != _SERVER_INFO}
    return {**kept, "_meta": meta} if meta else kept
