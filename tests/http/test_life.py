"""From the start of `pegboard serve` to its end: ports, sockets, certificates, signals (rows F-12 and F-13)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.http import OPEN_MCP, Line, Served, http_config
from tests.support.http_mcp import Session, ask, call, message, mirrored, modern, stream
from tests.support.peer import LIMIT, WAIT
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRACE = "grace_seconds = 5"


async def release(line: Line) -> None:
    """Let what waits go on, over a connection that is open."""
    one = modern(call("fixture_release"))
    assert (await line.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())).status == 200


# --- the end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it(fixture_site: Path, number: signal.Signals) -> None:
    async with Served(fixture_site) as served:
        idle = await served.connect()
        await ask(served, message("tools/list"))
        served.signal(number)
        assert await served.wait() == 0
        assert await idle.rest() == b""
        assert "Traceback" not in served.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_what_is_in_flight_comes_to_its_end(fixture_site: Path, number: signal.Signals) -> None:
    """F-12: not ready any more, nothing new is accepted, and every answer arrives whole."""
    async with Served(fixture_site, http_config(host=GRACE)) as served:
        session = Session(served)
        await session.open()
        probe, control, silent = [await served.connect() for _ in range(3)]
        assert (await probe.request("GET", "/readyz")).status == 200
        streams = [
            await stream(served, call("fixture_wait", token="p")),
            await session.begin(call("fixture_wait", token="p")),
        ]
        one = modern(call("fixture_wait"))
        await silent.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        await ask(served, message("tools/list"))
        served.signal(number)
        while (ready := await probe.request("GET", "/readyz")).status == 200:
            pass
        assert (ready.status, ready.text, ready.get("Connection")) == (503, "stopping\n", "close")
        assert await probe.rest() == b""
        with pytest.raises(ConnectionRefusedError):
            await served.connect()
        await release(control)
        for streaming in streams:
            assert (await streaming.next())["result"]["content"][0]["text"] == "released"
            assert await streaming.next() is None
        last = await silent.answer()
        assert (last.json["result"]["content"][0]["text"], last.get("Connection")) == ("released", "close")
        assert await served.wait() == 0
        assert "Traceback" not in served.stderr


async def test_the_grace_is_bounded(fixture_site: Path) -> None:
    """What goes on for longer is cut short: a stream ends properly, and who waits for JSON is told."""
    async with Served(fixture_site, http_config(host="grace_seconds = 0.1")) as served:
        streaming = await stream(served, call("fixture_wait", token="p"))
        silent = await served.connect()
        session = Session(served)
        await session.open()
        in_session, lost = [await session.begin(call("fixture_wait", token=token)) for token in "pq"]
        resumed = await session.listen(lost.events[-1].id)
        one = modern(call("fixture_wait"))
        await silent.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        await ask(served, message("tools/list"))
        served.signal(signal.SIGTERM)
        for cut in (streaming, in_session, resumed):
            assert (await cut.next())["error"]["message"].startswith("The server is stopping")
            assert await cut.next() is None
        answer = await silent.answer()
        assert (answer.status, answer.get("Retry-After")) == (503, None)  # the call has begun: a retry would repeat it
        assert await served.wait() == 0
        assert "Traceback" not in served.stderr


async def test_a_blocked_thread_does_not_keep_it(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(host="grace_seconds = 0.1")) as served:
        await stream(served, call("fixture_block", token="p"))
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0


async def test_a_second_signal_ends_it_now(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(host="grace_seconds = 60")) as served:
        probe = await served.connect()
        await stream(served, call("fixture_wait", token="p"))
        served.signal(signal.SIGTERM)
        while (await probe.request("GET", "/readyz")).status == 200:
            pass
        served.signal(signal.SIGTERM)
        assert await served.wait() == -signal.SIGTERM


async def test_a_hang_up_of_no_terminal_changes_nothing(fixture_site: Path) -> None:
    """F-13: whoever asks a service to read its settings anew does not mean to end it."""
    async with Served(fixture_site) as served:
        streaming = await stream(served, call("fixture_wait", token="p"))
        served.signal(signal.SIGHUP)
        await served.said("SIGHUP is ignored")
        served.signal(signal.SIGPIPE)
        await ask(served, call("fixture_release"))
        assert (await streaming.next())["result"]["isError"] is False


@pytest.mark.skipif(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="nohup keeps SIGHUP from the server")
async def test_the_hang_up_of_a_terminal_ends_it(fixture_site: Path) -> None:
    leader, follower = os.openpty()
    async with Served(fixture_site, http_config(host=GRACE), stdin=follower) as served:
        os.close(follower)
        streaming = await stream(served, call("fixture_wait", token="p"))
        probe, control = await served.connect(), await served.connect()
        served.signal(signal.SIGHUP)
        while (await probe.request("GET", "/readyz")).status == 200:
            pass
        await release(control)
        assert (await streaming.next())["result"]["isError"] is False
        assert await served.wait() == 0
    os.close(leader)


async def test_nohup_is_left_as_it_is(fixture_site: Path, tmp_path: Path) -> None:
    script = tmp_path / "pegboard-without-hang-up"
    script.write_text(f'#!/bin/sh\ntrap "" HUP\nexec {PEGBOARD} "$@"\n')
    script.chmod(0o755)
    leader, follower = os.openpty()
    async with Served(fixture_site, command=[script, "serve"], stdin=follower) as served:
        os.close(follower)
        served.signal(signal.SIGHUP)
        await ask(served, message("tools/list"))
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
        assert "SIGHUP" not in served.stderr
    os.close(leader)


@pytest.mark.requirement("ERA-17", "SESS-04")
async def test_a_restart_at_the_same_port(fixture_site: Path) -> None:
    """In the modern era a client just goes on; sessions are gone, and say so (clients.md 7)."""
    async with Served(fixture_site) as first:
        session = Session(first)
        await session.open()
        port = first.port
        keep = await first.connect()
        await keep.request("GET", "/healthz")
        first.signal(signal.SIGTERM)
        assert await first.wait() == 0
    async with Served(fixture_site, http_config(f"port = {port}")) as second:
        assert (await ask(second, message("tools/list"))).status == 200
        session.served = second
        assert (await session.post(message("ping"))).refused == (404, -32600)


# --- ports


async def test_a_port_in_use(fixture_site: Path) -> None:
    async with (
        Served(fixture_site) as first,
        Served(fixture_site, http_config(f"port = {first.port}"), ready=False) as second,
    ):
        assert await second.wait() == 5
        said = [line for line in second.stderr.splitlines() if "http:" in line]
        assert len(said) == 1
        assert f"127.0.0.1:{first.port}" in said[0]
        assert f"(process {first.pid})" in said[0]
        assert "Traceback" not in second.stderr


@pytest.mark.requirement("HTTP-03")
async def test_only_this_machine_can_connect(fixture_site: Path) -> None:
    """Without a setting it listens at one address of the loopback interface, and not even at its others."""
    async with Served(fixture_site) as served:
        async with await served.connect() as line:
            assert (await line.request("GET", "/healthz")).status == 200
        for other in ("127.0.0.2", "::1"):
            with pytest.raises(OSError, match=r"(?i)refused|connect"):
                await served.connect(other)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
async def test_an_address_that_is_not_ours(fixture_site: Path, host: str) -> None:
    async with Served(fixture_site, http_config(f'host = "{host}"\nport = 0'), ready=False) as served:
        assert await served.wait() == 5
        assert host in served.stderr
        assert "Traceback" not in served.stderr


async def test_it_says_where_it_is_what_is_on_and_what_to_do(fixture_site: Path) -> None:
    async with Served(fixture_site) as served:
        said = await served.said(r"serves \d+ tools \((.*)\) at (http://127\.0\.0\.1:\d+/mcp)\n")
        assert {"fixture", "hostile"} <= set(said[1].split(", "))
        assert f"curl http://127.0.0.1:{served.port}/healthz" in (await served.said(r"next: .*"))[0]
        assert served.process.stdout is not None
        served.signal(signal.SIGTERM)
        assert await served.process.stdout.read() == b""


async def test_the_address_of_ipv6(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config('host = "::1"\nport = 0')) as served:
        assert served.url.startswith("http://[::1]:")
        async with await served.connect("::1") as line:
            answer = await line.request("GET", "/healthz", [("Host", f"[::1]:{served.port}")])
            assert answer.status == 200


# --- Unix sockets


@pytest.mark.parametrize(("proxies", "status"), [("", 421), ('trusted_proxies = ["unix"]', 200)])
async def test_a_proxy_behind_a_unix_socket(fixture_site: Path, tmp_path: Path, proxies: str, status: int) -> None:
    """B-15: it has no address to be trusted by."""
    path = tmp_path / "s"
    async with (
        Served(fixture_site, http_config(f'socket = "{path}"\n{proxies}', more=OPEN_MCP)),
        await over_unix(path) as line,
    ):
        for host, forwarded, expected in (
            ("inner.example", "localhost", status),
            ("inner.example", "evil.example, localhost", status),
            ("inner.example", "localhost, evil.example", 421),
            ("localhost", "localhost", 200),
        ):
            answer = await line.request("GET", "/healthz", [("Host", host), ("X-Forwarded-Host", forwarded)])
            assert answer.status == expected, (host, forwarded)


async def over_unix(path: Path) -> Line:
    return Line(*await asyncio.open_unix_connection(path, limit=LIMIT))


@pytest.mark.requirement("SEC-10")
async def test_a_unix_socket(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with Served(fixture_site, http_config(f'socket = "{path}"')) as served:
        assert served.url == f"unix:{path}"
        await served.said(
            rf"next: MCP is at /mcp of that socket; try: curl --unix-socket {path} http://localhost/healthz"
        )
        assert path.stat().st_mode & 0o777 == 0o600
        async with await over_unix(path) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"
            assert (await line.request("GET", "/healthz", [("Host", "evil.example")])).status == 421
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
        assert not path.exists()


async def test_a_socket_that_nobody_listens_at_is_replaced(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert path.is_socket()
    config = http_config(f'socket = "{path}"\nsocket_mode = 0o660')
    async with Served(fixture_site, config), await over_unix(path) as line:
        assert (await line.request("GET", "/healthz")).text == "ok\n"
        assert path.stat().st_mode & 0o777 == 0o660


async def test_a_socket_that_somebody_listens_at_is_left_alone(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    config = http_config(f'socket = "{path}"')
    async with Served(fixture_site, config), Served(fixture_site, config, ready=False) as second:
        assert await second.wait() == 5
        assert f"{path}: it is in use" in second.stderr
        async with await over_unix(path) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"


async def test_a_file_that_is_no_socket_is_left_alone(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("mine")
    async with Served(fixture_site, http_config(f'socket = "{path}"'), ready=False) as served:
        assert await served.wait() == 5
        assert path.read_text() == "mine"


async def test_a_socket_of_somebody_else_is_not_removed_at_the_end(fixture_site: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with Served(fixture_site, http_config(f'socket = "{path}"')) as served:
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            served.signal(signal.SIGTERM)
            assert await served.wait() == 0
        assert path.is_socket()


# --- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for localhost, its key, and the same key behind a passphrase."""
    folder = tmp_path_factory.mktemp("tls")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost"]
    name = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        [*make, *name, "-nodes", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [
            "openssl",
            "rsa",
            "-aes256",
            "-passout",
            "pass:secret",
            "-in",
            folder / "key.pem",
            "-out",
            folder / "locked.pem",
        ],
        check=True,
        capture_output=True,
    )
    return folder


async def test_tls(fixture_site: Path, certificate: Path) -> None:
    config = f'port = 0\ncertificate = "{certificate}/cert.pem"\nkey = "{certificate}/key.pem"\nheader_seconds = 0.3'
    async with Served(fixture_site, http_config(config)) as served:
        assert served.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
        async with await served.connect(tls=context) as line:
            assert (await line.request("GET", "/healthz")).text == "ok\n"
            one = modern(call("fixture_count", token="p"))
            answer = await line.request("POST", "/mcp", mirrored(one), json.dumps(one).encode())
            assert answer.get("Content-Type") == "text/event-stream"
        async with await served.connect() as plain:
            await plain.ask("GET", "/healthz")
            assert b"200" not in await plain.rest()
        async with await served.connect() as silent:
            assert await silent.rest() == b""  # no handshake, and no connection any more
        assert "Traceback" not in served.stderr


@pytest.mark.parametrize(
    ("one", "other"), [("cert.pem", "none.pem"), ("key.pem", "cert.pem"), ("cert.pem", "locked.pem")]
)
async def test_a_certificate_that_cannot_be_used(fixture_site: Path, certificate: Path, one: str, other: str) -> None:
    config = f'port = 0\ncertificate = "{certificate / one}"\nkey = "{certificate / other}"'
    async with Served(fixture_site, http_config(config), ready=False) as served:
        assert await served.wait() == 5
        assert str(certificate / other) in served.stderr
        assert "Traceback" not in served.stderr


@pytest.mark.parametrize("stderr", ["/dev/full", "&-"])
async def test_a_log_that_cannot_be_written_stops_nothing(fixture_site: Path, tmp_path: Path, stderr: str) -> None:
    command = ["sh", "-c", f'exec "$0" serve -vv 2>{stderr}', str(PEGBOARD)]
    async with Served(fixture_site, http_config(f'socket = "{tmp_path}/s"'), command=command, ready=False) as served:
        streams = None
        async with asyncio.timeout(WAIT):
            while streams is None:
                with suppress(OSError):
                    streams = await asyncio.open_unix_connection(tmp_path / "s")
                await asyncio.sleep(0.05)
        served.lines.append(line := Line(*streams))
        assert (await line.request("GET", "/healthz")).status == 200
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
