"""`pegboard plugins`."""

from __future__ import annotations

import re

from tests.support.command_line import BROKEN, PLUGIN, WRONG_TOOL, Command, rows


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
