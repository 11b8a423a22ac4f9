"""The programs of docs/client.md print the shown lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pegboard_client as client
from pegboard_client import Client
from pegboard_client.server_connection import RequestOptions
from tests.docs.pages import Page

PAGE = Page("docs/client.md")
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
