"""docs/clients.md has a section for each client, and `pegboard doctor` checks the files of clients."""

from __future__ import annotations

import json
import re

from pegboard_plugins.authoring.configure.clients import CLIENTS
from tests.docs.pages import Page
from tests.support.command_line import Command

PAGE = Page("docs/clients.md")


def test_each_client_has_a_section_with_its_command_file_and_source() -> None:
    sections = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", PAGE, re.M | re.S))
    for client in CLIENTS.values():
        section = sections[client.title]
        assert f"`pegboard configure {client.name}`" in section
        assert f"[Source]({client.source})" in section
        assert client.project_file in section
        assert client.servers in ("mcpServers", "mcp_servers") or f"`{client.servers}`" in section
        assert client.url in ("", "url") or f"`{client.url}`" in section
    assert list(sections) == [client.title for client in CLIENTS.values()]


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
