"""Servers of a single file: `pegboard stdio FILE`, `pegboard serve FILE`, `Toolkit.run`, and looking at such a file."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard import Toolkit
from tests.cli.conftest import Command
from tests.cli.test_looking import rows
from tests.support.http import Served
from tests.support.http_mcp import Session, call
from tests.support.wire import Wire

DEMO = '''
from typing import Annotated

from neighbour import TIMES
from pegboard import Toolkit

print("printed while it is loaded")
kit = Toolkit("demo", title="A demo", version="3.2.1", description="Adds.")


@kit.tool
def add(a: Annotated[int, "the first"], b: int = 1) -> int:
    """Add two numbers."""
    return (a + b) * TIMES


@kit.resource("demo://readme")
def readme() -> str:
    """Read me."""
    return "read"


@kit.prompt
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"
'''
RUN = """
if __name__ == "__main__":
    kit.run({arguments})
"""


@pytest.fixture
def demo(bare: Command) -> Path:
    """A file with a toolkit, beside the module that it imports."""
    (bare.folder / "neighbour.py").write_text("TIMES = 1\n", "utf-8")
    return write(bare.folder / "demo.py", DEMO)


def write(file: Path, text: str) -> Path:
    """A file with that text."""
    file.write_text(text, "utf-8")
    return file


async def everything(wire: Wire) -> tuple[Any, ...]:
    """What the client of the file's server gets: who it is, and what each of its three kinds gives."""
    opened = await wire.initialize()
    called = await wire.request("tools/call", {"name": "demo_add", "arguments": {"a": 2}})
    read = await wire.request("resources/read", {"uri": "demo://readme"})
    got = await wire.request("prompts/get", {"name": "demo_greet", "arguments": {"name": "Ada"}})
    return (
        opened["serverInfo"],
        called["result"]["content"][0]["text"],
        read["result"]["contents"][0]["text"],
        got["result"]["messages"][0]["content"]["text"],
    )


SERVED = ({"name": "demo", "title": "A demo", "version": "3.2.1", "description": "Adds."}, "3", "read")


@pytest.mark.asyncio
@pytest.mark.parametrize("runs_itself", [False, True])
async def test_over_stdio(bare: Command, demo: Path, *, runs_itself: bool) -> None:
    write(demo, DEMO.replace('print("printed while it is loaded")', "") + RUN.format(arguments=""))
    command = [sys.executable, str(demo)] if runs_itself else bare.arguments("stdio", str(demo))
    async with Wire(command, cwd=bare.folder) as wire:
        assert (await everything(wire))[:3] == SERVED
    assert wire.exit_code == 0


@pytest.mark.asyncio
async def test_what_a_file_prints_does_not_reach_the_client(bare: Command, demo: Path) -> None:
    async with Wire(bare.arguments("stdio", str(demo)), cwd=bare.folder) as wire:
        assert (await everything(wire))[3] == "Hello Ada"
    assert "printed while it is loaded" in wire.stderr


@pytest.mark.asyncio
@pytest.mark.parametrize("runs_itself", [False, True])
async def test_over_http(bare: Command, demo: Path, *, runs_itself: bool) -> None:
    write(demo, DEMO + RUN.format(arguments='"http", port=0'))
    command = [sys.executable, str(demo)] if runs_itself else bare.arguments("serve", str(demo))
    async with Served(bare.site, "[plugins.http]\nport = 0\n", cwd=bare.folder, command=command) as served:
        session = Session(served)
        await session.open()
        done = await session.post(call("demo_add", {"a": 2}))
        assert done.last["result"]["content"][0]["text"] == "3"
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
    assert "demo 3.2.1 serves 1 tool (demo)" in served.stderr


def test_a_file_can_be_looked_at_and_its_tools_be_called(bare: Command, demo: Path) -> None:
    assert rows(bare("list", "--file", str(demo)).out) == [["demo_add", "Add two numbers."]]
    assert bare("call", "demo_add", "a:=4", "--file", "demo.py").out == "5\n"
    story = bare("why", "demo", "--file", "demo.py").out
    assert "toolkit demo: on; named with its file" in story
    assert "Toolkit('demo')" in story


def test_installed_toolkits_are_off_beside_a_file_until_somebody_names_them(pegboard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(DEMO.replace("from neighbour import TIMES", "TIMES = 2").replace('"demo",', '"mine",'), "utf-8")

    def owners(*arguments: str) -> set[str]:
        return {tool["toolkit"] for tool in pegboard("list", "--json", "--file", str(file), *arguments).data}

    assert owners() == {"mine"}
    assert "a file is served alone" in pegboard("why", "demo", "--file", str(file)).out
    assert owners("--only", "demo") == {"mine", "demo"}
    pegboard.configure(sections="[toolkits.demo]")
    assert owners() == {"mine", "demo"}


def test_several_files_are_one_server(bare: Command, demo: Path) -> None:
    other = bare.folder / "other.py"
    other.write_text(DEMO.replace('"demo",', '"other",'), "utf-8")
    listed = bare("list", "--file", str(demo), "--file", str(other))
    assert {row[0] for row in rows(listed.out)} == {"demo_add", "other_add"}
    other.write_text(DEMO, "utf-8")
    twice = bare("list", "--file", str(demo), "--file", str(other))
    assert (twice.code, "there are two toolkits of the name 'demo'" in twice.err) == (3, True)


def test_without_a_toolkit_single_tools_are_one(bare: Command) -> None:
    write(
        bare.folder / "sums.py",
        "from pegboard import tool\n@tool\ndef add(a: int) -> int:\n    'Add.'\n    return a + 1\nplus = add\n",
    )
    assert rows(bare("list", "--file", "sums.py").out) == [["sums_add", "Add."]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import pegboard\n", 'has no toolkit at its top level; write one: kit = Toolkit("demo")'),
        ("\n\nimport absent_thing\n", "ModuleNotFoundError: No module named 'absent_thing' ({file}:3)"),
        ("raise SystemExit(7)\n", "SystemExit: 7 ({file}:1)"),
        ("def (\n", "SyntaxError: invalid syntax (demo.py, line 1)"),
        (DEMO + "kit.run()\n", 'run() is called while demo.py is loaded; put it below `if __name__ == "__main__":`'),
    ],
)
def test_a_file_that_cannot_serve_says_why_and_where(bare: Command, demo: Path, text: str, told: str) -> None:
    demo.write_text(text, "utf-8")
    done = bare("stdio", "demo.py")
    assert (done.code, done.out) == (3, "")
    assert told.format(file=demo) in done.err
    assert "Traceback" not in done.err


def test_a_file_that_is_none(bare: Command) -> None:
    assert bare("serve", "gone.py").err == "pegboard: there is no file gone.py\n"
    (bare.folder / "notes.txt").write_text("notes", "utf-8")
    assert "notes.txt is no Python file; its name must end with .py" in bare("serve", "notes.txt").err


def test_a_file_may_bear_the_name_of_a_module(bare: Command) -> None:
    file = bare.folder / "sub" / "json.py"
    file.parent.mkdir()
    file.write_text(DEMO.replace("from neighbour import TIMES", "TIMES = 1"), "utf-8")
    assert bare("call", "demo_add", "a:=1", "--file", str(file), "--json").data == {"result": 2}


def test_settings_of_run_are_checked(bare: Command, demo: Path) -> None:
    demo.write_text(DEMO + RUN.format(arguments='"http", prt=1'), "utf-8")
    done = subprocess.run(
        [sys.executable, demo], cwd=bare.folder, env=bare.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert 'given by the program: plugins.http.prt: unknown key; did you mean "port"?' in done.stderr


@pytest.mark.asyncio
async def test_run_within_a_loop_says_what_serves_there() -> None:
    with pytest.raises(RuntimeError, match=r"where one runs already, use pegboard\.Host"):
        Toolkit("demo").run()


def test_what_to_look_at_after_a_wrong_call_is_a_command_that_works(bare: Command, demo: Path) -> None:
    (hint,) = re.findall(r"`pegboard (.*)`", bare("call", "--file", "demo.py", "demo_add", "c=1").err)
    assert bare(*hint.split()).out.startswith("demo_add\n")


def test_a_file_without_tools_that_can_be_served_is_not_advised_to_install_some(bare: Command) -> None:
    write(bare.folder / "odd.py", "from pegboard import Toolkit\nkit = Toolkit('odd')\nkit.tool(lambda a: a)\n")
    first, *_, last = bare("list", "--file", "odd.py").err.splitlines()
    assert first.startswith("pegboard: error: toolkit 'odd', assemble: ")
    assert last == "pegboard: there are no tools"
