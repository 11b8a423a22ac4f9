"""The servers on the migration page run."""

from __future__ import annotations

import re

import pytest

from pegboard import Toolkit
from pegboard_testing import connect
from tests.docs.pages import Page

PAGE = Page("docs/migration.md")


def test_the_server_on_the_page_runs() -> None:
    with connect(PAGE.module("server.py").mcp) as client:
        assert client.call("forecast", {"city": "Oslo", "days": 2}).text == '["Oslo: sunny","Oslo: sunny"]'
        assert client.read("weather://Oslo").text == "Oslo: sunny"
        assert client.logs[0].data == "looking up Oslo"


def test_the_app_on_the_page_runs() -> None:
    with connect(PAGE.module("shed.py").app) as client:
        assert client.call("ToolShed_Double", {"a": 2}).structured == {"double": 4}


def test_the_options_of_other_frameworks_name_what_the_page_names() -> None:
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", PAGE.partition("| option | use |")[2], re.M)
    assert len(rows) == 7
    for options, used in rows:
        for option in re.findall("`(.+?)`", options):
            with pytest.raises(TypeError) as raised:
                Toolkit("x").tool(**{option: None})  # type: ignore[call-overload]
            assert [name for name in re.findall("`.+?`", used) if name not in str(raised.value)] == []
