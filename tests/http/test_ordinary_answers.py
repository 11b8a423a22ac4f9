"""Small JSON answers, which are written in one go, are those that aiohttp would have made."""

from __future__ import annotations

import asyncio
import json
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config, request_bytes
from tests.support.http_mcp import call, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")


def echo(text: str = "x") -> dict[str, Any]:
    return modern(call("fixture_echo", {"text": text}))


def as_bytes(one: dict[str, Any], *more: tuple[str, str]) -> bytes:
    return request_bytes("POST", "/mcp", [*mirrored(one), *more], json.dumps(one).encode())


async def test_the_head_is_that_of_any_answer(served: Served) -> None:
    heads = []
    for text in ("x", "x" * 100_000):
        async with await served.connect() as line:
            await line.send(as_bytes(echo(text)))
            answer = await line.answer()
            assert int(answer.get("Content-Length") or 0) == len(answer.body)
            assert parsedate_to_datetime(answer.get("Date") or "").tzinfo is not None
            heads.append({name: value for name, value in answer.fields if name not in ("Content-Length", "Date")})
    assert heads[0] == heads[1] == {"Content-Type": "application/json", "Server": "pegboard"}


async def test_a_client_that_wants_no_further_answer(served: Served) -> None:
    async with await served.connect() as line:
        await line.send(as_bytes(echo(), ("Connection", "close")))
        answer = await line.answer()
        assert (answer.status, answer.get("Connection"), await line.rest()) == (200, "close", b"")


async def test_a_client_of_http_1_0(served: Served) -> None:
    async with await served.connect() as line:
        await line.send(as_bytes(echo()).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        answer = await line.answer()
        assert (answer.status, answer.json["result"]["isError"], await line.rest()) == (200, False, b"")


async def test_who_asks_on_and_reads_nothing_is_given_up(fixture_site: Path) -> None:
    """A-8: small answers too fill the buffers, in the end."""
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 0.2")) as served:
        probe = await served.connect()
        await probe.request("GET", "/healthz")
        line = await served.connect()
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
        line.writer.write(b"".join(as_bytes(echo("x" * 50_000)) for _ in range(400)))
        await probe.request("GET", "/healthz")
        with_both = served.descriptors()
        async with asyncio.timeout(20):
            while served.descriptors() >= with_both:
                await probe.request("GET", "/healthz")
