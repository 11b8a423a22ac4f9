"""The life of `pegboard serve`: signals, shutdown, ports, Unix sockets and certificates."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pegboard.types import Response
from tests.support import unruly_kit
from tests.support.http import OPEN_MCP, Line, Served, http_config, request_bytes, with_tls
from tests.support.http_connections import serving
from tests.support.http_mcp import ask, call, message, opened, send, stream
from tests.support.peer import LIMIT, WAIT
from tests.support.pool import make_fixture_site, make_site
from tests.support.wire import PEGBOARD, client_environment

LIST = message("tools/list")


async def release(line: Line) -> None:
    """Let waiting calls go on, over a connection that is open."""
    await send(line, call("fixture_release"))
    assert (await line.answer()).status == 200


async def stopping(probe: Line) -> None:
    """Wait until the server is not ready any more."""
    while (ready := await probe.request("GET", "/readyz")).status == 200:
        pass
    assert (ready.status, ready.text, ready.get("Connection")) == (503, "stopping\n", "close")


async def refusing(served: Served) -> None:
    """Wait until the port accepts no connection. It closes soon after the server is not ready any more."""
    async with asyncio.timeout(WAIT):
        with suppress(ConnectionRefusedError, ConnectionResetError):
            while True:
                (await served.connect()).abort()


async def test_a_signal_lets_calls_in_flight_finish(fixture_site: Path) -> None:
    """It is not ready any more, accepts no connection, and every response arrives whole. Ctrl-C does not drain."""
    async with Served(fixture_site, http_config("port = 0\ndrain_seconds = 300", host="grace_seconds = 30")) as served:
        session = await opened(served)
        probe, control, silent, idle = [await served.connect() for _ in range(4)]
        assert (await probe.request("GET", "/readyz")).status == 200
        wait = call("fixture_wait", token="p")
        streams = [await stream(served, wait), await session.begin(wait)]
        await send(silent, call("fixture_wait"))
        await ask(served, LIST)
        served.signal(signal.SIGINT)
        await stopping(probe)
        assert await probe.rest() == b""
        await refusing(served)
        await release(control)
        for streaming in streams:
            assert (await streaming.next())["result"]["content"][0]["text"] == "released"
            assert await streaming.next() is None
        last = await silent.answer()
        assert (last.json["result"]["content"][0]["text"], last.get("Connection")) == ("released", "close")
        assert await served.wait() == 0
        assert await idle.rest() == b""
        assert "Traceback" not in served.stderr


async def test_sigterm_drains_first_and_a_second_one_ends_at_once(fixture_site: Path) -> None:
    """Proxies send no further requests meanwhile, and clients close their connections after a response."""
    async with Served(fixture_site, http_config("port = 0\ndrain_seconds = 300")) as served:
        probe, kept = await served.connect(), await served.connect()
        assert (await kept.request("GET", "/healthz")).get("Connection") is None
        served.signal(signal.SIGTERM)
        await stopping(probe)
        for line in (kept, await served.connect()):
            await send(line, call("fixture_echo", {"text": "x"}))
            answer = await line.answer()
            assert (answer.status, answer.get("Connection")) == (200, "close")
            assert await line.rest() == b""
        served.signal(signal.SIGTERM)
        assert await served.wait() == -signal.SIGTERM


async def test_calls_of_the_drain_are_finished_within_the_grace_period(fixture_site: Path) -> None:
    config = http_config("port = 0\ndrain_seconds = 0.1", host="grace_seconds = 30")
    async with Served(fixture_site, config) as served:
        control, probe = await served.connect(), await served.connect()
        streaming = await stream(served, call("fixture_wait", token="p"))
        served.signal(signal.SIGTERM)
        await stopping(probe)
        await refusing(served)
        await release(control)
        assert (await streaming.next())["result"]["content"][0]["text"] == "released"
        assert await served.wait() == 0


async def test_calls_are_cut_after_the_grace_period(fixture_site: Path) -> None:
    """Streams end with an error, clients that wait for JSON get one, and a blocked thread delays nothing."""
    async with Served(fixture_site, http_config(host="grace_seconds = 0.1")) as served:
        streaming = await stream(served, call("fixture_wait", token="p"))
        await stream(served, call("fixture_block", token="q"))
        silent = await served.connect()
        session = await opened(served)
        in_session, lost = [await session.begin(call("fixture_wait", token=token)) for token in "pq"]
        resumed = await session.listen(lost.events[-1].id)
        await send(silent, call("fixture_wait", id=1))
        same = await served.connect()
        await same.ask("POST", "/mcp", session.fields(), json.dumps(call("fixture_wait", id=1)).encode())
        await ask(served, LIST)
        served.signal(signal.SIGTERM)
        for cut in (streaming, in_session, resumed):
            assert (await cut.next())["error"]["message"].startswith("The server is stopping")
            assert await cut.next() is None
        for line in (silent, same):
            answer = await line.answer()
            # the call has begun: a retry would repeat it
            assert (answer.status, answer.get("Retry-After"), answer.json["id"]) == (503, None, 1)
            assert answer.json["error"]["message"].startswith("The server is stopping")
        assert await served.wait() == 0
        (warning,) = re.findall(r"WARNING.* (6 calls were cancelled .*)", served.stderr)
        assert warning.endswith(": fixture_block, fixture_wait (5)")
        assert "Traceback" not in served.stderr


@pytest.mark.parametrize(("streams", "encrypts"), [(False, False), (True, False), (False, True)])
async def test_a_response_that_is_being_read_arrives_whole(
    fixture_site: Path, certificate: Path, streams: bool, encrypts: bool
) -> None:
    tls, context = with_tls(certificate) if encrypts else ("", None)
    config = http_config(f"port = 0\n{tls}", host='grace_seconds = 30\nlog_level = "info"')
    async with Served(fixture_site, config) as served, await served.connect(tls=context) as line:
        probe = await served.connect(tls=context)
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is the transport of a socket
        changes = {"Accept": "text/event-stream"} if streams else {}
        await send(line, call("fixture_large", {"size": 9_000_000}, token="p" if streams else None), **changes)
        await probe.request("GET", "/healthz")
        served.signal(signal.SIGTERM)
        await served.wait_for_stderr("until clients have read their responses")
        line.writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert (await line.answer()).body.count(b"x") >= 9_000_000
        assert await served.wait() == 0


@pytest.mark.parametrize("is_fast", [False, True])
async def test_connections_in_the_backlog_are_served(fixture_site: Path, tmp_path: Path, is_fast: bool) -> None:
    """The server begins to end when it has not yet read their requests. uvloop is fast."""
    async with Served(make_fixture_site(tmp_path) if is_fast else fixture_site) as served:
        served.signal(signal.SIGSTOP)
        lines = [await served.connect() for _ in range(50)]
        for line in lines:
            await send(line, call("fixture_echo", {"text": "x"}))
        served.signal(signal.SIGTERM)
        served.signal(signal.SIGCONT)
        for line in lines:
            assert (await line.answer()).status == 200
            assert await line.reader.read() == b""
        assert await served.wait() == 0


def wait_until_caught(pid: int, number: signal.Signals) -> None:
    """Wait until a process has no handler for a signal any more (Linux): it has caught the first signal."""
    caught = 1 << number - 1
    while caught & int(re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[0], 16):
        time.sleep(0.01)


async def test_a_second_signal_ends_a_process_whose_event_loop_is_blocked(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"unruly": unruly_kit})
    async with Served(site, http_config(host="blocked_loop_seconds = 0.1\n")) as served:
        await send(await served.connect(), call("unruly_block", {"how": "busy"}))
        await served.wait_for_stderr("blocked the event loop")
        served.signal(signal.SIGTERM)
        await asyncio.to_thread(wait_until_caught, served.pid, signal.SIGTERM)
        served.signal(signal.SIGTERM)
        assert await served.wait() == -signal.SIGTERM


@pytest.mark.skipif(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="nohup keeps SIGHUP from the server")
async def test_the_hang_up_of_its_terminal_ends_it_and_any_other_reloads(fixture_site: Path) -> None:
    """A service manager that sends SIGHUP means that settings are to be read again."""
    leader, follower = os.openpty()
    async with Served(fixture_site) as served, Served(fixture_site, stdin=follower) as attached:
        streaming = await stream(served, call("fixture_wait", token="p"))
        served.signal(signal.SIGHUP)
        await served.wait_for_stderr("nothing has changed")
        served.signal(signal.SIGPIPE)
        await ask(served, call("fixture_release"))
        assert (await streaming.next())["result"]["isError"] is False
        attached.signal(signal.SIGHUP)
        assert await attached.wait() == 0
    for descriptor in (leader, follower):
        os.close(descriptor)


async def test_a_server_under_nohup_says_that_it_ignores_sighup(fixture_site: Path) -> None:
    async with Served(fixture_site, command=["nohup", str(PEGBOARD), "serve"]) as served:
        await served.wait_for_stderr("SIGHUP is ignored, as nohup requires: run `pegboard reload`")
        served.signal(signal.SIGHUP)
        assert (await ask(served, LIST)).status == 200


@pytest.mark.requirement("ERA-17", "SESS-04")
async def test_a_restart_at_the_same_port_which_another_process_may_not_use(fixture_site: Path) -> None:
    """In the modern era a client just goes on; sessions are gone, which 404 says."""
    async with Served(fixture_site) as first:
        port = first.port
        assert f"curl http://127.0.0.1:{port}/healthz" in (await first.wait_for_stderr(r"next: .*"))[0]
        session = await opened(first)
        async with Served(fixture_site, http_config(f"port = {port}"), ready=False) as second:
            assert await second.wait() == 5
            (line,) = [line for line in second.stderr.splitlines() if "http:" in line]
            assert f"127.0.0.1:{port}" in line
            assert f"(process {first.pid}) uses it; choose another with --port, or [plugins.http] port" in line
            assert "Traceback" not in second.stderr
        keep = await first.connect()
        await keep.request("GET", "/healthz")
        first.signal(signal.SIGTERM)
        assert await first.wait() == 0
        assert first.process.stdout is not None
        assert await first.process.stdout.read() == b""
    async with Served(fixture_site, http_config(f"port = {port}")) as second:
        assert (await ask(second, LIST)).status == 200
        session.served = second
        assert (await session.post(message("ping"))).refused == (404, -32600)


@pytest.mark.requirement("HTTP-03")
async def test_it_listens_at_one_loopback_address_or_the_configured_one(served: Served, fixture_site: Path) -> None:
    for other in ("127.0.0.2", "::1"):
        with pytest.raises(OSError, match=r"(?i)refused|connect"):
            await served.connect(other)
    async with Served(fixture_site, http_config('host = "::1"\nport = 0')) as configured:
        assert configured.url.startswith("http://[::1]:")
        async with await configured.connect("::1") as line:
            assert (await line.request("GET", "/healthz", [("Host", f"[::1]:{configured.port}")])).status == 200
    elsewhere = Served(fixture_site, http_config('host = "192.0.2.1"\nport = 0'))
    await elsewhere.assert_refuses(5, "192.0.2.1")


async def over_unix(path: Path) -> Line:
    return Line(*await asyncio.open_unix_connection(path, limit=LIMIT))


@pytest.mark.requirement("SEC-10")
async def test_a_unix_socket_is_private_and_removed_at_the_end(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    config = http_config(f'socket = "{path}"')
    async with Served(fixture_site, config) as served:
        assert served.url == f"unix:{path}"
        await served.wait_for_stderr(rf"try: curl --unix-socket {path} http://localhost/healthz")
        assert path.stat().st_mode & 0o777 == 0o600
        await Served(fixture_site, config).assert_refuses(5, f"{path}: it is in use")
        async with await over_unix(path) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"
            assert (await line.request("GET", "/healthz", [("Host", "evil.example")])).status == 421
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
        assert not path.exists()


async def test_only_unused_sockets_are_replaced_and_only_its_own_removed(fixture_site: Path, tmp_path: Path) -> None:
    path, file = tmp_path / "s", tmp_path / "f"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    config = http_config(f'socket = "{path}"\nsocket_mode = 0o660')
    async with Served(fixture_site, config) as served:
        async with await over_unix(path) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"
        assert path.stat().st_mode & 0o777 == 0o660
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            served.signal(signal.SIGTERM)
            assert await served.wait() == 0
        assert path.is_socket()
    file.write_text("mine")
    await Served(fixture_site, http_config(f'socket = "{file}"')).assert_refuses(5)
    assert file.read_text() == "mine"


@pytest.mark.parametrize(("proxies", "status"), [("", 421), ('trusted_proxies = ["unix"]', 200)])
async def test_a_proxy_behind_a_unix_socket_is_trusted_where_configured(
    fixture_site: Path, tmp_path: Path, proxies: str, status: int
) -> None:
    config = http_config(f'socket = "{tmp_path}/s"\n{proxies}', more=OPEN_MCP)
    async with Served(fixture_site, config), await over_unix(tmp_path / "s") as line:
        for forwarded, expected in (("evil.example, localhost", status), ("localhost, evil.example", 421)):
            fields = [("Host", "inner.example"), ("X-Forwarded-Host", forwarded)]
            assert (await line.request("GET", "/healthz", fields)).status == expected, forwarded


async def test_tls(fixture_site: Path, certificate: Path) -> None:
    tls, context = with_tls(certificate)
    async with Served(fixture_site, http_config(f"port = 0\nheader_seconds = 0.3\n{tls}")) as served:
        assert served.url.startswith("https://127.0.0.1:")
        async with await served.connect(tls=context) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"
        async with await served.connect() as plain:
            await plain.ask("GET", "/healthz")
            assert b"200" not in await plain.rest()
        async with await served.connect() as silent:
            assert await silent.rest() == b""  # no handshake, and no connection any more
        assert "Traceback" not in served.stderr
    for key in ("none.pem", "locked.pem"):
        config = f'port = 0\ncertificate = "{certificate}/cert.pem"\nkey = "{certificate / key}"'
        await Served(fixture_site, http_config(config)).assert_refuses(5, str(certificate / key))


async def test_the_end_does_not_wait_for_a_tls_client_that_has_its_response(certificate: Path) -> None:
    """Its connection closes in stages, and the client does not answer."""
    own, context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), with_tls(certificate)[1]
    own.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    loop = asyncio.get_running_loop()
    async with serving(lambda request: Response(200, b"last")) as (_, server):
        listener = await loop.create_server(server, "127.0.0.1", 0, ssl=own)

        def ask() -> ssl.SSLSocket:
            line = socket.create_connection(listener.sockets[0].getsockname())
            client = context.wrap_socket(line, server_hostname="localhost")
            client.sendall(request_bytes("POST", "/", [("Connection", "close")], b"1"))
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            return client

        with await asyncio.to_thread(ask):
            await server.end(loop.time() + 2 * WAIT)
            assert len(server.connections) == 1
        listener.close()


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("name", "is_trusted", "verdict"),
    [
        ("localhost", True, "fixture_echo"),
        ("127.0.0.1", True, "certificate is not valid for '127.0.0.1'"),
        ("localhost", False, "self-signed certificate"),
    ],
)
async def test_a_client_checks_the_certificate(
    fixture_site: Path, certificate: Path, name: str, is_trusted: bool, verdict: str
) -> None:
    tls, _ = with_tls(certificate)
    async with Served(fixture_site, http_config(f"port = 0\n{tls}")) as served:
        trusted = {"SSL_CERT_FILE": str(certificate / "cert.pem")} if is_trusted else {}
        listing = await asyncio.create_subprocess_exec(
            *(PEGBOARD, "list", "--url", f"https://{name}:{served.port}/mcp"),
            env=client_environment(served.home, trusted),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(listing.communicate(), WAIT)
        assert verdict in " ".join(output.decode().split())
