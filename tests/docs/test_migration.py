"""The server on the migration page runs."""

from __future__ import annotations

from pegboard.testing import connect
from tests.docs.pages import Page


def test_the_server_on_the_page_runs() -> None:
    with connect(Page("docs/migration.md").module("server.py").mcp) as client:
        assert client.call("forecast", {"city": "Oslo", "days": 2}).text == '["Oslo: sunny","Oslo: sunny"]'
        assert client.read("weather://Oslo").text == "Oslo: sunny"
        assert client.logs[0].data == "looking up Oslo"
