"""JSON or a stream, and what the end of a connection means in the modern era (sections 3.1 and 3.3)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.http import Served, http_config, request_bytes
from tests.support.http_mcp import Session, ask, call, message, mirrored, modern, stream

pytestmark = pytest.mark.asyncio(loop_scope="session")


UNLIMITED = "max_result_bytes = 0"


async def cancelled(served: Served, label: str) -> None:
    """Wait until a call has been cancelled; each look is a round trip."""
    async with asyncio.timeout(5):
        while label not in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]:
            pass


@pytest.mark.requirement("HTTP-10")
async def test_a_call_that_says_nothing_is_answered_with_json(served: Served) -> None:
    for one in (call("fixture_echo", {"text": "x"}), call("fixture_echo", {"text": "x"}, token=0)):
        done = await ask(served, one)
        assert not done.streamed
        assert done.answer.get("Content-Length") == str(len(done.answer.body))


@pytest.mark.requirement("HTTP-10", "HTTP-11", "HTTP-15", "HTTP-24")
@pytest.mark.parametrize("token", [0, "", "p", 5])
@pytest.mark.parametrize("tool", ["fixture_count", "fixture_count_sync"])
async def test_progress_makes_it_a_stream(served: Served, tool: str, token: int | str) -> None:
    done = await ask(served, call(tool, token=token))
    assert done.streamed
    assert [one["params"]["progressToken"] for one in done.messages[:-1]] == [token] * 3
    assert done.last["result"]["resultType"] == "complete"
    assert done.answer.get("Cache-Control") == "no-cache, no-transform"
    assert done.answer.get("X-Accel-Buffering") == "no"
    assert b"\nid:" not in done.answer.body
    assert not (await ask(served, call(tool))).streamed


async def test_a_text_with_line_breaks_stays_on_one_line(served: Served) -> None:
    """Trap 59."""
    text = "a\nb\r\nc\rd\u2028e\x85"
    done = await ask(served, call("fixture_count", {"say": text}, token="p"))
    assert done.messages[0]["params"]["message"] == text


@pytest.mark.requirement("HTTP-14")
async def test_the_stream_begins_before_the_call_ends(served: Served) -> None:
    streaming = await stream(served, call("fixture_wait", {"label": "early"}, token="p"))
    assert streaming.first["params"]["message"] == "early"
    await ask(served, call("fixture_release"))
    assert [one["result"]["isError"] async for one in streaming.rest()] == [False]


@pytest.mark.requirement("HTTP-14")
async def test_a_stream_leaves_the_connection_open(served: Served) -> None:
    one = modern(call("fixture_count", token="p"))
    async with await served.connect() as line:
        for _ in range(3):
            assert (await line.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 200


@pytest.mark.requirement("HTTP-21")
async def test_a_refusal_comes_before_any_stream(served: Served) -> None:
    """Trap 7."""
    one = message("nonsense", {"_meta": {"progressToken": "p"}})
    assert (await ask(served, one)).refused == (404, -32601)


@pytest.mark.requirement("HTTP-16", "HTTP-17")
async def test_leaving_a_stream_cancels_the_call(served: Served) -> None:
    """F-11, trap 24."""
    streaming = await stream(served, call("fixture_wait", {"label": "gone-stream"}, token="p"))
    streaming.abort()
    await cancelled(served, "gone-stream")


@pytest.mark.requirement("HTTP-16")
async def test_leaving_before_the_answer_cancels_the_call(served: Served) -> None:
    for label, token in (("gone-json", None), ("gone-json-half-closed", None)):
        one = modern(call("fixture_wait", {"label": label}, token=token))
        line = await served.connect()
        await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        await ask(served, call("fixture_echo", {"text": "in the meantime"}))
        if label.endswith("closed"):
            line.writer.close()
        else:
            line.abort()
        await cancelled(served, label)


@pytest.mark.requirement("HTTP-16")
async def test_leaving_before_the_first_word_cancels_the_call(served: Served) -> None:
    """The answer might have become a stream."""
    one = modern(call("fixture_wait", {"label": "gone-unsaid"}), **{"io.modelcontextprotocol/logLevel": "debug"})
    line = await served.connect()
    await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
    await ask(served, call("fixture_echo", {"text": "in the meantime"}))
    line.abort()
    await cancelled(served, "gone-unsaid")


@pytest.mark.requirement("HTTP-16")
async def test_leaving_cancels_a_sync_call(served: Served) -> None:
    streaming = await stream(served, call("fixture_block", {"label": "gone-thread"}, token="p"))
    streaming.abort()
    for _ in range(10):
        await ask(served, call("fixture_echo", {"text": "x"}))
    await ask(served, call("fixture_open_gate", {"cancelled": 1}))
    await cancelled(served, "gone-thread")


@pytest.mark.requirement("HTTP-17", "HTTP-18")
async def test_a_hundred_who_leave_leave_nothing_behind(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        await ask(served, call("fixture_count", token="p"))
        before = served.descriptors()
        for number in range(100):
            (await stream(served, call("fixture_wait", {"label": f"left-{number}"}, token="p"))).abort()
        for number in range(100):
            await cancelled(served, f"left-{number}")
        async with asyncio.timeout(5):
            while served.descriptors() > before + 1:
                await ask(served, call("fixture_echo", {"text": "x"}))
        assert "Traceback" not in served.stderr
        assert "ERROR" not in served.stderr


@pytest.mark.requirement("HTTP-25")
async def test_a_silent_stream_says_that_it_lives(strict: Served) -> None:
    streaming = await stream(strict, call("fixture_wait", {"label": "pinged"}, token="p"))
    for _ in range(2):
        assert await streaming.line.chunk() == b": ping\n\n"
    await ask(strict, call("fixture_release"))
    assert (await streaming.next())["result"]["isError"] is False


async def test_blocked_threads_delay_nobody_else(served: Served) -> None:
    """F-5."""
    blocked = [await stream(served, call("fixture_block", token="p")) for _ in range(30)]
    assert (await ask(served, call("fixture_nothing"))).result["isError"] is False
    assert (await ask(served, call("fixture_echo", {"text": "x"}))).result["isError"] is False
    await ask(served, call("fixture_open_gate"))
    for one in blocked:
        assert (await one.next())["result"]["content"][0]["text"] == "through"


async def test_calls_at_once(served: Served) -> None:
    done = await asyncio.gather(*[ask(served, call("fixture_echo", {"text": str(n)})) for n in range(50)])
    assert [one.result["content"][0]["text"] for one in done] == [str(n) for n in range(50)]


@pytest.mark.requirement("ERA-16")
async def test_requests_in_a_row_on_one_connection(served: Served) -> None:
    """Pipelining: all are sent before the first is answered."""
    wanted = [modern(call("fixture_echo", {"text": str(n)})) for n in range(20)]
    async with await served.connect() as line:
        await line.send(
            b"".join(request_bytes("POST", "/mcp", mirrored(one), json.dumps(one).encode()) for one in wanted)
        )
        assert [(await line.answer()).json["id"] for _ in wanted] == [one["id"] for one in wanted]


@pytest.mark.requirement("UTIL-14")
@pytest.mark.parametrize("era", ["session", "modern"])
async def test_a_flood_of_progress_is_coalesced(served: Served, era: str) -> None:
    one = call("fixture_chatter", {"steps": 5000, "text": "x"}, token="p")
    if era == "session":
        session = Session(served)
        await session.open()
        done = await session.post(one)
    else:
        done = await ask(served, one)
    assert len(done.messages) < 1000
    assert done.messages[-2]["params"]["progress"] == 4999


@pytest.mark.requirement("UTIL-14")
async def test_who_does_not_read_holds_no_memory(fixture_site: Path) -> None:
    """F-4: a flood of progress to a client that never reads, then a large result."""
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 0.2")) as served:
        await ask(served, call("fixture_echo", {"text": "x"}))
        before = served.memory()
        one = modern(call("fixture_count", {"to": 2000, "say": "x" * 10_000}, token="p"))
        for _ in range(5):
            line = await served.connect()
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
            await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        await ask(served, call("fixture_echo", {"text": "x"}))
        assert served.memory() - before < 30 * 2**20


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_who_does_not_read_is_given_up(fixture_site: Path, accept: str) -> None:
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 0.2", host=UNLIMITED)) as served:
        one = modern(call("fixture_large", {"size": 20 * 2**20}))
        line = await served.connect()
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
        await line.ask("POST", "/mcp", mirrored(one, Accept=accept), json.dumps(one).encode())
        probe = await served.connect()
        await probe.request("GET", "/healthz")
        with_both = served.descriptors()
        async with asyncio.timeout(8):
            while served.descriptors() >= with_both:
                await probe.request("GET", "/healthz")


async def test_who_reads_slowly_gets_it_all(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config("port = 0\nsend_seconds = 1", host=UNLIMITED)) as served:
        size = 20 * 2**20
        for accept in ("application/json", "text/event-stream"):
            done = await ask(served, call("fixture_large", {"size": size}), Accept=accept)
            assert done.streamed == (accept == "text/event-stream")
            assert len(done.result["content"][0]["text"]) == size
