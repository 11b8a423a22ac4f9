"""The example of docs/client-login.md logs in, and the page names the public API."""

from __future__ import annotations

import re
import webbrowser

import pytest

import pegboard_client as client
from tests.docs.pages import Page
from tests.support.login_server import Browser, LoginServer

PAGE = Page("docs/client-login.md")


async def test_a_person_logs_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(webbrowser, "open", browser := Browser())
    async with LoginServer() as server:
        await PAGE.module("login.py", "login").main(server.url)
    assert capsys.readouterr().out == "['cup']\n"
    assert len(browser.opened) == 1


def test_the_page_names_the_whole_public_api() -> None:
    names = {name for name in client.__all__ if ".oauth." in getattr(getattr(client, name), "__module__", "")}
    assert names - set(re.findall(r"\w+", PAGE)) == set()
