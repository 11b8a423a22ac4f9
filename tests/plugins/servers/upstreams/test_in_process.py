"""Servers that a program mounts in its own process: another host, ASGI applications, and servers of other libraries."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host
from pegboard.errors import ConfigError
from pegboard.types import Call
from tests.host.hosting import kit_of, until, work
from tests.plugins.servers.upstreams.mounts import ERAS, mounting, names
from tests.support import asks_kit, fixture_kit
from tests.support.environments import built_wheels, executable, make_environment
from tests.support.sdk import SDKS

QUIET = {"host": {"autoload": False}}
SCRIPT = Path(__file__).with_name("library_servers.py")
FASTMCP = "fastmcp==4.1.2"


def inner() -> Host:
    config = {"host": {**QUIET["host"], "max_result_bytes": 10_000_000}}
    return Host(config, toolkits={"fixture": fixture_kit.kit, "asks": asks_kit.kit})


@pytest.mark.parametrize("revision", ERAS)
async def test_a_host_is_mounted_in_another(revision: str) -> None:
    host = inner()
    async with mounting({"shop": {"object": host, "revision": revision}}, answers=["Ann"]) as client:
        assert {"shop_fixture_add", "shop_asks_name"} <= set(await names(client))
        sums = await asyncio.gather(*(client.call("shop_fixture_add", a=number, b=1) for number in range(20)))
        assert [result.text for result in sums] == [str(number + 1) for number in range(20)]
        assert (await client.call("shop_asks_name")).text == "Hello, Ann"
        assert len((await client.call("shop_fixture_large", size=4_000_000)).text) == 4_000_000
        waiting = asyncio.ensure_future(client.call("shop_fixture_wait", label="left"))
        await client.heard("notifications/progress")
        waiting.cancel()
        while "left" not in (await client.call("shop_fixture_cancelled")).text:
            pass
        assert host.started
    assert not host.started


async def test_an_application_is_mounted_at_its_path_with_the_options_of_its_section() -> None:
    fails, headers = False, dict[bytes, bytes]()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"  # it has no lifespan
        headers.update(scope["headers"])
        if fails:
            head = [(b"Content-Type", b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            raise RuntimeError("broken off")
        await far.asgi()(scope, receive, send)

    far = Host({**QUIET, "plugins": {"http": {}, "mcp": {"path": "/tools"}}}, toolkits={"x": kit_of(work)})
    section = {"object": application, "path": "/tools", "prefix": False, "headers": {"X-Key": "secret"}}
    async with far, mounting({"shop": section}) as client:
        assert await names(client) == ["work"]
        assert (await client.call("work")).text == "done"
        assert (headers[b"x-key"], headers[b"host"]) == (b"secret", b"127.0.0.1:80")
        fails = True
        failed = await client.call("work")
        assert (failed.is_error, "'shop'" in failed.text, "broken off" in failed.text) == (True, True, False)
        fails = False
        assert (await client.call("work")).text == "done"


async def test_a_server_that_cannot_start_affects_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    broken = Host({**QUIET, "plugins": {"http": {"allowed_hosts": ["tools.example.com"]}}})
    async with mounting({"shop": {"object": inner()}, "broken": {"object": broken}}) as client:
        assert (await client.call("shop_fixture_add", a=1, b=2)).text == "3"
    assert "broken: cannot connect" in caplog.text
    assert "other machines can reach the ASGI application" in caplog.text


async def test_a_program_mounts_servers_beside_their_sections() -> None:
    config = {**QUIET, "plugins": {"upstreams": {"servers": {"shop": {"include": ["fixture_add"]}}}}}
    async with Host(config, mount={"shop": inner()}) as outer:
        listing: Any = await outer.dispatch(Call("tools/list", {}))
        assert list(outer.assembly.tools) == ["shop_fixture_add"], listing


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"object": 5}, "5 is not a server: use a server of FastMCP"),
        ({"object": Host}, "is not a server"),
        ({"object": print, "url": "http://x/"}, "set exactly one of them"),
        ({"object": print, "args": ["x"]}, "args has no meaning with object"),
        ({"url": "http://x/", "path": "/x"}, "path has no meaning with url"),
    ],
)
async def test_a_wrong_section_is_reported(section: dict[str, Any], message: str) -> None:
    host = Host({**QUIET, "plugins": {"upstreams": {"servers": {"shop": section}}}})
    with pytest.raises(ConfigError, match=message):
        await host.start()


def test_servers_without_names_are_reported() -> None:
    with pytest.raises(ConfigError, match="mount must be a mapping of names to servers, not list"):
        Host(QUIET, mount=[Host(QUIET)])  # type: ignore[arg-type]


async def test_a_host_that_is_mounted_in_itself_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def itself(scope: Any, receive: Any, send: Any) -> None:
        await host.asgi()(scope, receive, send)

    host = Host({**QUIET, "plugins": {"http": {}}}, mount={"me": itself})
    caplog.set_level(logging.ERROR)
    async with host:
        await host.dispatch(Call("tools/list", {}))
        await until(lambda: "me is not mounted: it is this host" in caplog.text)


@pytest.mark.timeout(600)  # the first run makes environments
@pytest.mark.parametrize(
    ("library", "kinds"), [(SDKS["1"], "high low"), (SDKS["2"], "high low"), (FASTMCP, "fastmcp")], ids=str
)
def test_servers_of_other_libraries_are_mounted(library: str, kinds: str) -> None:
    name = f"mounts-{library.partition('=')[0]}-{library.partition('==')[2][0]}"
    python = executable(make_environment(name, "pegboard", library, wheels=built_wheels()))
    for kind in kinds.split():
        done = subprocess.run([python, SCRIPT, kind], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        report = json.loads(done.stdout)
        assert report == {
            "tools": ["shop_add", "shop_ask"] if kind != "low" else ["shop_add"],
            "sum": "3",
            "asked": "Hello, Ann" if kind != "low" else None,
        }
