"""Runs the soak: `python -m benchmarks.soak [--minutes 60] [--clients 8] [--json]`.

The load pauses before each sample, so that a sample shows the memory of the idle server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import aiohttp
import jwt

from benchmarks.http.server import free_port
from benchmarks.soak.journeys import JOURNEYS, Peer, start_threads
from benchmarks.soak.tools import THREADS

MAX_GROWTH_MIB: Final = 3.0
"""The most that resident memory may grow in the second half of a run."""
SESSION_SECONDS: Final = 120
EVENTS_SECONDS: Final = 60
SETTLE_SECONDS: Final = 1.0
START_SECONDS: Final = 60

_CONFIG: Final = f"""
[host]
threads = {THREADS}

[plugins.http]
port = {{port}}
loopback_is_operator = true

[plugins.mcp]
session_idle_seconds = {SESSION_SECONDS}
events_seconds = {EVENTS_SECONDS}
max_sessions_per_caller = 10_000
"""


class Sample(NamedTuple):
    """The resources that an idle server holds."""

    minute: float
    journeys: int
    rss_mib: float
    descriptors: int
    threads: int
    cpu_seconds: float

    @classmethod
    def of(cls, pid: int, minute: float, journeys: int) -> Sample:
        """Read the resources of a process from the kernel."""
        process = Path(f"/proc/{pid}")
        lines = (line.split(":", 1) for line in (process / "status").read_text("ascii").splitlines())
        status = {key: value.split()[0] for key, value in lines if value.split()}
        fields = (process / "stat").read_text("ascii").rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        descriptors = len(os.listdir(process / "fd"))
        rss = int(status["VmRSS"]) / 1024
        return cls(minute, journeys, rss, descriptors, int(status["Threads"]), ticks / os.sysconf("SC_CLK_TCK"))


class Growth(NamedTuple):
    """Growth from the first to the last quarter of the second half: median memory, most descriptors, fewest threads.

    The thread of the watchdog comes and goes with calls, and may be in any sample. A thread that never ends is in all
    later samples.
    """

    rss_mib: float
    descriptors: int
    threads: int

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Growth:
        """Compare the first and the last quarter of the second half."""
        half = samples[len(samples) // 2 :]
        quarter = max(1, len(half) // 4)
        first, last = half[:quarter], half[-quarter:]

        memory = [statistics.median(sample.rss_mib for sample in some) for some in (first, last)]
        descriptors = [max(sample.descriptors for sample in some) for some in (first, last)]
        threads = [min(sample.threads for sample in some) for some in (first, last)]
        return cls(round(memory[1] - memory[0], 2), descriptors[1] - descriptors[0], threads[1] - threads[0])

    @property
    def is_level(self) -> bool:
        """True if the growth is within the limits."""
        return self.rss_mib <= MAX_GROWTH_MIB and self.descriptors <= 0 and self.threads <= 0


async def soak(options: argparse.Namespace) -> int:
    """Start a server, load it for the given time, and print the samples. Return 1 if they have grown."""
    secret = secrets.token_hex(32)
    token = jwt.encode({"aud": "worker", "ver": "1", "exp": time.time() + 60 * options.minutes + 600}, secret, "HS256")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        port = free_port()
        server = _start(Path(folder), port, secret, options.setting)
        try:
            base = f"http://127.0.0.1:{port}"
            samples = await _load(base, server, token, options)
        finally:
            server.terminate()
            code = server.wait(30)
    growth = Growth.of(samples)
    if options.json:
        print(
            json.dumps({"samples": [sample._asdict() for sample in samples], "growth": growth._asdict(), "exit": code})
        )
    else:
        print(f"second half: memory {growth.rss_mib:+} MiB (at most +{MAX_GROWTH_MIB:g}), ", end="")
        print(f"descriptors {growth.descriptors:+g}, threads {growth.threads:+g}; exit code {code}")
    return 0 if growth.is_level and code == 0 else 1


def _start(folder: Path, port: int, secret: str, settings: Sequence[str]) -> subprocess.Popen[bytes]:
    config = folder / "hostconfig.toml"
    config.write_text(_CONFIG.format(port=port), "utf-8")
    tools = Path(__file__).parent / "tools.py"
    command = [sys.executable, "-m", "pegboard", "serve", "--config", str(config), str(tools)]
    environ = {"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "ARCADE_WORKER_SECRET": secret}
    environ |= dict(setting.split("=", 1) for setting in settings)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, cwd=folder)


async def _load(base: str, server: subprocess.Popen[bytes], token: str, options: argparse.Namespace) -> list[Sample]:
    await _until_ready(base, server)
    chance = random.Random(options.seed)  # noqa: S311 - a run can be repeated
    samples: list[Sample] = []
    async with aiohttp.ClientSession() as http:
        await start_threads(Peer(http, base, token, chance))
    begun, done = time.monotonic(), 0
    while (minute := (time.monotonic() - begun) / 60) < options.minutes:
        end = min(time.monotonic() + options.sample_seconds, begun + options.minutes * 60)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as http:
            peer = Peer(http, base, token, chance)
            done += sum(await asyncio.gather(*(_travel(peer, end, options.pause) for _ in range(options.clients))))
        await asyncio.sleep(SETTLE_SECONDS)  # abandoned calls end
        samples.append(Sample.of(server.pid, round(minute, 2), done))
        _show(samples[-1])
    return samples


async def _travel(peer: Peer, end: float, pause: float) -> int:
    """Make journeys until the time is over, and return their number."""
    journeys, weights = list(JOURNEYS), list(JOURNEYS.values())
    done = 0
    while time.monotonic() < end:
        (journey,) = peer.chance.choices(journeys, weights)
        await journey(peer)
        done += 1
        await asyncio.sleep(pause)
    return done


async def _until_ready(base: str, server: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(START_SECONDS), aiohttp.ClientSession() as http:
        while server.poll() is None:
            try:
                async with http.get(f"{base}/readyz") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)
    raise RuntimeError(f"the server ended with {server.returncode} before it was ready")


def _show(sample: Sample) -> None:
    print(
        f"{sample.minute:6.1f} min {sample.journeys:8,} journeys {sample.rss_mib:7.1f} MiB "
        f"{sample.descriptors:4} descriptors {sample.threads:3} threads {sample.cpu_seconds:8.1f} s CPU",
        file=sys.stderr,
        flush=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Load a server for long.")
    parser.add_argument("--minutes", type=float, default=60, help="duration of the load (60)")
    parser.add_argument("--clients", type=int, default=8, help="number of simultaneous clients (8)")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two journeys of a client (0.02)")
    parser.add_argument("--sample-seconds", type=float, default=30, help="seconds of load before each sample (30)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random journeys (1)")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="one more variable")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(asyncio.run(soak(_parser().parse_args())))
