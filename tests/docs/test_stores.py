"""What docs/stores.md shows works: the sessions of its example survive a server, and its settings select stores."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from pegboard.plugin import Plugin
from tests.docs.pages import Page
from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, message
from tools.install import ROOT

PAGE = Page("docs/stores.md")
EXAMPLE = ROOT / "docs" / "examples" / "plugins" / "session_store.py"
CONFIG, ENTRY_POINT = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (name, target) = re.findall(r'^(\w+) = "(.+)"$', ENTRY_POINT, re.M)[0]
    files = {**PAGE.files, "sqlite_sessions.py": EXAMPLE.read_text("utf-8")}
    make_distribution(tmp_path, "example", "1", {"pegboard.plugins": {name: target}}, files)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_its_plugin_is_a_plugin() -> None:
    assert issubclass(import_module("greetings").GreetingsPlugin, Plugin)


async def test_its_sessions_outlive_the_server(folder: Path) -> None:
    config = http_config(more=CONFIG.replace("/var/lib/pegboard", str(folder)))
    async with Served(folder, config) as first:
        session = Session(first)
        await session.open()
        first.process.terminate()
        assert await first.wait() == 0
    async with Served(folder, config) as second:
        session.served = second
        assert (await session.post(message("ping"))).result == {}
