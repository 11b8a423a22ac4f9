"""`pegboard` without a command, and `pegboard plugins`."""

from __future__ import annotations

import re

from tests.support.command_line import BROKEN, PLUGIN, WRONG_TOOL, Command, rows


def test_the_status_shows_what_is_enabled_from_where_and_the_next_command(pegboard: Command) -> None:
    pegboard.configure('plugins = ["timing"]', '[plugins.http]\n[toolkits.demo]\nword = "moin"')
    done = pegboard()
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].endswith(f", {pegboard.folder / 'hostconfig.toml'}")
    named = [line for line in lines if line.startswith("  plugin ")]
    assert named == ["  plugin http (hostconfig.toml:4)", "  plugin timing (hostconfig.toml:3)"]
    (demo,) = [line for line in lines if line.startswith("  toolkit demo: ")]
    assert demo.endswith(" tokens (hostconfig.toml:5)")
    assert lines[-2].startswith("next: `pegboard configure CLIENT` ")
    assert "`pegboard list` lists the tools" in lines[-1]
    state = pegboard("--json").data
    assert f"{state['tools']} tools, about {state['tokens']} tokens" in lines[1]
    assert (state["problems"], state["next"]) == ([], "pegboard configure CLIENT")


def test_one_tool_is_counted_as_one(bare: Command) -> None:
    kit = "from pegboard import Toolkit\nkit = Toolkit('one')\n@kit.tool\ndef a() -> str:\n    'A.'\n    return 'a'\n"
    bare.install("one", kit)
    counted = [line.partition(",")[0] for line in bare().out.splitlines() if " tool, " in line]
    assert counted == ["1 tool", "  toolkit one: 1 tool"]
    assert bare("config", "check").out.endswith("; 1 tool\n")


def test_the_status_wraps_the_list_of_plugins_at_the_width_of_the_terminal(pegboard: Command) -> None:
    narrow, wide = (pegboard(env={"COLUMNS": columns}).out for columns in ("60", "90"))
    lines = [
        line
        for line in narrow.partition("next:")[0].splitlines()
        if line.startswith(("  plugins by default: ", "    "))
    ]
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert narrow.split() == wide.split()


def test_the_status_of_a_broken_or_empty_host_names_the_next_command(bare: Command) -> None:
    assert "next: `pegboard new server notes`" in bare().out
    bare.write("[host")
    assert "problem: hostconfig.toml:1:" in bare().out
    bare.configure("nmae = 1")
    done = bare()
    assert done.code == 0
    assert "problem: hostconfig.toml:3: host.nmae: " in done.out
    assert "next: `pegboard doctor`" in done.out


def test_plugins_are_listed_with_their_state_and_the_reason(pegboard: Command) -> None:
    pegboard.install("acme", PLUGIN, group="pegboard.plugins", target="ThePlugin")
    pegboard.install("broken", BROKEN)
    pegboard.install("resting", WRONG_TOOL)
    pegboard.configure(off=["resting"])
    done = pegboard("plugins")
    by_name = {row[0]: row[1:] for row in rows(done.out)}
    assert by_name["demo"] == ["toolkit", "on", "demo-kit 4.5.6", "installed; secrets: DEMO_KEY"]
    assert by_name["broken"] == ["toolkit", "failed", "dist-broken 1.2.3", "installed"]
    assert by_name["resting"][:3] == ["toolkit", "off", "dist-resting 1.2.3"]
    assert "disabled by 'resting' in [host] disabled_toolkits (hostconfig.toml:2)" in by_name["resting"][3]
    assert (by_name["acme"][:2], "no section [plugins.acme]" in by_name["acme"][3]) == (["plugin", "off"], True)
    assert (done.code, "no such disk" in done.err) == (0, True)
    details = {row["name"]: row for row in pegboard("plugins", "--json").data}
    assert (details["demo"]["state"], "demo_echo" in details["demo"]["tools"]) == ("on", True)
    assert details["demo"]["import_ms"] > 0
    (problem,) = details["broken"]["problems"]
    assert (problem["stage"], problem["level"]) == ("import", "error")
    assert re.fullmatch(r"OSError: no such disk \(/\S+/broken\.py:1\)", problem["message"])
    safe = {row["name"]: row["state"] for row in pegboard("plugins", "--safe", "--json").data}
    assert (safe["demo"], safe["mcp"]) == ("off", "on")
