"""`python -m tools.peers`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pegboard_client import Client, Endpoint, Program
from tools.comparison.differences import difference
from tools.comparison.processes import listening, running
from tools.peers.enduring import endure
from tools.peers.killing import kill_during
from tools.peers.lineup import CACHE, PEERS, PeerServer, prepare, python_of
from tools.peers.published import NOT_REVIEWED, compare_all_published, report_published, reviewed
from tools.peers.survey import Survey, named_question

PORT = 3910
FIRST_LIST_SECONDS = 60
REVISIONS = ("2025-11-25", "2026-07-28")
SESSIONS_ONLY = ("sdk1", "typescript_v1", "arcade")
"""Libraries that speak no newer revision than 2025-11-25."""


class Compared(NamedTuple):
    """The steps of a client through the mount, beside the same steps without it.

    Attributes:
        name: the peer.
        steps: how many steps were compared.
        differences: the results of each step with another one, except the intended one: questions name their server.
        questions: how many questions named their server.
        change_seconds: how long a change of a list took to arrive through the mount.
    """

    name: str
    steps: int
    differences: dict[str, str]
    questions: int
    change_seconds: float


class MountingHost(NamedTuple):
    """The host that mounts the peers."""

    url: str
    pid: int


@asynccontextmanager
async def mounted(peers: list[PeerServer]) -> AsyncIterator[MountingHost]:
    """Start the servers over HTTP and a host that mounts all peers."""
    config = {
        "host": {"autoload": False, "transports": ["http"]},
        "plugins": {
            "http": {"port": PORT, "loopback_is_operator": True},
            "upstreams": {
                "first_list_seconds": FIRST_LIST_SECONDS,
                "forget_days": 0,
                "servers": {peer.name: {**peer.section(), "sampling": True} for peer in peers},
            },
        },
    }
    objects = ",".join(peer.name for peer in peers if peer.transport == "object")
    program = str(Path(__file__).with_name("mounting_program.py"))
    async with AsyncExitStack() as stack:
        for peer in peers:
            if peer.port:
                await stack.enter_async_context(running(peer.command(), CACHE / f"{peer.name}.log", peer.env))
        for peer in peers:
            if peer.port:
                await listening(peer.port, CACHE)
        command = [str(python_of("fastmcp")), program, json.dumps(config), objects]
        process = await stack.enter_async_context(running(command, CACHE / "host.log", {}))
        await listening(PORT, CACHE)
        yield MountingHost(f"http://127.0.0.1:{PORT}/mcp", process.pid)


async def direct(peer: PeerServer, revision: str) -> dict[str, Any]:
    """Return the findings of a client of a peer of its own."""
    speaks = "2025-11-25" if peer.library in SESSIONS_ONLY else revision
    transport = "stdio" if peer.transport == "object" else peer.transport
    if transport == "stdio":
        command, *args = peer.command(transport)
        survey = Survey(Program(command, args, peer.env, stderr=lambda _: None), peer.name, speaks, mounted=False)
        await survey.run()
        return survey.found
    async with running(peer.command(), CACHE / f"{peer.name}-direct.log", peer.env):
        await listening(peer.port, CACHE)
        survey = Survey(Endpoint(f"http://127.0.0.1:{peer.port}/mcp"), peer.name, speaks, mounted=False)
        await survey.run()
        return survey.found


async def compare(peers: list[PeerServer], revision: str) -> list[Compared]:
    """Compare all peers for clients of a revision."""
    itself = {peer.name: await direct(peer, revision) for peer in peers}
    compared = []
    async with mounted(peers) as host:
        for peer in peers:
            survey = Survey(Endpoint(host.url), peer.name, revision, mounted=True)
            await survey.run()
            expected, actual = itself[peer.name], survey.found
            questions = expected.get("questions", [])
            expected = (
                {**expected, "questions": [named_question(peer.name, params) for params in questions]}
                if questions
                else expected
            )
            different = {
                step: difference(expected.get(step), actual.get(step))
                for step in expected.keys() | actual.keys()
                if expected.get(step) != actual.get(step)
            }
            compared.append(Compared(peer.name, len(expected), different, len(questions), survey.change_seconds))
    return compared


def report(compared: list[Compared]) -> Iterator[str]:
    """Return the lines of the table."""
    for result in compared:
        change = "" if result.change_seconds == 0 else f", change after {result.change_seconds * 1000:.0f} ms"
        yield f"{result.name:16} {result.steps - len(result.differences)} of {result.steps} steps are the same{change}"
        if result.questions:
            yield f'    intended difference: {result.questions} questions name the server, as "{result.name} asks: ..."'
        for step, shown in result.differences.items():
            yield f"    {step}: {reviewed(result.name, step)}"
            yield f"        {shown}"


async def kill(peers: list[PeerServer], options: argparse.Namespace) -> int:
    """Kill each peer during calls, or all in turn for some minutes. Return how often that went wrong."""
    bad = 0
    async with AsyncExitStack() as stack, mounted(peers) as host, Client(host.url, timeout=90) as client:
        listed = [tool["name"] for tool in await client.tools()]
        tools = {}
        for peer in peers:
            tools[peer] = next(
                name for name in listed if name.startswith(f"{peer.name}_") and name.lower().endswith("add")
            )
        running_again: dict[PeerServer, AsyncExitStack] = {}

        async def restart(peer: PeerServer) -> None:
            if peer in running_again:
                await running_again[peer].aclose()
            running_again[peer] = again = await stack.enter_async_context(AsyncExitStack())
            await again.enter_async_context(running(peer.command(), CACHE / f"{peer.name}-again.log", peer.env))
            await listening(peer.port, CACHE)

        if options.minutes:
            await endure(host.url, host.pid, tools, options.minutes, 30, restart)
            return 0
        for peer in peers:
            if peer.transport != "object":
                others = [tools[other] for other in peers if other is not peer]
                killed = await kill_during(client, peer, tools[peer], others, options.kill, partial(restart, peer))
                sys.stdout.write(f"{killed}\n")
                sys.stdout.flush()
                before, meanwhile = killed.others_ms
                bad += killed.outcomes.total() != options.kill or meanwhile > 2 * before
    return bad


async def main(options: argparse.Namespace) -> int:
    """Compare the chosen peers and published servers. Return the number of differences that nobody has reviewed."""

    def is_chosen(name: str) -> bool:
        return any(part in name for part in options.only.split(","))

    peers = [peer for peer in PEERS if is_chosen(peer.name)]
    if options.kill or options.minutes:
        return await kill(peers, options)
    count = 0
    for revision in REVISIONS if peers else ():
        lines = [revision, *report(await compare(peers, revision))]
        sys.stdout.write("\n".join(lines) + "\n")
        count += sum(NOT_REVIEWED in line for line in lines)
    async for comparison in compare_all_published(is_chosen, options.overrides):
        lines = list(report_published(comparison))
        print(*lines, sep="\n", flush=True)
        count += sum(NOT_REVIEWED in line for line in lines)
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    parser.add_argument("--only", default="", help="peers with one of these strings in their names, with commas")
    parser.add_argument("--kill", type=int, metavar="CALLS", help="kill each peer during so many calls instead")
    parser.add_argument("--minutes", type=float, help="kill peers in turn for so long instead")
    parser.add_argument("--overrides", type=Path, help="a file with versions in the place of required ones")
    chosen = parser.parse_args()
    if any(part in peer.name for part in chosen.only.split(",") for peer in PEERS):
        prepare(chosen.overrides)
    sys.exit(1 if asyncio.run(main(chosen)) else 0)
