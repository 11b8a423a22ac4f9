"""`pegboard list`, `show` and `call` with `--stdio` and `--url`: our own host, and servers that follow a script."""

from __future__ import annotations

import asyncio
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from pegboard.plugin import CommandContext
from pegboard_client import ClientLimits
from pegboard_plugins.servers.other_servers import other_server
from pegboard_plugins.servers.other_servers.server_items import call_named, print_shown
from tests.pegboard_client.scripted import Got, scripted_http, session, whole
from tests.support.command_line import Command
from tests.support.forks import Done
from tests.support.http import OPEN_MCP, http_config
from tests.support.login_server import LoginServer, pasted
from tests.support.serving import serving
from tests.support.wire import PEGBOARD, client_environment

pytestmark = pytest.mark.needs("tool_commands")

TOKEN = "Authorization: Bearer "
KIT = '''
from pydantic import BaseModel
from pegboard import Context, ImageContent, Toolkit

kit = Toolkit("own")


class Person(BaseModel):
    name: str


@kit.tool
async def add(context: Context, a: int, b: int = 2) -> int:
    """Add two numbers."""
    await context.progress.report(1, 2, "half")
    return a + b


@kit.tool
def mixed() -> list:
    """Return content."""
    return ["one", ImageContent(b"xyz", "image/png")]


@kit.tool
async def who(context: Context) -> str:
    """Ask for a name."""
    answer = await context.ui.elicit("Who are you?", Person)
    return f"Hello {answer.content.name}!"


@kit.tool
def fails() -> str:
    """Fail."""
    raise RuntimeError("canary")


@kit.resource("notes://today", mime_type="text/plain")
def today() -> str:
    """Today's notes."""
    return "cups"


@kit.resource("notes://{day}")
def of_day(day: str) -> bytes:
    """Notes of a day."""
    return b"xyz"


@kit.prompt(name="greet")
def greet(person: str, tone: str = "kind") -> str:
    """Greet a person."""
    return f"Greet {person} in a {tone} way."
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The options for our own host over HTTP."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_kit.py").write_text(KIT, "utf-8")
    (folder / "hostconfig.toml").write_text(http_config(more=OPEN_MCP), "utf-8")
    command: list[str | Path] = [PEGBOARD, "serve", "--config", "hostconfig.toml", "--file", "own_kit.py"]
    with serving(command, folder, client_environment(folder)) as server:
        yield ["--url", f"{server.url.removesuffix('/mcp')}/mcp"]


# --- our own host


def test_everything_that_a_server_has_is_listed(bare: Command, own: list[str]) -> None:
    done = bare("list", *own)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "own_add    Add two numbers.",
        "own_fails  Fail.",
        "own_mixed  Return content.",
        "own_who    Ask for a name.",
        "",
        "prompts:",
        "own_greet  Greet a person.",
        "",
        "resources:",
        "notes://today  Today's notes.",
        "",
        "resource templates:",
        "notes://{day}  Notes of a day.",
    ]
    assert list(bare("list", *own, "--json").data) == ["tools", "prompts", "resources", "resourceTemplates"]


def test_an_empty_description_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    print_shown("resources", {"uri": "x://a", "name": "a", "description": ""})
    assert capsys.readouterr().out == "x://a\n  name  a\n"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Own.Add", ["own_add", "", "Add two numbers.", "", "  a  integer  required", "  b  integer  =2"]),
        ("own_greet", ["own_greet", "", "Greet a person.", "", "  person  required", "  tone"]),
        ("notes://today", ["notes://today", "", "Today's notes.", "", "  name      today"]),
    ],
)
def test_one_item_is_shown(name: str, lines: list[str], bare: Command, own: list[str]) -> None:
    done = bare("show", name, *own)
    assert (done.code, done.out.splitlines()[: len(lines)]) == (0, lines)
    assert bare("show", name, *own, "--json").data["description"] == lines[2]


@pytest.mark.parametrize(
    ("line", "code", "out"),
    [
        ("own_add a:=1", 0, "3\n"),
        ("OWN::ADD a:=1 b:=5", 0, "6\n"),
        ("own_mixed", 0, "one\n[image: image/png, 3 bytes]\n"),
        ("own_greet person=Ada", 0, "user: Greet Ada in a kind way.\n"),
        ("notes://today", 0, "cups\n"),
        ("notes://monday", 0, "[notes://monday: application/octet-stream, 3 bytes]\n"),
    ],
)
def test_tools_prompts_and_resources_are_called(line: str, code: int, out: str, bare: Command, own: list[str]) -> None:
    done = bare("call", *line.split(), *own)
    assert (done.code, done.out[: len(out)], done.err) == (code, out, "")


def test_the_error_of_a_tool_is_a_message(bare: Command, own: list[str]) -> None:
    done = bare("call", "own_fails", *own)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("pegboard: It failed unexpectedly.")
    assert bare("call", "own_fails", "--json", *own).data["isError"] is True


def test_wrong_arguments_lead_to_the_parameters_of_the_tool(bare: Command, own: list[str]) -> None:
    hint = (
        "pegboard: `pegboard show Own.Add` with the same options lists the parameters; write other types as key:=json\n"
    )
    for arguments in (["a=x"], ["b:=1"], ["a:=1", "c:=1"]):
        assert bare("call", "Own.Add", *arguments, *own).err.endswith(f"\n{hint}")
    assert hint not in bare("call", "own_fails", *own).err


def test_the_result_in_json_is_that_of_the_server(bare: Command, own: list[str]) -> None:
    result = bare("call", "own_add", "a:=1", "--json", *own).data
    assert result["content"] == [{"type": "text", "text": "3"}]
    assert bare("call", "notes://none/here", "--json", *own).data["error"]["code"] == -32602
    missing = bare("call", "own_ad", "--json", *own)
    assert (missing.code, missing.err) == (1, "")
    assert "did you mean 'own_add'?" in missing.data["error"]["message"]
    refused = bare("call", "own_add", "--json", "--url", "http://127.0.0.1:9/mcp")
    assert (refused.code, refused.data["error"]["kind"]) == (5, "CANNOT_OPEN")


def test_a_terminal_answers_questions(bare: Command, own: list[str]) -> None:
    done = bare("call", "own_who", *own, typed="Ada\nyes\n", terminal=(0, 2))
    assert (done.code, done.out) == (0, "Hello Ada!\n")
    assert f"pegboard: {own[1]} asks:\npegboard: Who are you?" in done.err.replace("\r", "")
    unasked = bare("call", "own_who", *own)
    assert (unasked.code, "elicitation" in unasked.err) == (1, True), unasked


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_person_is_told_of_a_server_that_responds_late(
    is_terminal: bool, own: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(other_server, "_QUIET_SECONDS", 0)
    monkeypatch.setattr(other_server, "is_interactive", lambda: is_terminal)
    headers = [("authorization", "Bearer none")]
    shared: dict[str, Any] = {"config": None, "only": [], "file": [], "json": True}
    options = Namespace(url=own[1], stdio=None, header=headers, login=False, no_browser=False, **shared)
    other_server.list_server(CommandContext(options, print))
    message = f"waiting for the first response of {own[1]}; stop with Ctrl-C"
    assert (message in capfd.readouterr().err) is is_terminal


def test_a_command_is_started_and_ended(bare: Command) -> None:
    kit = bare.write(KIT, "own_kit.py")
    words = [sys.executable, "-m", "pegboard", "stdio", "--config", "hostconfig.toml", "--file", str(kit)]
    loud = ["sh", "-c", f"echo loud >&2; exec {shlex.join(words)}"]
    done = bare("call", "own_add", "a:=1", "--stdio", shlex.join(loud), "-v")
    assert (done.code, done.out) == (0, "3\n")
    assert "pegboard: 1 of 2 half\n" in done.err
    assert "pegboard: sh: loud\n" in done.err
    assert "loud" not in bare("call", "own_add", "a:=1", "--stdio", shlex.join(loud)).err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("own_ad", "did you mean 'own_add'?"),
        ("z", "`pegboard list` with the same options shows all that you may use"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_hint(name: str, hint: str, bare: Command, own: list[str]) -> None:
    done = bare("call", name, *own)
    assert (done.code, done.err) == (1, f"pegboard: the server has no tool or prompt {name!r}; {hint}\n")


async def test_a_call_may_take_longer_than_other_requests() -> None:
    client = AsyncMock()
    await call_named(client, ("tools", {"name": "dig"}), "dig", {}, None)
    client.call.assert_awaited_once_with("dig", {}, progress=None, timeout=ClientLimits().request_seconds)


# --- failures


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("list --stdio /no/such/program", 5, "/no/such/program"),
        ("list --stdio \"sh -c 'echo no config >&2; exit 3'\"", 5, "pegboard: sh: no config"),
        ("list --url http://127.0.0.1:1/mcp", 5, "http://127.0.0.1:1/mcp"),
        ("list --url ftp://a", 2, "'ftp://a' is not an http or https URL"),
        ("list --url http://a --stdio b", 2, "not allowed with argument --url"),
        ("list --url http://a --header secret", 2, "a header has the form 'NAME: VALUE'"),
        ('list --stdio "\'"', 2, "is not a command line"),
        ('list --stdio ""', 2, "the command line is empty"),
        ("list --login", 2, "--login has no effect without --url"),
        ("list --stdio a --header 'B: c'", 2, "--header has no effect without --url"),
        ("list --url http://a --file b.py", 2, "--file has no effect with --url and --stdio"),
        (
            "call x --task",
            1,
            "no `pegboard serve` with this configuration is running: start it first, or add --url URL",
        ),
        ("call x --resume 1 --stdio a", 2, "--resume has no effect with --stdio"),
        ("call x --task --file a.py", 2, "--file has no effect with --task and --resume"),
    ],
)
def test_wrong_lines_and_unreachable_servers_are_explained(line: str, code: int, message: str, bare: Command) -> None:
    done = bare(*shlex.split(line))
    assert (done.code, done.out, message in done.err, "Traceback" in done.err) == (code, "", True, False), done.err


@pytest.mark.needs("auth_token")
def test_a_server_that_refuses_a_token_is_explained(bare: Command) -> None:
    bare.write(f'[plugins.auth_token]\ntoken = "{"0123456789" * 4}"\n')
    with serving(bare.arguments("serve", "--port", "0"), bare.folder, bare.environment()) as server:
        operator = bare("call", "some_tool", "--task")
        absent, wrong = bare("list", "--url", server.url), bare("list", "--url", server.url, "--header", f"{TOKEN}x")
    refused = f"pegboard: {server.url.removesuffix('/mcp')} refused the token: The token is not known here."
    assert operator.err.startswith(f"{refused} Add --url {server.url} --header '{TOKEN}TOKEN', or "), operator.err
    assert absent.err.endswith(
        f" requires a login. Add --header '{TOKEN}TOKEN', or --login if it has an authorization server.\n"
    )
    assert (operator.code, absent.code, wrong.err) == (1, 1, f"{refused} Give another token.\n")


async def test_a_web_page_is_not_a_server(bare: Command) -> None:
    async with scripted_http(lambda _: whole(200, b"<p>hello", "Content-Type: text/html")) as (url, _):
        done = await asyncio.to_thread(bare, "list", "--url", url)
    assert (done.code, done.out, "Traceback" in done.err, url in done.err) == (5, "", False, True)


# --- foreign servers over HTTP


def foreign(results: dict[str, Any]) -> AbstractAsyncContextManager[tuple[str, list[Got]]]:
    """A server in a session with some results."""
    return scripted_http(
        session(lambda got: got.result(results[got.method]) if got.method in results else whole(400, b""))
    )


EVIL = "\x1b[31mred\u202e"
HOSTILE = {
    "tools/list": {
        "tools": [
            {"name": f"a{EVIL}\nb", "description": f"{EVIL}\nmore", "inputSchema": {"properties": {"x": True}}},
            {"name": "odd", "inputSchema": 5, "description": 7},
            {"description": "without a name"},
        ]
    },
    "tools/call": {"content": [5, {"type": "new", "x": EVIL}, {"type": "text", "text": EVIL}], "isError": 1},
}


async def test_hostile_lists_and_results_are_printed_safely(bare: Command) -> None:
    async with foreign(HOSTILE) as (url, _):

        async def run(*arguments: str, **options: Any) -> Done:
            return await asyncio.to_thread(bare, *arguments, "--url", url, **options)

        listed = await run("list")
        assert (listed.code, len(listed.out.splitlines())) == (0, 3)
        shown = [await run("show", "odd"), await run("show", f"a{EVIL}\nb"), await run("call", "odd", terminal=(1,))]
    texts = [listed.out, listed.err, *(text for done in shown for text in (done.out, done.err))]
    assert [done.code for done in shown] == [0, 0, 0]
    assert not set("".join(texts)) & set("\x1b\u202e")
    assert "Traceback" not in "".join(texts)
    assert '{"type":"new"' in shown[2].err  # the terminal
    assert '"x": true' in shown[1].out


async def test_headers_are_sent(bare: Command) -> None:
    async with foreign({"tools/list": {"tools": []}}) as (url, got):
        headers = ["--header", "Authorization: Bearer abc", "--header", "X-Team:cups"]
        done = await asyncio.to_thread(bare, "list", "--url", url, *headers)
    assert (done.code, done.err) == (0, "pegboard: the server has no tools, prompts or resources\n")
    sent = {(request.headers["authorization"], request.headers["x-team"]) for request in got}
    assert sent == {("Bearer abc", "cups")}


# --- login


async def test_a_browser_on_another_machine_ends_a_login(bare: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(bare.folder))
    async with LoginServer() as login:
        out, errors = await pasted("list", "--url", login.url, "--login", "--no-browser")
    assert out == "cup\n\nprompts:\ntoast\n", errors
    assert "this is not the address of the last page" in errors


async def test_a_login_is_saved_for_the_next_command(bare: Command) -> None:
    browser = bare.write("import sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n", "browser.py")
    async with LoginServer() as login:

        async def run(*arguments: str, **options: Any) -> Done:
            env = {"BROWSER": f"{sys.executable} {browser} %s"}
            return await asyncio.to_thread(bare, "list", "--url", login.url, *arguments, env=env, **options)

        refused = await run()
        assert (refused.code, refused.out) == (1, "")
        assert refused.err.endswith(
            " requires a login that allows work. Add --login to log in, or --header 'Authorization: Bearer TOKEN'.\n"
        )
        done = await run("--login", terminal=(0, 2))
        assert (done.code, done.out) == (0, "cup\n\nprompts:\ntoast\n")
        assert f"pegboard: open this page to log in: {login.issuer}/authorize?" in done.err
        assert (await run()).out == done.out
        assert (await run("--no-browser")).err.startswith("pegboard: --no-browser has no effect without --login")
    assert len(login.pages) == 1
    (saved,) = bare.folder.glob(".local/state/pegboard/login-*.json")
    assert saved.stat().st_mode & 0o777 == 0o600
