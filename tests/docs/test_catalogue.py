"""The examples of docs/catalogue.md do what the page says."""

from __future__ import annotations

import tomllib
from typing import Any

from pegboard.testing import connect
from tests.docs.pages import Page

PAGE = Page("docs/catalogue.md")
KIT = PAGE.module("catalogue_shop.py").kit


def settings(block: str) -> dict[str, Any]:
    return tomllib.loads(PAGE.blocks[f"toml {block}"])


def test_clients_see_tags_and_settings_filter_by_them() -> None:
    with connect(KIT, hostconfig=settings("tags")) as client:
        (found,) = client.tools()
        assert (found["name"], found["_meta"]) == ("shop_find", {"pegboard/tags": ["catalogue"]})
        (hours,) = client.resources()
        assert (hours["uri"], hours["_meta"]) == ("shop://hours", {"pegboard/tags": ["visits"]})
