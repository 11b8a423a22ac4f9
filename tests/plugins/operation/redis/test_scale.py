"""Four processes on one Redis behind a proxy, under load, while processes are killed, suspended and replaced.

No session is lost, no answer is wrong or older than a write, nothing happens twice, and each error has its reason.
`make scale` disturbs the processes for longer.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.plugins.operation.redis import scale_kit
from tests.plugins.operation.redis.scale_journeys import Cluster, ServerProcess, Traveller
from tests.support.http import http_config
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.round_robin import RoundRobin

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
STATE = 'state = "redis"\nstate_keys = ["0123456789abcdef0123456789abcdef"]'
DRAIN_SECONDS = 1
NOTICE_SECONDS = 0.5
"""How long the proxy sends connections to a process that does not answer, or stops."""

SECONDS = float(os.environ.get("TEST_SECONDS", "0"))
"""How long processes are killed and suspended; 0 for a short run."""
logger = logging.getLogger("scale")


class Plan(NamedTuple):
    """The length of a run, its load and its disturbances.

    Attributes:
        seconds: how long processes are killed and suspended.
        sessions: the number of clients.
        pause: the mean time between two journeys of a client.
        kill_seconds: the time between two kills.
        suspend_seconds: how long a process is suspended, once for each three kills.
        redis_seconds: how long Redis is away.
    """

    seconds: float = 60
    sessions: int = 50
    pause: float = 1
    kill_seconds: float = 20
    suspend_seconds: float = 20
    redis_seconds: float = 5


SHORT = Plan(seconds=4, sessions=10, pause=0.2, kill_seconds=2, suspend_seconds=1, redis_seconds=1.5)


class Run(AsyncExitStack):
    """The processes of a run, which end with its block, and their disturbances."""

    def __init__(self, plan: Plan, folder: Path, redis: RedisServer, cluster: Cluster) -> None:
        super().__init__()
        self.plan = plan
        self.kit = folder / "scale_kit.py"
        self.redis = redis
        self.cluster = cluster
        self.kit.write_text(Path(scale_kit.__file__).read_text("utf-8"), "utf-8")

    async def start(self, host: str) -> None:
        """Start a process at an address, and let the proxy use it."""
        command = (sys.executable, "-m", "pegboard", "serve", str(self.kit))
        lines = f'host = "{host}"\nport = 0\ndrain_seconds = {DRAIN_SECONDS}'
        config = http_config(lines, host=STATE, more=self.redis.config)
        process = await self.enter_async_context(ServerProcess(self.kit.parent, config, command=command))
        self.cluster.processes[host, process.port] = process
        self.cluster.proxy.addresses.append((host, process.port))

    @property
    def serving(self) -> list[ServerProcess]:
        """The processes that the proxy uses."""
        return [self.cluster.processes[address] for address in self.cluster.proxy.addresses]

    def take_out(self, process: ServerProcess) -> tuple[str, int]:
        """Let the proxy no longer use a process. Return its address."""
        (address,) = (place for place, other in self.cluster.processes.items() if other is process)
        if address in self.cluster.proxy.addresses:
            self.cluster.proxy.addresses.remove(address)
        return address

    # --- disturbances

    async def disturb(self) -> None:
        """Kill a process in each interval, and suspend another one in each third."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.plan.seconds
        suspending: asyncio.Task[None] | None = None
        kills = 0
        while loop.time() < end and not self.cluster.ending:
            if kills % 3 == 0:
                suspending = asyncio.create_task(self.suspend(random.choice(self.serving)))
            await asyncio.sleep(min(self.plan.kill_seconds, end - loop.time()))
            alive = [process for process in self.serving if process.suspended_until <= loop.time()]
            victim = random.choice(alive)
            victim.kill()
            kills += 1
            host, _ = self.take_out(victim)
            await self.start(host)
        if suspending is not None:
            await suspending
        await asyncio.sleep(self.plan.pause)

    async def suspend(self, process: ServerProcess) -> None:
        """Suspend a process. The proxy notices it a moment later."""
        suspending = asyncio.create_task(process.suspend(self.plan.suspend_seconds))
        await asyncio.sleep(NOTICE_SECONDS)
        address = self.take_out(process)
        await suspending
        self.cluster.proxy.addresses.append(address)

    async def reload(self) -> None:
        """Change the toolkit, and reload each process."""
        text = self.kit.read_text("utf-8")
        self.kit.write_text(re.sub(r"(?m)^VERSION = .*", "VERSION = 1", text), "utf-8")
        for process in self.serving:
            process.signal(signal.SIGHUP)
            await process.wait_for_stderr(r"scale_kit\.py: reloaded")

    async def replace(self) -> None:
        """Replace each process, as a rolling update does: the new one is ready before the old one stops."""
        for process in self.serving:
            (host, _) = next(place for place, other in self.cluster.processes.items() if other is process)
            await self.start(host)
            process.signal(signal.SIGTERM)
            await asyncio.sleep(NOTICE_SECONDS)
            self.take_out(process)
            code = await process.wait()
            assert code == 0, f"a process that was stopped ended with {code}: {process.stderr}"

    async def suspend_redis(self) -> None:
        self.cluster.redis_away = True
        self.redis.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(self.plan.redis_seconds)
        self.redis.process.send_signal(signal.SIGCONT)
        await self._until_ready()

    async def kill_redis(self) -> None:
        """Kill Redis, and start it with its data."""
        self.cluster.redis_away = True
        self.redis.kill()
        await asyncio.sleep(self.plan.redis_seconds)
        await asyncio.to_thread(self.redis.start)
        await self._until_ready()

    async def _until_ready(self) -> None:
        """Wait until all processes are ready, and clients have repeated what was refused."""
        for host, port in self.cluster.proxy.addresses:
            while not await self._is_ready(host, port):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        await asyncio.sleep(2 * self.plan.pause)
        self.cluster.redis_away = False

    async def _is_ready(self, host: str, port: int) -> bool:
        async with await self.cluster.processes[host, port].connect(host) as line:
            return (await line.request("GET", "/readyz")).status == 200


async def travel(run: Run) -> None:
    """Run to the end, or to the first fault."""
    plan, cluster = run.plan, run.cluster
    for host in HOSTS:
        await run.start(host)
    travellers = [Traveller(cluster, random.Random(number)) for number in range(plan.sessions)]
    travels = asyncio.gather(*[traveller.travel(plan.pause) for traveller in travellers])
    phases: list[Callable[[], Coroutine[Any, Any, None]]] = [
        run.disturb,
        run.reload,
        run.replace,
        run.suspend_redis,
        run.kill_redis,
    ]
    for phase in phases:
        if cluster.ending:
            break
        before = cluster.counts.total()
        await phase()
        count = cluster.counts.total() - before
        logger.info("%s: %d journeys, %d faults so far", phase.__name__, count, len(cluster.faults))
    cluster.ending = True
    await travels


def check_effects(run: Run) -> int:
    """Check that nothing happened twice, and that all that was acknowledged has happened. Return the number."""
    effects = Counter((run.kit.parent / "effects").read_text("utf-8").split())
    run.cluster.faults += [f"{name} happened {count} times" for name, count in effects.items() if count > 1]
    run.cluster.faults += [f"{name} has not happened" for name in run.cluster.had if name not in effects]
    return effects.total()


@needs_redis
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have not all addresses of 127.0.0.0/8")
@pytest.mark.timeout(180 + SECONDS)
async def test_no_session_is_lost_although_processes_and_the_server_are_disturbed(tmp_path: Path) -> None:
    plan = Plan(seconds=SECONDS) if SECONDS else SHORT
    with RedisServer() as redis:
        async with RoundRobin() as proxy, Run(plan, tmp_path, redis, Cluster(proxy)) as run:
            await travel(run)
    effects = check_effects(run)
    logger.info("%d effects, %s", effects, dict(run.cluster.counts))
    assert run.cluster.faults == []
    assert effects > 0
