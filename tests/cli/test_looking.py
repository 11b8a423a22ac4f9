"""`pegboard list`, `show`, `plugins` and `why`: what there is, and why."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.cli.conftest import Command
from tests.cli.demo_kit import EVIL

BROKEN = "raise OSError('no such disk')\n"
WRONG_TOOL = '''
from pegboard import Toolkit
kit = Toolkit("odd")

@kit.tool
def good() -> str:
    """Work."""
    return "good"

@kit.tool
def bad(a) -> str:
    """Lack a type."""
    return a
'''
PLUGIN = """
from pegboard.plugin import Plugin

class ThePlugin(Plugin):
    pass
"""
STEERING = set("\x1b\x07\u202e\u200b\U000e0041\x9b")
"""What no terminal may be sent."""


def rows(text: str) -> list[list[str]]:
    """A printed table: lines of cells with two blanks or more between them."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


# --- list


def test_tools_are_listed_with_their_first_line(pegboard: Command) -> None:
    done = pegboard("list")
    assert done.code == 0
    listed = {row[0]: row[1] for row in rows(done.out)}
    assert list(listed) == sorted(listed)
    assert listed["demo_echo"] == "Say it back."
    assert "With more" not in done.out
    assert "demo_write" not in listed
    assert "demo_write" in done.err


def test_tools_as_json(pegboard: Command) -> None:
    found = {tool["name"]: tool for tool in pegboard("list", "--json").data}
    assert found["demo_echo"] == {
        "name": "demo_echo",
        "toolkit": "demo",
        "description": "Say it back.\n\nWith more to read about it.",
    }


def test_without_tools_nothing_is_listed_and_the_way_on_is_said(bare: Command) -> None:
    done = bare("list")
    assert (done.code, done.out) == (0, "")
    assert "there are no tools; install a toolkit" in done.err
    assert bare("list", "--json").data == []


def test_only_lists_the_toolkits_asked_for(pegboard: Command) -> None:
    pegboard.install("other", WRONG_TOOL)
    assert {row[0] for row in rows(pegboard("list", "--only", "other").out)} == {"other_good"}
    assert "demo_echo" in pegboard("list", "--only", "other,demo").out


def test_a_description_cannot_steer_the_terminal(pegboard: Command) -> None:
    pegboard.install(
        "evil", f"from pegboard import Toolkit\nkit = Toolkit('evil')\nkit.tool(description={EVIL!r})(print)\n"
    )
    done = pegboard("list")
    assert "its description has U+001B" in done.err
    assert not set(done.out + done.err) & STEERING
    assert "é 日本\u3000語" in done.out


# --- show


def test_a_tool_is_shown_with_what_it_takes_and_gives(pegboard: Command) -> None:
    out = pegboard("show", "Demo.Add").out
    assert out.splitlines()[0] == "demo_add"
    assert "Add two numbers." in out
    assert rows(out)[4:8] == [
        ["a", "integer", "required"],
        ["b", "integer", "=1", "the second"],
        ["color", "red|green", "=red"],
        ["mode", "x|y", "=x"],
    ]
    assert "gives: integer" in out


def test_title_hints_and_secrets_are_shown(pegboard: Command) -> None:
    out = pegboard("show", "demo_echo").out
    assert out.splitlines()[0] == "demo_echo - Echo"
    assert "With more to read about it." in out
    assert "read_only: true, idempotent: true" in out
    assert "secrets: DEMO_KEY" in pegboard("show", "demo_secret").out
    guarded = pegboard("show", "demo_guarded").out
    assert "token of: github (repo, gist)" in guarded
    assert "scopes of the caller: work" in guarded
    assert pegboard("show", "demo_guarded", "--json").data["scopes"] == ["work"]
    assert "no parameters" in pegboard("show", "demo_nothing").out


def test_types_are_named_in_words(pegboard: Command) -> None:
    shown = {row[0]: row[1] for row in rows(pegboard("show", "demo_shape").out) if len(row) > 1}
    assert shown["value"] == "any"
    assert shown["items"] == "array of integer|null"


LIMITED = """
from typing import Annotated
from pydantic import Field
from pegboard import Toolkit
kit = Toolkit("limited")
@kit.tool
def work(
    many: Annotated[int, Field(ge=1, le=9), "how many"],
    part: Annotated[float, Field(gt=0, lt=1)],
    word: Annotated[str, Field(min_length=1, max_length=5, pattern="^a")],
    several: Annotated[list[Annotated[int, Field(multiple_of=5)]], Field(min_length=2)],
) -> None:
    "Work."
"""


def test_limits_are_told_as_errors_tell_them(pegboard: Command) -> None:
    pegboard.install("limited", LIMITED)
    out = pegboard("show", "limited_work").out
    assert [row[3] for row in rows(out) if len(row) == 4] == [
        "how many (at least 1, at most 9)",
        "more than 0, less than 1",
        "at least 1 character, at most 5 characters, matches ^a",
        "at least 2 items",
    ]


def test_what_is_not_served_is_said_after_what_is(pegboard: Command) -> None:
    pegboard.configure('disabled_tools = ["demo_echo"]')
    done = subprocess.run(
        pegboard.arguments("list", "--only", "demo"),
        cwd=pegboard.folder,
        env=pegboard.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    last = done.stdout.splitlines()[-1]
    assert last.startswith("pegboard: 2 more are not served, and `pegboard why NAME` tells why: demo_")


def test_scopes_of_the_settings_are_shown_with_a_tools_own(pegboard: Command) -> None:
    pegboard.configure("", '[plugins.scopes]\ntools = { "demo_g*" = ["staff"], demo_add = ["sums"] }\n')
    assert "scopes of the caller: staff, work\n" in pegboard("show", "demo_guarded").out
    assert "scopes of the caller: sums\n" in pegboard("show", "demo_add").out
    assert pegboard("show", "demo_guarded", "--json").data["scopes"] == ["staff", "work"]
    assert "scopes" not in pegboard("show", "demo_echo").out


def test_a_tool_as_json_is_whole(pegboard: Command) -> None:
    found = pegboard("show", "demo_add", "--json").data
    assert found["name"] == "demo_add"
    assert found["input_schema"]["required"] == ["a"]
    assert found["output_schema"] == {"type": "integer"}
    assert (found["requires_secrets"], found["scopes"]) == ([], [])
    assert pegboard("show", "demo_echo", "--json").data["annotations"] == {"read_only": True, "idempotent": True}


def test_what_else_is_said_of_a_tool_is_shown(pegboard: Command) -> None:
    pegboard.install(
        "old",
        "from pegboard import ToolAnnotations, Toolkit\nkit = Toolkit('old', version='2')\n"
        "hints = ToolAnnotations(open_world=False, extra={'com.example/teams': ['A', None]})\n"
        "@kit.tool(annotations=hints, deprecated='use new', version='v1.1')\n"
        "def work() -> str:\n    'Work.'\n    return 'x'\nkit.tool(name='plain')(work)\n",
    )
    out = pegboard("show", "old_work").out
    assert "\ndeprecated: use new\n\nWork.\n" in out
    assert 'open_world: false, com.example/teams: ["A",null]' in out
    found = pegboard("show", "old_work", "--json").data
    assert (found["version"], found["deprecated"]) == ("1.1.0", "use new")
    assert found["meta"] == {"pegboard/version": "1.1.0"}
    plain = pegboard("show", "old_plain", "--json").data
    assert (plain["version"], plain["deprecated"], plain["meta"]) == ("2.0.0", None, {})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("demo_ecko", "there is no tool 'demo_ecko'; did you mean 'demo_echo'?"),
        ("kit.py", "there is no tool 'kit.py'; a file of tools is named with --file kit.py"),
        ("quite_else", "there is no tool 'quite_else'; `pegboard list` shows what there is"),
        ("Demo::Write", "the tool demo_write is not served: switched off by the settings of demo"),
    ],
)
def test_a_tool_that_cannot_be_shown(name: str, told: str, pegboard: Command) -> None:
    done = pegboard("show", name)
    assert (done.code, done.out, done.err) == (1, "", f"pegboard: {told}\n")


def test_a_name_that_means_two_tools_is_asked_back(pegboard: Command) -> None:
    pegboard.install(
        "twin",
        "from pegboard import Toolkit\nkit = Toolkit('twin', prefix=False)\n"
        "def work() -> str:\n    'Work.'\n    return 'x'\n"
        "kit.tool(name='do_it')(work)\nkit.tool(name='doit')(work)\n",
    )
    done = pegboard("show", "DoIt")
    assert (done.code, done.out) == (1, "")
    assert done.err == "pegboard: 'DoIt' may be any of do_it, doit\n"
    assert pegboard("show", "doit").out.startswith("doit")


# --- plugins


def test_plugins_are_listed_with_their_state_and_the_reason(pegboard: Command) -> None:
    pegboard.install("acme", PLUGIN, group="pegboard.plugins", target="ThePlugin")
    pegboard.install("broken", BROKEN)
    pegboard.install("resting", WRONG_TOOL)
    pegboard.configure(off=["resting"])
    done = pegboard("plugins")
    assert done.code == 0
    found = {row[0]: row[1:] for row in rows(done.out)}
    assert found["demo"] == ["toolkit", "on", "demo-kit 4.5.6", "installed; secrets: DEMO_KEY, GITHUB_TOKEN"]
    assert found["broken"] == ["toolkit", "failed", "dist-broken 1.2.3", "installed"]
    assert found["resting"][:3] == ["toolkit", "off", "dist-resting 1.2.3"]
    assert "disabled by 'resting' in [host] disabled_toolkits (hostconfig.toml:2)" in found["resting"][3]
    assert found["acme"][:2] == ["plugin", "off"]
    assert "no section [plugins.acme]" in found["acme"][3]
    assert found["mcp"][:2] == ["plugin", "on"]
    assert "no such disk" in done.err


def test_plugins_as_json(pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    found = {one["name"]: one for one in pegboard("plugins", "--json").data}
    assert found["demo"]["state"] == "on"
    assert "demo_echo" in found["demo"]["tools"]
    assert found["demo"]["import_ms"] > 0
    assert found["broken"]["state"] == "failed"
    assert found["broken"]["import_ms"] is None
    (problem,) = found["broken"]["problems"]
    assert (problem["stage"], problem["level"]) == ("import", "error")
    assert re.fullmatch(r"OSError: no such disk \(/\S+/broken\.py:1\)", problem["message"])


# --- why


def test_why_a_toolkit_is_there(pegboard: Command) -> None:
    out = pegboard("why", "Demo").out
    assert "toolkit demo: on; installed" in out
    assert "from demo-kit 4.5.6, demo_kit:kit" in out
    assert "demo_echo" in out


def test_why_a_toolkit_is_not_there(pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    done = pegboard("why", "broken")
    assert done.code == 0
    assert "toolkit broken: failed; installed" in done.out
    assert re.search(r"problem, import: OSError: no such disk \(/\S+/broken\.py:\d+\)\n", done.out)


def test_why_a_plugin_does_not_run(pegboard: Command) -> None:
    pegboard.install("acme", PLUGIN, group="pegboard.plugins", target="ThePlugin")
    assert "plugin acme: off; no section [plugins.acme] and no list in [host] names it" in pegboard("why", "acme").out
    pegboard.configure(sections="[plugins.acme]")
    assert "plugin acme: on; named by [plugins.acme] (hostconfig.toml:4)" in pegboard("why", "acme").out


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("demo_echo", "tool demo_echo: served; it comes from demo"),
        ("Demo::Echo", "tool demo_echo: served; it comes from demo"),
        ("demo_write", "tool demo_write: not served; switched off by the settings of demo; it comes from demo"),
        ("Demo.Write", "tool demo_write: not served; switched off by the settings of demo; it comes from demo"),
    ],
)
def test_why_a_tool_is_there_or_not(name: str, story: str, pegboard: Command) -> None:
    done = pegboard("why", name)
    assert (done.code, done.out) == (0, f"{story}\n")


@pytest.mark.parametrize("name", ["odd_bad", "Odd::Bad", "bad"])
def test_why_a_tool_with_a_wrong_definition_is_not_there(name: str, pegboard: Command) -> None:
    pegboard.install("odd", WRONG_TOOL)
    done = pegboard("why", name)
    assert done.code == 0
    assert "parameter 'a' has no type annotation" in done.out


def test_why_a_disabled_tool_is_not_there(pegboard: Command) -> None:
    pegboard.configure('disabled_tools = ["Demo::E*"]')
    out = pegboard("why", "demo_echo").out
    assert "tool demo_echo: not served; disabled by" in out
    assert "disabled_tools" in out


def test_why_a_tool_of_a_toolkit_that_did_not_load_may_be_missing(pegboard: Command) -> None:
    pegboard.configure(off=["demo"])
    done = pegboard("why", "demo_echo")
    assert done.code == 0
    assert "toolkit demo: off; disabled by 'demo' in [host] disabled_toolkits" in done.out


def test_why_as_json(pegboard: Command) -> None:
    found = pegboard("why", "demo", "--json").data
    assert found["name"] == "demo"
    assert [plugin["name"] for plugin in found["plugins"]] == ["demo"]
    assert "toolkit demo: on" in found["story"][0]


def test_a_name_that_nothing_bears(pegboard: Command) -> None:
    done = pegboard("why", "dmeo")
    assert (done.code, done.out, done.err) == (
        1,
        "",
        "pegboard: nothing installed is called 'dmeo'; did you mean 'demo'?\n",
    )


# --- when something is broken


@pytest.mark.parametrize(
    "command", [("list",), ("show", "demo_echo"), ("call", "demo_echo", "text=x"), ("plugins",), ("why", "demo")]
)
def test_commands_work_though_a_plugin_is_broken(command: tuple[str, ...], pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    pegboard.install("leaving", "import sys\nsys.exit(7)\n")
    pegboard.install("noisy", "import os\nprint('noise')\nos.write(1, b'more noise')\nraise ValueError('\\x1b[31m')\n")
    done = pegboard(*command)
    assert done.code == 0
    assert done.out
    assert "noise" not in done.out
    assert "noise" in done.err
    assert "\x1b" not in done.err
    for name in ("broken", "leaving", "noisy"):
        assert f"toolkit '{name}' from dist-{name} 1.2.3" in done.err


@pytest.mark.parametrize("command", [("list",), ("show", "demo_echo"), ("plugins",), ("why", "demo")])
def test_one_can_look_though_the_host_would_not_start(command: tuple[str, ...], pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    pegboard.configure('required = ["broken"]')
    done = pegboard(*command)
    assert done.code == 0
    assert "the host does not start like this" in done.err
    assert pegboard("call", "demo_echo", "text=x").code == 3


@pytest.mark.parametrize("command", [("list",), ("call", "demo_echo", "text=x"), ("plugins",), ("stdio",), ("serve",)])
def test_a_wrong_configuration_ends_a_command_with_all_that_is_wrong(
    command: tuple[str, ...], pegboard: Command
) -> None:
    pegboard.configure('page_size = 0\nnmae = "x"')
    done = pegboard(*command)
    assert (done.code, done.out) == (3, "")
    lines = done.err.splitlines()
    assert any("hostconfig.toml:3: host.page_size" in line for line in lines)
    assert any('hostconfig.toml:4: host.nmae: unknown key; did you mean "name"?' in line for line in lines)
    assert all(line.startswith("pegboard: ") for line in lines)


def test_strict_makes_a_broken_plugin_fatal(pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    assert pegboard("call", "demo_echo", "text=x").code == 0
    assert pegboard("call", "demo_echo", "text=x", "--strict").code == 3


def test_safe_starts_without_what_others_brought(pegboard: Command) -> None:
    done = pegboard("plugins", "--safe", "--json")
    found = {one["name"]: one["state"] for one in done.data}
    assert found["demo"] == "off"
    assert found["mcp"] == "on"
