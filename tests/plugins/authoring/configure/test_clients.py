"""docs/clients.md has a section for each client, with the documentation of its format."""

from __future__ import annotations

import re

from pegboard_plugins.authoring.configure.clients import CLIENTS
from tests.docs.pages import Page

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
