"""The limit of concurrent requests, which peers share fairly."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.support.fair_limit import FairLimit, peer_network


async def test_peers_get_places_in_turn() -> None:
    limit, order = FairLimit(1, 1), []

    async def ask(name: str) -> None:
        async with limit.place(name[0]):
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(ask(name) for name in ("a1", "a2", "a3", "b1", "c1", "b2")))
    assert order == ["a1", "a2", "b1", "c1", "a3", "b2"]


STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["enter", "leave", "cancel"])), max_size=60)


@given(STEPS)
def test_no_place_is_lost_or_used_twice(steps: list[tuple[str, str]]) -> None:
    async def run() -> None:
        limit, inside = FairLimit(3, 2), dict.fromkeys("abc", 0)
        tasks: list[tuple[asyncio.Task[None], asyncio.Event]] = []
        ending: list[asyncio.Task[None]] = []

        async def ask(peer: str, done: asyncio.Event) -> None:
            async with limit.place(peer):
                inside[peer] += 1
                assert sum(inside.values()) <= 3
                assert inside[peer] <= 2
                try:
                    await done.wait()
                finally:
                    inside[peer] -= 1

        for peer, step in steps:
            if step == "enter":
                done = asyncio.Event()
                tasks.append((asyncio.create_task(ask(peer, done)), done))
            elif tasks:
                task, done = tasks.pop(ord(peer) % len(tasks))
                ending.append(task)
                done.set()
                if step == "cancel":
                    task.cancel()
            if peer != "c":
                await asyncio.sleep(0)
        for _, done in tasks:
            done.set()
        await asyncio.gather(*ending, *(task for task, _ in tasks), return_exceptions=True)
        assert (limit._free, limit._waiting, dict(limit._busy)) == (3, {}, {})

    asyncio.run(run())


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::9", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("unix", "unix"),
    ],
)
def test_peers_of_one_ipv6_network_share_a_limit(peer: str, network: str) -> None:
    assert peer_network(peer) == network
