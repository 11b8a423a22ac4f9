"""`pegboard list` and `show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Command, rows
from tests.support.demo_kit import EVIL

BROKEN = "raise OSError('no such disk')\n"
CONTROL_CHARACTERS = set("\x1b\x07\u202e\u200b\U000e0041\x9b")


def test_tools_are_listed_with_their_first_line(pegboard: Command) -> None:
    done = pegboard("list")
    listed = {row[0]: row[1] for row in rows(done.out)}
    assert (done.code, list(listed), listed["demo_echo"]) == (0, sorted(listed), "Say it back.")
    assert "demo_write" not in listed
    assert "demo_write" in done.err
    by_name = {tool["name"]: tool for tool in pegboard("list", "--json").data}
    description = "Say it back.\n\nWith more to read about it."
    about = {"name": "demo_echo", "toolkit": "demo", "description": description, "tags": [], "needs": []}
    assert by_name["demo_echo"] == about
    pegboard.configure('disabled_tools = ["demo_echo"]')
    last = pegboard("list", "--only", "demo", merged=True).out.splitlines()[-1]
    assert last.startswith("pegboard: 2 more are not served (`pegboard why NAME` explains it): demo_")
    pegboard.configure(off=["demo"])
    done = pegboard("list")
    assert (done.code, done.out, "there are no tools: install a toolkit" in done.err) == (0, "", True)
    assert "there are no tools" not in pegboard("list", "--only", "absent").err


def test_a_description_cannot_control_the_terminal(pegboard: Command) -> None:
    text = f"from pegboard import Toolkit\nkit = Toolkit('evil')\nkit.tool(description={EVIL!r})(print)\n"
    pegboard.install("evil", text)
    done = pegboard("list")
    assert "its description has U+001B" in done.err
    assert not set(done.out + done.err) & CONTROL_CHARACTERS
    assert "é 日本\u3000語" in done.out


@pytest.mark.needs("doctor", "why")
def test_tools_that_need_what_is_not_set_are_marked(pegboard: Command) -> None:
    env = {"DEMO_KEY": None}
    listed = {row[0]: row[1] for row in rows(pegboard("list", env=env).out)}
    assert (listed["demo_secret"], listed["demo_echo"]) == ("needs DEMO_KEY", "Say it back.")
    needs = {tool["name"]: tool["needs"] for tool in pegboard("list", "--json", env=env).data}
    assert needs["demo_secret"] == ["DEMO_KEY"]
    shown = pegboard("show", "demo_secret", env=env).out
    assert "needs DEMO_KEY: not set, so clients over stdio are not offered this tool" in shown
    assert pegboard("show", "demo_secret", "--json", env=env).data["needs"] == ["DEMO_KEY"]
    assert "needs DEMO_KEY" in next(row for row in rows(pegboard("plugins", env=env).out) if row[0] == "demo")[-1]
    assert "it needs DEMO_KEY" in pegboard("why", "demo_secret", env=env).out
    assert "1 tool needs DEMO_KEY and is not offered" in pegboard("doctor", env=env).out
    assert "needs" not in pegboard("list").out


def test_a_tool_is_shown_with_its_parameters_and_requirements(pegboard: Command) -> None:
    add = pegboard("show", "Demo.Add").out
    assert add.startswith("demo_add\n\nAdd two numbers.\n")
    assert rows(add)[4:10] == [
        ["a", "integer", "required"],
        ["b", "integer", "=1", "the second"],
        [],
        ["or nothing (at least 0)"],
        ["color", "red|green", "=red"],
        ["mode", "x|y", "=x"],
    ]
    assert "returns: integer" in add
    shown = pegboard("show", "demo_add", "--json").data
    assert (shown["name"], shown["input_schema"]["required"]) == ("demo_add", ["a"])
    assert (shown["output_schema"], shown["requires_secrets"], shown["scopes"]) == ({"type": "integer"}, [], [])
    echo = pegboard("show", "demo_echo").out
    assert echo.startswith("demo_echo - Echo\n")
    assert "read_only: true, idempotent: true" in echo
    assert "secrets: DEMO_KEY" in pegboard("show", "demo_secret").out


def test_models_are_shown_by_their_names_and_defaults_as_callers_write_them(pegboard: Command, tmp_path: Path) -> None:
    file = tmp_path / "shapes.py"
    file.write_text(
        "from pydantic import BaseModel, Field\nfrom pegboard import Toolkit\nkit = Toolkit('shapes')\n"
        "class Point(BaseModel):\n    x: int = Field(description='to the right')\n    up: 'Point | None' = None\n"
        "@kit.tool\ndef move(a: Point, b: list[Point], c: dict[str, int], on: bool = True, to: str | None = None, "
        "note: str = '') -> Point:\n    'Move it.'\n    return a\n"
    )
    shown = pegboard("show", "shapes_move", "--file", str(file)).out
    assert [row[1] for row in rows(shown)[4:9]] == ["Point", "integer", "Point|null", "array of Point", "object"]
    assert [row[2] for row in rows(shown)[9:12]] == ["=true", "=null", '=""']
    first, second = (line for line in shown.splitlines() if line.startswith("    "))
    assert (first.split(), second.split()) == (
        ["x", "integer", "required", "to", "the", "right"],
        ["up", "Point|null", "=null"],
    )
    assert "returns: Point" in shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("demo_ecko", "there is no tool 'demo_ecko'; did you mean 'demo_echo'?"),
        ("z", "there is no tool 'z'; `pegboard list` shows all tools, and --file FILE adds those of a file"),
    ],
)
def test_a_tool_that_cannot_be_shown(name: str, message: str, pegboard: Command) -> None:
    assert pegboard("show", name) == (1, "", f"pegboard: {message}\n")


@pytest.mark.needs("why")
@pytest.mark.parametrize("line", ["list", "call demo_echo text=x", "why demo"])
def test_commands_work_although_a_plugin_is_broken(line: str, pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    pegboard.install("leaving", "import sys\nsys.exit(7)\n")
    pegboard.install("noisy", "import os\nprint('noise')\nos.write(1, b'more noise')\nraise ValueError('\\x1b[31m')\n")
    done = pegboard(*line.split())
    assert (done.code, bool(done.out), "noise" in done.out, "noise" in done.err) == (0, True, False, True)
    assert "\x1b" not in done.err
    for name in ("broken", "leaving", "noisy"):
        assert f"toolkit '{name}' from dist-{name} 1.2.3" in done.err
    assert pegboard(*line.split(), "--json", "-vv").data is not None
    pegboard.configure('required = ["broken"]')
    fatal = pegboard(*line.split())
    if line.startswith("call"):
        assert fatal.code == pegboard(*line.split(), "--strict").code == 3
    else:
        code = 0 if line.startswith("why") else 1
        assert (fatal.code, "the host cannot start with these problems" in fatal.err) == (code, True)


@pytest.mark.needs("cost")
@pytest.mark.parametrize("line", ["list", "show demo_echo", "cost"])
def test_a_wrong_section_is_named_and_the_rest_is_shown(line: str, pegboard: Command) -> None:
    pegboard.install("other", "from pegboard import Toolkit\nkit = Toolkit('other')\n")
    right = pegboard(*line.split())
    pegboard.configure("", "[toolkits.other]\nwrong = 1\n[plugins.http]\nprot = 1\n")
    for options in ([], ["--json"]):
        done = pegboard(*line.split(), *options)
        assert done.code == 1
        for key in ("toolkits.other.wrong: takes no settings", 'plugins.http.prot: unknown key; did you mean "port"?'):
            assert key in done.err
        assert done.out == right.out or done.data
