"""The check of `pegboard doctor` for the files of clients."""

from __future__ import annotations

import json

from tests.support.command_line import Command


def test_a_client_with_a_missing_command_is_found(pegboard: Command) -> None:
    entry = {"mcpServers": {"mine": {"command": "/none/pegboard", "args": ["stdio"]}, "other": {"command": "/none/x"}}}
    pegboard.write(json.dumps(entry), ".mcp.json")
    done = pegboard("doctor", "--json")
    (finding,) = [finding for finding in done.data["findings"] if finding["check"] == "clients"]
    assert done.code == 3
    assert finding["message"].startswith(
        "Claude Code starts the server 'mine' with /none/pegboard, which does not exist"
    )
    assert finding["fix"] == "write the entry again: pegboard configure claude-code --name mine"
