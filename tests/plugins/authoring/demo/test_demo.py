"""`pegboard demo` needs no file, shows the messages of a real server, and its code is a server that works."""

from __future__ import annotations

import json

from tests.support.command_line import Command


def test_the_demo_calls_every_tool_and_shows_the_next_steps(bare: Command) -> None:
    done = bare("demo")
    assert (done.code, done.err) == (0, "")
    for line in (
        '--> tools/call {"name": "shop_price", "arguments": {"product": "tea", "amount": 3}}',
        "<-- result 12",
        "<-- error \"product: must be 'honey' or 'tea'\"",
        '<-- notifications/progress {"progress": 2, "total": 2, "message": "parcel 2 is packed"}',
        '<-- elicitation/create "A name for the parcel?"',
        '<-- result "honey for Ada"',
        '<-- error "It failed unexpectedly."',
        "ConnectionError: cannot connect to",
        "pegboard new toolkit weather",
    ):
        assert line in done.out, line
    assert not [line for line in done.out.splitlines() if "<--" in line and "postgres" in line]
    assert sorted(path.name for path in bare.folder.iterdir() if path.is_file()) == ["hostconfig.toml"]


def test_its_messages_are_those_of_the_protocol_and_its_steps_work(bare: Command) -> None:
    shown = [
        line.split(" ", 3)[3] for line in bare("demo", "-v").out.splitlines() if line.startswith(("  -->", "  <--"))
    ]
    assert {json.loads(message)["jsonrpc"] for message in shown} == {"2.0"}
    recorded = bare("demo", "--json").data
    assert [message["message"]["jsonrpc"] for message in recorded["messages"]] == ["2.0"] * len(shown)
    assert recorded["messages"][0]["sender"] == "client"
    assert "ConnectionError" in recorded["log"][0]
    bare.write(bare("demo", "--code").out, "shop.py")
    configured = bare("configure", "claude-code", "shop.py")
    assert (configured.code, "it serves 4 tools (shop_order" in configured.out) == (0, True)
    assert bare("new", "toolkit", "weather").code == 0
