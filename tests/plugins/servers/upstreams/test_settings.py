"""The settings of mounted servers: problems with their lines, paths, names, and the status command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from pegboard import Host
from pegboard.loading.discovery import defaults
from pegboard_client.handshake import SESSIONS, STATELESS
from pegboard_plugins.servers.upstreams.host_login import CALLERS_ADVICE
from pegboard_plugins.servers.upstreams.mounted import wire_form
from pegboard_plugins.servers.upstreams.settings import ServerConfig, UpstreamsConfig
from tests.host.hosting import WAIT
from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, toml, tool, tools
from tests.support.config import load
from tests.support.forks import Done
from tests.support.http import Served, http_config
from tests.support.wire import PEGBOARD, Process

KEY = '{ user_secret = "A_KEY" }'
CALL = ("call", "one_search", "name=OWN")


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("", "a server needs either url or command: set exactly one of them"),
        ('url = "http://a/mcp"\ncommand = "b"', "a server needs either url or command"),
        ('url = "ftp://a"', 'invalid URL: use a URL such as "https://example.com/mcp"'),
        ('url = "http://user:pass@a/mcp"', "the URL contains a user name or password: use headers"),
        ('url = "http://a/mcp"\nargs = ["x"]', "args has no meaning with url: remove it"),
        ('command = "a"\nheaders = { X = "y" }', "headers has no meaning with command: remove it"),
        ('url = "http://a/mcp"\nheaders = { "a b" = "y" }', "invalid header name 'a b'"),
        ('url = "http://a/mcp"\nheaders = { Mcp-Session-Id = "y" }', "belongs to the protocol: remove it"),
        ('url = "http://a/mcp"\nauth = "github"', 'auth requires url and identity = "user"'),
        ('command = "a"\nidentity = "user"\nstart = "required"', 'start = "required" needs identity = "host"'),
        (f'url = "https://a/mcp"\nheaders = {{ A = {KEY} }}', 'user_secret requires url and identity = "user"'),
        (f'url = "http://a/mcp"\nidentity = "user"\nheaders = {{ A = {KEY} }}', "the URL must be https"),
        (
            f'url = "https://a/mcp"\nidentity = "user"\nheaders = {{ A = {KEY}, B = {KEY} }}',
            "have a user_secret: use one",
        ),
        ('url = "https://a/mcp"\nidentity = "user"\nshared = true', 'shared requires a url, identity = "host"'),
        ('url = "http://a/mcp"\ntimeuot = 3', "did you mean"),
        ('url = "http://a/mcp"\nstart = "later"', 'expected "eager", "lazy" or "required"'),
        ('url = "http://a/mcp"\nrevision = "2099-01-01"', 'expected "2026-07-28", "2025-11-25"'),
        ('command = "a"\ncwd = "absent"', "absent' is not a directory: create it"),
        ('command = "a"\nenv = { "A=B" = "c" }', "invalid variable name 'A=B'"),
        ('command = "a"\nenv = { "" = "c" }', "invalid variable name ''"),
        ('command = "a"\nenv = { A = "b\\u0000" }', "the variable 'A' has a value with a null character: remove it"),
        ('command = "a"\nrename = { x = "z", y = "z" }', "'x' and 'y' have the new name 'z': use two names"),
        ('command = "a"\nrename = { x = "" }', "the new name of 'x' is empty"),
        ('url = "http://a/mcp"\nheaders = { Authorization = { env = "UNSET_VARIABLE" } }', "UNSET_VARIABLE"),
    ],
)
def test_problems_name_the_file_and_the_line(section: str, problem: str, tmp_path: Path) -> None:
    text = f"[host]\nautoload = false\n[plugins.upstreams.servers.one]\n{section}\n"
    host = Host(load(tmp_path, text, defaults=defaults()))
    host.load()
    (message,) = [str(item) for item in host.problems if item.fatal]
    assert problem in message
    assert "hostconfig.toml:" in message
    assert "plugins.upstreams.servers.one" in message


@pytest.mark.needs("auth")
def test_an_auth_provider_that_no_plugin_describes_is_reported(tmp_path: Path) -> None:
    section = 'url = "http://127.0.0.1:1/mcp"\nidentity = "user"\nauth = "githup"'
    host = Host(load(tmp_path, f"[plugins.upstreams.servers.one]\n{section}\n", defaults=defaults()))
    host.load()
    (problem,) = [problem for problem in host.problems if "githup" in str(problem)]
    assert problem.level == "warning"
    assert str(problem).endswith(
        "hostconfig.toml:4: plugins.upstreams.servers.one.auth: "
        "no running plugin describes the auth provider 'githup'; did you mean \"github\"?"
    )


def test_the_revisions_are_those_of_the_client() -> None:
    (revisions, _) = get_args(get_type_hints(ServerConfig)["revision"])
    assert get_args(revisions) == (STATELESS, *SESSIONS)


@pytest.mark.parametrize("name", ["Big", "with space", "x" * 33, "-a"])
def test_names_of_servers_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="invalid server name"):
        UpstreamsConfig.model_validate({"servers": {name: {"url": "http://a/mcp"}}})


def test_relative_paths_start_at_the_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    text = '[plugins.upstreams.servers.one]\ncommand = "bin/server"\ncwd = "data"\n'
    host = Host(load(tmp_path, text, defaults=defaults()))
    host.load()
    (config,) = [plugin.context.config for plugin in host.report.plugins if plugin.origin.name == "upstreams"]
    server = config.servers["one"]
    assert (server.command, server.cwd) == (str(tmp_path / "bin/server"), tmp_path / "data")


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, {"one_search", "one_delete", "one_list"}),
        ({"prefix": False}, {"search", "delete", "list"}),
        ({"prefix": "gh", "exclude": ["del*"]}, {"gh_search", "gh_list"}),
        ({"include": ["search", "list"], "rename": {"search": "find"}}, {"find", "one_list"}),
    ],
)
async def test_items_are_selected_and_renamed(settings: dict[str, object], shown: set[str], tmp_path: Path) -> None:
    section = scripted(tmp_path, tools("search", "delete", "list"), **settings)
    async with mounting({"one": section}) as client:
        assert set(await names(client)) == shown


def test_a_password_in_an_environment_is_not_shown() -> None:
    assert "canary" not in repr(ServerConfig.model_validate({"command": "a", "env": {"X": "canary"}}))


@pytest.mark.needs("doctor", "tool_commands", "why")
async def test_the_command_shows_each_server(tmp_path: Path) -> None:
    hidden = tool("hidden", description="hid\u200bden")
    server = scripted(tmp_path, {"tools/list": {"tools": [tool("search"), tool("files.read"), hidden]}})
    text = toml("one", server) + toml("dead", {"command": "/bin/false"})
    text += toml("personal", {"url": "http://127.0.0.1:9/mcp", "identity": "user"})
    code, out, _ = await ran(text, "upstreams")
    assert code == 1
    assert out == (
        "dead: failed: /bin/false ended with code 1\n"
        "one: connected to scripted 1 (2025-06-18), 2 tools, 0 resources, 0 prompts\n"
        f"  one_search\n  {wire_form('one_files.read')}\n"
        "  not served: tool 'hidden': tool 'one_hidden': the definition: description has U+200B (ZERO WIDTH SPACE) "
        "at position 3, which is invisible; remove it\n"
        f"personal: each user has a connection: if it requires a login: {CALLERS_ADVICE}\n"
    )
    for command in ("list", "cost"):
        for options in (("--json",), ("--budget", "9999") if command == "cost" else ()):
            code, out, errors = await ran(text, command, *options)
            assert (code, "one_search" in out) == (1, True)
            assert "the server 'dead' is not available: /bin/false ended with code 1" in errors
            assert options != ("--json",) or command == "list" or json.loads(out)["ok"] is False
    assert "\n  tools of upstreams are not included: `pegboard cost` counts them\n" in await output(text)
    _, _, errors = await ran(f'[host]\ndisabled_tools = ["none"]\n{text}', "list")
    assert errors.count('"none" matches nothing') == 1
    assert "dead: cannot connect" in errors
    because = "its tools are unknown because the server 'dead' is not available: /bin/false ended with code 1\n"
    assert await output(text, "why", "dead_tool") == because
    assert "one_search\n" in await output(text, "show", "one_search")
    assert (
        await output(text, "why", "one_search")
        == "tool one_search: served; it comes from the toolkit one of upstreams\n"
    )
    for command, problem in (("call", "there is no tool"), ("show", "there is no tool"), ("why", "is not installed")):
        out = (await ran(text, command, "one_nothing"))[2]
        assert problem in out
        assert "tools of upstreams are added while the host runs" in out
    states = json.loads(await output(text, "upstreams", "--json"))
    assert states[1]["refused"][0]["name"] == "hidden"
    assert [state["state"] for state in states] == ["failed", "connected", "each user has a connection"]
    assert await output(f'{text}[plugins.upstreams.servers.one.env]\nOWN = "own"\n', *CALL) == "own\n"


@pytest.mark.needs("tool_commands")
async def test_a_call_waits_only_for_the_server_of_its_tool(tmp_path: Path) -> None:
    text = "[plugins.upstreams]\nfirst_list_seconds = 60\n"
    hanging = {"initialize": "hang", "server/discover": "hang"}
    for name, script in (("one", tools("search")), ("hangs", hanging)):
        text += toml(name, scripted(tmp_path, script, env={"OWN": "own"}))
    async with asyncio.timeout(WAIT):
        assert await output(text, *CALL) == "own\n"


async def output(config: str, *arguments: str) -> str:
    return (await ran(config, *arguments)).out


async def ran(config: str, *arguments: str) -> Done:
    return await Process((PEGBOARD, *arguments), config, None, None, None).finish()


async def test_the_first_line_names_the_servers_whose_tools_follow(tmp_path: Path) -> None:
    sections = toml("notes", {"command": "false", "start": "lazy"})
    async with Served(tmp_path, http_config(more=sections)) as served:
        pass
    assert " serves the tools of notes as soon as they are available at http://" in served.stderr
