"""The pages for users of other frameworks: their servers run, and pegboard has what their tables name."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pegboard import Context, Toolkit
from pegboard.loading.discovery import find_plugins
from pegboard_testing import connect
from tests.docs.pages import Page, pegboard
from tools.foreign_servers.rewrite import changed

PAGE = Page("docs/fastmcp.md")
PLACES = " ".join(row.split(" | ")[1] for row in re.findall(r"^\| `?\w.*$", PAGE, re.M))
MAX_WORDS = 700


def observed(kit: Toolkit) -> Any:
    with connect(kit, answers=["kelvin"]) as client:
        answer = client.call("forecast", city="Oslo").text
        return client.definitions(), answer, [log.data for log in client.logs]


def test_the_servers_before_and_after_are_the_same() -> None:
    before = ModuleType("before")
    exec(changed(PAGE.blocks["python fastmcp"]), vars(before))
    assert observed(before.mcp) == observed(PAGE.module("weather.py").kit)


def test_the_plugins_and_attributes_in_the_table_exist() -> None:
    plugins = set(re.findall(r"\[plugins\.(\w+)", PLACES))
    assert len(plugins) > 8
    assert plugins - {origin.name for origin in find_plugins().origins} == set()
    owners = {"context": Context, "kit": Toolkit}
    attributes = re.findall(r"`@?(context|kit)\.(\w+)", PLACES)
    assert [name for owner, name in attributes if not hasattr(owners[owner], name)] == []


@pytest.mark.parametrize("command", sorted({*re.findall(r"`pegboard (\w+)", PLACES)}))
def test_a_command_in_the_table_exists(command: str, tmp_path: Path) -> None:
    assert pegboard(command, "--help", cwd=tmp_path).code == 0


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) <= MAX_WORDS


MIGRATION = Page("docs/migration.md")


def test_the_server_on_the_page_runs() -> None:
    with connect(MIGRATION.module("server.py").mcp) as client:
        assert client.call("forecast", {"city": "Oslo", "days": 2}).text == '["Oslo: sunny","Oslo: sunny"]'
        assert client.read("weather://Oslo").text == "Oslo: sunny"
        assert client.logs[0].data == "looking up Oslo"


def test_the_app_on_the_page_runs() -> None:
    with connect(MIGRATION.module("shed.py").app) as client:
        assert client.call("ToolShed_Double", {"a": 2}).structured == {"double": 4}


def test_the_options_of_other_frameworks_name_what_the_page_names() -> None:
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", MIGRATION.partition("| option | use |")[2], re.M)
    assert len(rows) == 7
    for options, used in rows:
        for option in re.findall("`(.+?)`", options):
            with pytest.raises(TypeError) as raised:
                Toolkit("x").tool(**{option: None})  # type: ignore[call-overload]
            assert [name for name in re.findall("`.+?`", used) if name not in str(raised.value)] == []
