"""The programs of docs/client.md and docs/client-login.md do what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

import pegboard_client as client
from pegboard_client import Client
from pegboard_client.server_connection import RequestOptions
from tests.docs.pages import Page
from tests.support.login_server import Browser, LoginServer

PAGE, LOGIN = Page("docs/client.md"), Page("docs/client-login.md")
SHOWN = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.mark.parametrize(("program", "printed"), list(zip(("buy.py", "order.py"), SHOWN, strict=True)))
def test_its_programs_print_the_shown_lines(program: str, printed: str, tmp_path: Path) -> None:
    command = [sys.executable, program]
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=PAGE.write(tmp_path), env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


def test_the_page_names_the_whole_public_api() -> None:
    words = {word for span in re.findall(r"`[^`\n]+`|import [\w, ]+", PAGE) for word in re.findall(r"\w+", span)}
    methods = {name for name in dir(Client) if not name.startswith("_")}
    homes = {name: getattr(getattr(client, name), "__module__", ".oauth.") for name in client.__all__}
    names = {name for name, home in homes.items() if ".oauth." not in home}  # another page
    assert (names | methods | set(RequestOptions.__annotations__)) - words == set()


async def test_a_person_logs_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(webbrowser, "open", browser := Browser())
    async with LoginServer() as server:
        await LOGIN.module("login.py", "login").main(server.url)
    assert capsys.readouterr().out == "['cup']\n"
    assert len(browser.opened) == 1
