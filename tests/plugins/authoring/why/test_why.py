"""`pegboard why`."""

from __future__ import annotations

import re

import pytest

from tests.support.command_line import BROKEN, PLUGIN, WRONG_TOOL, Command

SOURCE = """
from pegboard import Toolkit
from pegboard.plugin import FoundToolkit, Plugin, hookimpl

class ThePlugin(Plugin):
    @hookimpl
    def register_toolkits(self):
        return [FoundToolkit("answers", "answers.json", lambda: Toolkit("answers"))]
"""


def test_why_names_the_plugin_that_brings_a_toolkit(bare: Command) -> None:
    bare.install("acme", SOURCE, group="pegboard.plugins", target="ThePlugin")
    bare.configure(sections="[plugins.acme]")
    assert "\n  from the plugin acme, answers.json\n" in bare("why", "answers").out


@pytest.mark.needs("auth")
@pytest.mark.parametrize(
    ("name", "host", "story"),
    [
        ("Demo", "", r"toolkit demo: on; installed.*\n  from demo-kit 4\.5\.6, demo_kit:kit\n  tools: .*demo_echo"),
        ("broken", "", r"toolkit broken: failed; installed[^$]*problem, import: OSError: no such disk \(/\S+:1\)\n"),
        ("acme", "", r"plugin acme: on; named by \[plugins\.acme\] \(hostconfig\.toml:4\)"),
        ("scopes", "", r"middleware scopes, \d of \d, outermost first: (check|on_)"),
        ("Demo.Write", "", "tool demo_write: not served; switched off by the settings of demo; it comes from demo\n"),
        ("demo_echo", 'disabled_tools = ["Demo::E*"]', "tool demo_echo: not served; disabled by .*disabled_tools"),
        (
            "demo_echo",
            "autoload = false",
            r"^toolkit demo: off; .*\n  from .*\n  its tools are unknown because it did not load\n$",
        ),
    ],
)
def test_why_tells_the_reason(name: str, host: str, story: str, pegboard: Command) -> None:
    pegboard.install("broken", BROKEN)
    pegboard.install("odd", WRONG_TOOL)
    pegboard.install("acme", PLUGIN, group="pegboard.plugins", target="ThePlugin")
    pegboard.configure(host, "[plugins.acme]\n[plugins.scopes]")
    done = pegboard("why", name)
    assert (done.code, bool(re.search(story, done.out))) == (0, True), done.out


@pytest.mark.needs("auth")
def test_problems_of_other_tools_are_not_printed(pegboard: Command) -> None:
    pegboard.install("odd", WRONG_TOOL)
    printed = {name: "has no type annotation" in pegboard("why", name).err for name in ("odd_bad", "demo_echo")}
    assert printed == {"odd_bad": True, "demo_echo": False}


GUARDED = """
from pegboard import Toolkit
kit = Toolkit("acme")

@kit.tool(scopes=["work"])
def work() -> str:
    'Work.'
    return "done"
"""


@pytest.mark.needs("auth_token", "scopes")
def test_why_tells_who_can_call_a_tool(pegboard: Command) -> None:
    pegboard.install("acme", GUARDED)
    story = "tool acme_work: served; it comes from acme\n  scopes of the caller: more, work\n"
    scopes = '[plugins.scopes.tools]\nacme_work = "more"\n'
    pegboard.configure(sections=scopes)
    reason = "as it requires scopes, and no plugin authenticates callers"
    assert pegboard("why", "acme_work").out == f"{story}  operator only, {reason}\n"
    pegboard.configure(sections=f"{scopes}[plugins.auth_token]\ntoken = '0123456789abcdef-0123456789abcdef'\n")
    assert pegboard("why", "acme_work").out == story


CANNED = """
from pegboard.plugin import Plugin, ToolDefinition, hookimpl
from pegboard.types import ToolkitInfo

def greet() -> str:
    'Greet.'
    return "hello"

class ThePlugin(Plugin):
    @hookimpl
    def register_tools(self):
        return [ToolDefinition(greet, name=name, toolkit=ToolkitInfo("canned")) for name in ("greet", "part")]
"""


def test_why_knows_a_toolkit_that_definitions_name(bare: Command) -> None:
    bare.install("acme", CANNED, group="pegboard.plugins", target="ThePlugin")
    bare.configure('disabled_tools = ["canned_part"]', "[plugins.acme]")
    part = "canned_part of acme: not served; disabled by 'canned_part' in [host] disabled_tools (hostconfig.toml:3)"
    assert bare("why", "canned").out == f"toolkit canned: tools of plugins\n  canned_greet of acme\n  {part}\n"
    advice = "(--only does not select tools that plugins add); omit --only to see those of mounted servers"
    assert advice in bare("list", "--only", "canned").err
