"""Message streams and processes that stay silent, end, send garbage, or hang."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.plugin import TransportError
from pegboard_client import Client, ClientLimits, Program, ServerTimeoutError
from pegboard_client import server_connection as probing
from pegboard_client.child_process import start_process
from tests.host.hosting import WAIT, until
from tests.pegboard_client.pairs import MemoryEnd
from tests.pegboard_client.scripted import DISCOVERED, INITIALIZED, REVISION, assert_refused, scripted_stream
from tests.support.wire import is_alive

OK: dict[str, Any] = {"content": []}
SERVER = """
import json, os, signal, subprocess, sys, time
def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(int(os.environ.get("CODE", 0)))
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def respond(request, result):
    send(id=request["id"], result=result)
def session(first):
    respond(first, %r)
    read()
"""
SERVER %= (INITIALIZED,)


def program(script: str, **options: Any) -> Program:
    return Program(sys.executable, ["-c", SERVER + script], **options)


async def requests(end: MemoryEnd) -> Any:
    async for data in end.messages():
        yield json.loads(data)


def reply(end: MemoryEnd, request: Any, result: Any) -> None:
    end.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode())


async def test_a_silent_server_gets_a_session_and_the_probe_is_not_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "PROBE_SECONDS", 0)
    methods: list[str] = []

    async def serve(end: MemoryEnd) -> None:
        async for request in requests(end):
            methods.append(request["method"])
            if request["method"] == "initialize":
                reply(end, request, INITIALIZED)
            elif request["method"] == "ping":
                reply(end, request, {})

    async with scripted_stream(serve) as client, client:
        await client.request("ping")
        assert client.revision == REVISION
    assert methods == ["server/discover", "initialize", "notifications/initialized", "ping"]


@pytest.mark.parametrize("answers", ["discover", "discover initialize", "initialize discover"])
async def test_a_slow_server_of_the_new_era_is_recognised(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "PROBE_SECONDS", 0)

    async def serve(end: MemoryEnd) -> None:
        discover, initialize = [await anext(aiter(requests(end))) for _ in range(2)]
        refused = {"jsonrpc": "2.0", "id": initialize["id"], "error": {"code": -32600, "message": "no sessions"}}
        for answer in answers.split():
            if answer == "discover":
                reply(end, discover, DISCOVERED)
            else:
                end.send(json.dumps(refused).encode())
        await asyncio.Event().wait()

    async with scripted_stream(serve) as client, client:
        assert client.stateless


async def test_a_slow_server_of_both_eras_gets_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "PROBE_SECONDS", 0.05)

    async def serve(end: MemoryEnd) -> None:
        discover, initialize = [await anext(aiter(requests(end))) for _ in range(2)]
        reply(end, discover, DISCOVERED)
        for _ in range(20):  # the client takes the first response alone
            await asyncio.sleep(0)
        reply(end, initialize, INITIALIZED)
        await asyncio.Event().wait()

    async with scripted_stream(serve) as client, client:
        assert client.revision == REVISION


async def test_a_program_that_ends_at_the_first_unknown_request_is_started_again() -> None:
    script = """
first = read()
if first["method"] != "initialize":
    sys.exit(3)
session(first)
respond(read(), {})
read()
"""
    async with Client(program(script)) as client:
        assert client.revision == REVISION
        assert await client.request("ping") == {}


async def test_garbage_between_messages_is_ignored_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    garbage = [b"starting up...", b"null", b"7", b'{"id": []}', b'{"id": 99, "result": {}}', b'{"method": 7}', b"\xff"]
    progress = b'{"method": "notifications/progress", "params": {"progressToken": []}}'
    garbage += [b'{"id": {}, "method": "ping"}', b'{"method": "notifications/cancelled"}', progress]

    async def serve(end: MemoryEnd) -> None:
        async for request in requests(end):
            for line in garbage:
                end.send(line)
            reply(end, request, DISCOVERED if request["method"] == "server/discover" else OK)

    async with scripted_stream(serve) as client, client:
        assert await client.call("x") == OK
    assert caplog.text.count("not JSON") == 1


async def test_a_text_that_was_cut_within_a_character_is_read() -> None:
    cut = rb'"cut \ud83d, \\ud83d, \ud83d\ude00, \uDE00\ud83d"'

    async def serve(end: MemoryEnd) -> None:
        got = requests(end)
        reply(end, await anext(got), DISCOVERED)
        end.send(b'{"jsonrpc": "2.0", "id": %d, "result": {"text": %b}}' % ((await anext(got))["id"], cut))
        await asyncio.Event().wait()

    async with scripted_stream(serve) as client, client:
        result = await client.call("x", timeout=WAIT)
    assert result == {"text": "cut \ufffd, \\ud83d, \U0001f600, \ufffd\ufffd"}


async def test_a_response_with_a_number_that_json_does_not_have_fails_its_request() -> None:
    async def serve(end: MemoryEnd) -> None:
        got = requests(end)
        reply(end, await anext(got), DISCOVERED)
        end.send(b'{"jsonrpc": "2.0", "id": %d, "result": {"number": NaN}}' % (await anext(got))["id"])
        await asyncio.Event().wait()

    async with scripted_stream(serve) as client, client:
        with pytest.raises(TransportError, match="invalid response"):
            await client.call("x", timeout=WAIT)


async def test_a_lost_stream_fails_all_requests_and_later_ones() -> None:
    async def serve(end: MemoryEnd) -> None:
        got = requests(end)
        reply(end, await anext(got), DISCOVERED)
        await anext(got), await anext(got)
        await end.close()

    async with scripted_stream(serve) as client, client:
        for failed in await asyncio.gather(client.call("x"), client.call("y"), return_exceptions=True):
            assert isinstance(failed, TransportError)
        await client.wait_closed()
        with pytest.raises(TransportError, match="the connection with the stream has ended"):
            await client.call("z")


async def test_batches_pings_and_questions_of_a_server_are_answered_within_limits() -> None:
    responses: list[Any] = []
    asked = asyncio.Event()

    async def serve(end: MemoryEnd) -> None:
        async for message in requests(end):
            if "method" not in message:
                responses.append(message)
            elif message["method"] == "initialize":
                reply(end, message, INITIALIZED)
            elif message["method"] == "tools/call":
                ask = {"jsonrpc": "2.0", "method": "elicitation/create", "params": {}}
                end.send(json.dumps([{"jsonrpc": "2.0", "id": "p", "method": "ping"}]).encode())
                end.send(b'{"jsonrpc": "2.0", "id": "u", "method": "x/unknown"}')
                for number in range(9):
                    end.send(json.dumps({**ask, "id": number}).encode())

    async def never(_: Any) -> dict[str, Any]:
        asked.set()
        await asyncio.Event().wait()
        return {}

    options: dict[str, Any] = {"revision": REVISION, "limits": ClientLimits(questions=4)}
    async with scripted_stream(serve, **options) as client, client:
        call = asyncio.ensure_future(client.call("x", ask=never))
        await asked.wait()
        await until(lambda: len(responses) == 6)
        refused = [response["id"] for response in responses if "too many" in str(response.get("error"))]
        assert ([response["id"] for response in responses if response["id"] not in refused], refused) == (
            ["p", "u"],
            [2, 3, 4, 5],  # and those that follow have no response
        )
        assert not call.done()
        call.cancel()


async def test_pings_of_a_server_do_not_extend_the_time_of_a_request() -> None:
    async def serve(end: MemoryEnd) -> None:
        async for message in requests(end):
            if message.get("method") == "initialize":
                reply(end, message, INITIALIZED)
            elif message.get("method") == "tools/call" or "method" not in message:
                await asyncio.sleep(0)
                end.send(b'{"jsonrpc": "2.0", "id": "p", "method": "ping"}')

    async def never(_: Any) -> dict[str, Any]:
        raise AssertionError

    async with scripted_stream(serve, revision=REVISION) as client, client, asyncio.timeout(WAIT):
        with pytest.raises(ServerTimeoutError):
            await client.call("x", ask=never, timeout=0.05)


async def test_the_time_stops_while_a_question_waits_for_its_answer() -> None:
    async def serve(end: MemoryEnd) -> None:
        got = requests(end)
        reply(end, await anext(got), INITIALIZED)
        await anext(got)
        call = await anext(got)
        end.send(b'{"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}')
        assert (await anext(got))["result"] == {"action": "accept"}
        reply(end, call, OK)
        await asyncio.Event().wait()

    async def slow(_: Any) -> dict[str, Any]:
        (flight,) = client._connection.incoming.in_flight.values()
        remaining.append(flight.due - asyncio.get_running_loop().time())
        return {"action": "accept"}

    remaining: list[float] = []
    async with scripted_stream(serve, revision=REVISION) as client, client:
        assert await client.call("x", ask=slow, timeout=WAIT) == OK
    assert remaining[0] > 1000


async def test_a_server_that_never_acknowledges_a_subscription_times_out() -> None:
    async def serve(end: MemoryEnd) -> None:
        reply(end, await anext(aiter(requests(end))), DISCOVERED)
        await asyncio.Event().wait()

    async with scripted_stream(serve) as client, client:
        client._connection._timeout = 0.01
        with pytest.raises(ServerTimeoutError, match="subscriptions/listen"):
            await client.listen()


async def test_a_program_gets_a_small_environment_and_its_output_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CLIENT", "x")
    script = """
session(read())
print("x" * 300000 + "\\nsecond", file=sys.stderr)
respond(read(), dict(os.environ))
read()
"""
    lines: list[str] = []
    server = program(script, env={"OWN": "1"}, stderr=lines.append, cwd="/")
    async with Client(server, revision=REVISION) as client:
        env = await client.request("ping")
        assert env["OWN"] == "1"
        assert "SECRET_OF_THE_CLIENT" not in env
    assert ("".join(lines[:-1]), lines[-1]) == ("x" * 300000, "second")


async def test_a_line_that_is_too_long_ends_the_connection() -> None:
    server = program('session(read())\nread()\nprint("x" * 5000, flush=True)\nread()')
    async with Client(server, revision=REVISION, limits=ClientLimits(message_bytes=2000)) as client:
        with pytest.raises(TransportError, match="more than 2000 bytes"):
            await client.call("x")


async def test_a_program_that_ends_is_reported_with_its_code_and_last_words() -> None:
    last = 'print("\\nKeyError: \\33[1m\\n", file=sys.stderr)\nsys.exit(7)'
    async with Client(program(f"session(read())\nread()\n{last}"), revision=REVISION) as client:
        with pytest.raises(TransportError, match=r"ended with code 7: KeyError: \\x1b\[1m$"):
            await client.call("x")
        await client.wait_closed()


@pytest.mark.parametrize("turns", range(10))
async def test_a_cancellation_is_not_lost_when_the_program_ends(turns: int) -> None:
    process = await start_process(Program("false"), 2000)
    reading = asyncio.ensure_future(anext(process.messages()))
    await until(lambda: process._process.returncode is not None)
    for _ in range(turns):
        await asyncio.sleep(0)
    error = asyncio.CancelledError if reading.cancel() else TransportError
    try:
        with pytest.raises(error):
            await reading
    finally:
        await process.close()


async def test_a_broken_input_is_no_log_record(caplog: pytest.LogCaptureFixture) -> None:
    """Before Python 3.11.3, asyncio reports the closed input when the garbage collector finds it."""
    script = "session(read())\nsys.stdin.buffer.raw.read(1)\nsys.exit(7)"
    async with Client(program(script), revision=REVISION) as client:
        with pytest.raises(TransportError, match="ended with code 7"):
            await client.call("x", {"text": "more than a pipe holds" * 50_000})
    del client
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


@pytest.mark.parametrize("command", ["/does/not/exist", "/etc/passwd"])
async def test_a_program_that_cannot_be_started_is_named(command: str) -> None:
    await assert_refused(Program(command), f"cannot start {command}")


SLEEPING_CHILD = 'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])'
STUBBORN = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{SLEEPING_CHILD}
session(read())
respond(read(), {{"pids": [os.getpid(), child.pid]}})
time.sleep(600)
"""


@pytest.mark.parametrize("groups", [True, False], ids=["with its children", "alone, as on Windows"])
async def test_a_stubborn_program_is_ended(groups: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_client.child_process.MAX_EXIT_SECONDS", 0.05)
    monkeypatch.setattr("pegboard_client.child_process.GROUPS", groups)
    alone = STUBBORN.replace("child.pid", "os.getpid()").replace(SLEEPING_CHILD, "")
    async with Client(program(STUBBORN if groups else alone), revision=REVISION) as client:
        pids = (await client.request("ping"))["pids"]
    await until(lambda: not any(map(is_alive, pids)))


async def test_a_program_that_ends_is_noticed_although_its_child_keeps_the_pipes() -> None:
    async with Client(program(f"session(read())\nread()\n{SLEEPING_CHILD}\nsys.exit(7)"), revision=REVISION) as client:
        with pytest.raises(TransportError, match="ended with code 7"):
            await client.call("x", timeout=WAIT)


async def test_nothing_is_left_when_the_client_is_killed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER + STUBBORN)
    code = """
import asyncio, sys
from pegboard_client import Client, Program
async def main():
    async with Client(Program(sys.executable, ["server.py"]), revision="2025-11-25") as client:
        print(*(await client.request("ping"))["pids"], flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=tmp_path, stdout=subprocess.PIPE, env={**os.environ}
    )
    assert killed.stdout
    async with asyncio.timeout(WAIT):
        pids = [int(pid) for pid in (await killed.stdout.readline()).split()]
        killed.send_signal(signal.SIGKILL)
        await until(lambda: not any(map(is_alive, pids)))
        await killed.wait()
    assert len(pids) == 2
