"""The page about proxies: a real nginx with the page's configuration, in front of a host with the page's settings."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.docs.pages import Page
from tests.plugins.auth.auth_token import door_kit
from tests.support.http import Answer, Served
from tests.support.http_mcp import Session, Streaming, ask, call, message, mirrored, modern
from tests.support.nginx import NAME, Proxied
from tests.support.pool import CONFIG, make_fixture_site, make_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = Page("docs/behind-a-proxy.md")
SETTINGS, SITE = PAGE.blocks["toml file=hostconfig.toml"], PAGE.blocks["nginx site"]
PREFIX = PAGE.blocks["nginx prefix"]
HOST = f'{CONFIG}transports = ["http"]\nlog_level = "info"\n'
TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz"
BEARER = ("Authorization", f"Bearer {TOKEN}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_fixture_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "2", "-subj", f"/CN={NAME}", "-nodes"]
    name = ["-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    subprocess.run([*make, *name, *files], check=True, capture_output=True)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def proxied(site: Path, certificate: Path) -> AsyncIterator[Proxied]:
    settings = SETTINGS.replace("port = 8000", "port = 0")
    nginx = SITE.replace("    location / {", PREFIX + "\n    location / {")
    env = {"DOOR_TOKEN": TOKEN}
    async with Proxied(site, HOST + settings, nginx=nginx, certificate=certificate, env=env) as proxied:
        yield proxied


async def listed(served: Served, *fields: tuple[str, str], path: str = "/mcp") -> Answer:
    request = modern(message("tools/list"))
    return await served.request("POST", path, [*mirrored(request), *fields], json.dumps(request).encode())


async def test_calls_and_sessions(proxied: Proxied) -> None:
    done = await ask(proxied, call("fixture_length", {"text": "x" * 3_000_000}), Authorization=BEARER[1])
    assert done.result["content"][0]["text"] == "3000000"
    session = Session(proxied, fields=[BEARER])
    await session.open()
    assert (await session.post(call("fixture_echo", {"text": "x"}))).result["isError"] is False
    assert (await listed(proxied, BEARER, path="/tools/mcp")).status == 200


async def test_a_unix_socket_behind_the_proxy(site: Path, certificate: Path, tmp_path: Path) -> None:
    path = f"{tmp_path}/pegboard.sock"
    settings = PAGE.blocks["toml socket"].replace("/run/pegboard/pegboard.sock", path)
    settings += SETTINGS[SETTINGS.index("[plugins.auth_token]") :]
    (server,) = re.findall(r"`(server unix:\S+;)`", PAGE)
    nginx = SITE.replace("server 127.0.0.1:8000;", server.replace("/run/pegboard/pegboard.sock", path))
    env = {"DOOR_TOKEN": TOKEN}
    async with Proxied(site, HOST + settings, nginx=nginx, certificate=certificate, env=env) as proxied:
        assert (await listed(proxied)).status == 401
        assert (await ask(proxied, call("fixture_length", {"text": "x"}), Authorization=BEARER[1])).status == 200


async def test_events_pass_at_once(proxied: Proxied) -> None:
    """Each is read while the call that sends it waits for a request that comes later."""
    session = Session(proxied, fields=[BEARER])
    await session.open()
    request = modern(call("fixture_wait", token="p"))
    alone = Streaming(await proxied.connect())
    await alone.begin(request, mirrored(request, Authorization=BEARER[1]))
    streams = [alone, await session.begin(call("fixture_wait", token="p"))]
    assert all(each.first["method"] == "notifications/progress" for each in streams)
    listening = modern(message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
    heard = Streaming(await proxied.connect())
    await heard.begin(listening, mirrored(listening, Authorization=BEARER[1]))
    assert heard.first["method"] == "notifications/subscriptions/acknowledged"
    apart = await session.listen()
    assert apart.head.get("Cache-Control") == "no-cache, no-transform"
    await ask(proxied, call("fixture_release"), Authorization=BEARER[1])
    for each in streams:
        assert [event async for event in each.rest()][-1]["result"]["isError"] is False


async def test_the_door_is_shut(proxied: Proxied) -> None:
    assert (await listed(proxied)).status == 401
    assert (await listed(proxied, ("Authorization", f"Bearer {'x' * 30_000}"))).status == 401
    assert (await listed(proxied, BEARER, ("Host", "evil.example"))).status == 421
    assert (await listed(proxied, BEARER, ("Host", "evil.example"), ("X-Forwarded-Host", NAME))).status == 421
    assert (await listed(proxied, BEARER, ("Origin", f"https://{NAME}"))).status == 200
    assert (await listed(proxied, BEARER, ("Origin", "https://evil.example"))).status == 403


async def test_the_client_s_address_is_known(proxied: Proxied) -> None:
    """It is what nginx says, not what the client says."""
    invented = [("X-Forwarded-For", "192.0.2.66"), ("Forwarded", "for=192.0.2.66"), ("X-Real-IP", "192.0.2.66")]
    assert (await listed(proxied, ("Authorization", "Bearer wrong"), *invented)).status == 401
    await proxied.wait_for_stderr(r"refused: a token \(.*peer='127\.0\.0\.2'")
    assert "192.0.2.66" not in proxied.stderr


async def test_the_metadata_below_a_path(site: Path, certificate: Path) -> None:
    """The host of the resource needs no entry in `allowed_hosts`."""
    (resource,) = re.findall(r'`resource = "(.*?)"`', PAGE)
    own = f'[plugins.http]\nport = 0\n[plugins.resource_server]\nresource = "{resource}"\n'
    own += '[[plugins.resource_server.authorization_servers]]\nissuer = "https://auth.example.com"\n'
    nginx = SITE.replace("    location / {", PREFIX + "\n    location / {")
    async with Proxied(site, HOST + own, nginx=nginx, certificate=certificate) as proxied:
        refused = await listed(proxied, path="/tools/mcp")
        (url,) = re.findall(r'resource_metadata="(.*?)"', refused.get("WWW-Authenticate") or "")
        assert url.startswith(f"https://{NAME}/")
        metadata = await proxied.request("GET", url.removeprefix(f"https://{NAME}"))
        assert metadata.json["resource"] == resource


async def test_a_stranger_behind_a_plain_proxy_is_not_the_operator(tmp_path: Path) -> None:
    """Its requests look like those of a program of this machine: nginx replaces their `Host` and adds no address."""
    make_site(tmp_path, {"door": door_kit})
    plain = "server { listen 80; location / { proxy_pass http://127.0.0.1:8000; } }"
    config, env = f"{HOST}[plugins.http]\nport = 0\n", {"DOOR_SECRET": "hunter2"}
    async with Proxied(tmp_path, config, nginx=plain, env=env) as proxied:
        assert (await ask(proxied, call("door_plain"))).result["isError"] is False
        refused = (await ask(proxied, call("door_secretive"))).result
        assert refused["isError"] is True
        assert "characters" not in str(refused)
        assert "operator-token" in refused["content"][0]["text"]
