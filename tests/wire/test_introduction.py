"""What a server says of itself, with the members of each revision: pictures once, not with every result."""

from __future__ import annotations

import pytest

from tests.support.peer import META
from tests.support.schemas import MODERN, REVISIONS
from tests.support.wire import Wire

CONFIG = """
[host]
name = "n"
version = "1"
title = "N"
description = "Tools for a test."
website_url = "https://example.invalid/"
icons = [
    "https://example.invalid/i.png",
    { src = "data:image/png;base64,AA==", mime_type = "image/png", sizes = ["48x48"], theme = "dark" },
]
"""
ICONS = [
    {"src": "https://example.invalid/i.png"},
    {"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"},
]
SAID = {"name": "n", "version": "1"}
SINCE_2025_06_18 = {**SAID, "title": "N"}
SINCE_2025_11_25 = {**SINCE_2025_06_18, "description": "Tools for a test.", "websiteUrl": "https://example.invalid/"}
KNOWN = {
    "2024-11-05": SAID,
    "2025-03-26": SAID,
    "2025-06-18": SINCE_2025_06_18,
    "2025-11-25": {**SINCE_2025_11_25, "icons": ICONS},
    "2026-07-28": {**SINCE_2025_11_25, "icons": ICONS},
}


@pytest.mark.requirement("ERA-05", "MSG-24")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_server_says_of_itself_what_the_revision_knows(revision: str) -> None:
    async with Wire(config=CONFIG) as wire:
        if revision not in MODERN:
            assert (await wire.initialize(revision))["serverInfo"] == KNOWN[revision]
            return
        wire.modern = True
        assert (await wire.result("server/discover"))["_meta"][f"{META}serverInfo"] == KNOWN[revision]
        said = (await wire.result("tools/list"))["_meta"][f"{META}serverInfo"]
        assert said == {**SINCE_2025_06_18, "websiteUrl": "https://example.invalid/"}
