"""Servers of a single file: `pegboard stdio FILE`, `pegboard serve FILE`, `Toolkit.run` and `--file`."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Command, rows
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

'''
ALONE = DEMO.replace("from neighbour import TIMES", "TIMES = 1")
RUN = '\nif __name__ == "__main__":\n    kit.run({arguments})\n'


@pytest.fixture
def demo(bare: Command) -> Path:
    """A file with a toolkit, beside the module that it imports."""
    bare.write("TIMES = 1\n", "neighbour.py")
    return bare.write(DEMO, "demo.py")


@pytest.mark.parametrize("runs_itself", [False, True])
async def test_a_file_is_served_over_stdio(bare: Command, demo: Path, *, runs_itself: bool) -> None:
    if runs_itself:
        bare.write(DEMO.replace('print("printed while it is loaded")', "") + RUN.format(arguments=""), "demo.py")
    command = [sys.executable, str(demo)] if runs_itself else bare.arguments("stdio", str(demo))
    async with Wire(command, cwd=bare.folder) as wire:
        opened = await wire.initialize()
        assert opened["serverInfo"] == {
            "name": "demo", "title": "A demo", "version": "3.2.1", "description": "Adds.",
        }  # fmt: skip
        assert (await wire.call("demo_add", a=2))["content"][0]["text"] == "3"
    assert wire.exit_code == 0
    assert ("printed while it is loaded" in wire.stderr) is not runs_itself


@pytest.mark.parametrize("runs_itself", [False, True])
async def test_a_file_is_served_over_http(bare: Command, demo: Path, *, runs_itself: bool) -> None:
    bare.write(DEMO + RUN.format(arguments='"http", port=0'), "demo.py")
    command = [sys.executable, str(demo)] if runs_itself else bare.arguments("serve", str(demo))
    async with Served(bare.site, "[plugins.http]\nport = 0\n", cwd=bare.folder, command=command) as served:
        session = Session(served)
        await session.open()
        done = await session.post(call("demo_add", {"a": 2}))
        assert done.last["result"]["content"][0]["text"] == "3"
        served.signal(signal.SIGTERM)
        assert await served.wait() == 0
    assert "demo 3.2.1 serves 1 tool (demo)" in served.stderr


@pytest.mark.needs("tool_commands", "why")
def test_commands_work_on_a_file(bare: Command, demo: Path) -> None:
    assert rows(bare("list", "--file", str(demo)).out) == [["demo_add", "Add two numbers."]]
    assert bare("call", "demo_add", "a:=4", "--file", "demo.py").out == "5\n"
    assert "toolkit demo: on; named with its file" in bare("why", "demo", "--file", "demo.py").out
    (hint,) = re.findall(r"`pegboard (.*)`", bare("call", "--file", "demo.py", "demo_add", "c=1").err)
    assert bare(*hint.split()).out.startswith("demo_add\n")
    bare.write(ALONE, "json.py")
    assert bare("call", "demo_add", "a:=1", "--file", "json.py", "--json").data == {"result": 2}, "a module's name"


@pytest.mark.needs("tool_commands")
async def test_a_folder_or_a_package_is_served_alone(pegboard: Command) -> None:
    pegboard.write("raise SystemExit('this file was run')\n", "setup.py")
    pegboard.write(ALONE.replace('"demo",', '"mine",'), "mine.py")

    async def names(*arguments: str) -> set[str]:
        command = pegboard.arguments("stdio", *arguments)
        async with Wire(command, cwd=pegboard.folder, site=pegboard.site) as wire:
            await wire.initialize()
            return {tool["name"] for tool in (await wire.result("tools/list"))["tools"]}

    assert rows(pegboard("list", "--file", ".").out) == [["mine_add", "Add two numbers."]]
    assert await names(".") == {"mine_add"}
    pegboard.configure("autoload = false")
    assert await names() == set()
    assert "demo_add" in await names("--tool-package", "demo_kit")


@pytest.mark.needs("tool_commands")
def test_installed_toolkits_are_off_beside_a_file_unless_named(pegboard: Command) -> None:
    pegboard.write(ALONE.replace('"demo",', '"mine",'), "mine.py")

    def owners(*arguments: str) -> set[str]:
        return {tool["toolkit"] for tool in pegboard("list", "--json", "--file", "mine.py", *arguments).data}

    assert owners() == {"mine"}
    assert owners("--only", "demo") == {"mine", "demo"}
    pegboard.configure(sections="[toolkits.demo]")
    assert owners() == {"mine", "demo"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import pegboard\n", 'has no toolkit at its top level: add kit = Toolkit("demo")'),
        ("\n\nimport absent_thing\n", "ModuleNotFoundError: No module named 'absent_thing' (demo.py:3)\n"),
        pytest.param(
            "from arcade_tdk.errors import ToolExecutionError\n",
            "(demo.py:1); if the file is a server of arcade_tdk, import from pegboard_plugins.compat.arcade instead\n",
            marks=pytest.mark.needs("compat"),
        ),
        pytest.param(
            "class MCPServer:\n    __module__ = 'mcp.server'\n    def run(self): ...\nserver = MCPServer()\n",
            "; it has a server of mcp: import MCPServer from pegboard_plugins.compat.mcp instead\n",
            marks=pytest.mark.needs("compat"),
        ),
        (DEMO + "kit.run()\n", 'demo.py calls run() on import: move the call below `if __name__ == "__main__":`'),
    ],
)
def test_an_invalid_file_is_told_with_its_line(bare: Command, demo: Path, text: str, message: str) -> None:
    bare.write(text, "demo.py")
    done = bare("stdio", "demo.py")
    assert (done.code, done.out, "Traceback" in done.err) == (3, "", False)
    assert message.format(file=demo) in done.err


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("line", "code"), [("list", 1), ("show no_bad", 1), ("call no_bad", 3), ("stdio", 3), ("serve", 3)]
)
def test_a_file_without_a_valid_tool_fails(line: str, code: int, bare: Command) -> None:
    tool = "@kit.tool\ndef good() -> str:\n    'Work.'\n    return 'x'\n"
    valid = f"from pegboard import Toolkit\nkit = Toolkit('yes')\n{tool}"
    bare.write(valid, "yes.py")
    invalid = valid.replace("yes", "no").replace("good()", "bad(a)")
    bare.write(invalid, "no.py")
    done = bare(*line.split(), "--file", "no.py", "--file", "yes.py")
    assert (done.code, "parameter 'a' has no type annotation" in done.err) == (code, True), done.err
    bare.write(invalid + tool, "no.py")
    assert bare("list", "--file", "no.py").code == 0, "it has a valid tool, too"


def test_files_that_cannot_be_served_are_told(bare: Command) -> None:
    assert bare("serve", "gone.py").err == "pegboard: there is no file gone.py: correct the path\n"
    bare.write("notes", "notes.txt")
    assert "notes.txt is not a Python file: its name must end with .py" in bare("serve", "notes.txt").err
