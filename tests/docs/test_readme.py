"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.pages import Page, pegboard, serving
from tests.plugins.auth.vault.test_commands import pegboard as run_pegboard
from tests.support.login_server import LoginServer
from tests.support.person import Person

README = Page("README.md")
MAX_LINES = 120


def test_the_first_commands_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "words.py").write_text(README.files["words.py"])
    (tmp_path / ".cursor").mkdir()
    commands = re.findall(r"^\| `pegboard (.*?)` \|", README, re.M)
    assert commands
    for command in commands:
        done = pegboard(*shlex.split(command), cwd=tmp_path)
        assert (done.code, bool(done.out or done.err)) == (0, True), done.err


def test_the_server_of_the_file_is_at_the_address(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(README.files["words.py"])
    command, address = re.findall(
        r"`pegboard serve (\S+)` serves the same tool at <http://127.0.0.1:8000(\S+)>", README
    )[0]
    with serving(tmp_path, command) as origin:
        called = pegboard("call", "--url", f"{origin}{address}", "words_count", "text=to be", cwd=tmp_path)
    assert called.out == "2\n", called.err


def test_the_settings_enable_plugins_and_disable_tools(tmp_path: Path) -> None:
    README.write(tmp_path)
    for name in ("timing", "rate_limit"):
        assert f"plugin {name}: on" in pegboard("why", name, "--config", "hostconfig.toml", cwd=tmp_path).out
    listed = pegboard("list", "--config", "hostconfig.toml", cwd=tmp_path)
    assert "files_read" in listed.out
    assert not re.search("files_search|math_square_root|math_convert", listed.out)
    assert "matches nothing" not in listed.err


@pytest.mark.needs("upstreams", "vault", "edit_config")
async def test_the_counted_commands_lead_to_a_call_of_a_server_that_requires_a_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "PEGBOARD_STATE_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    (text,) = re.findall(r"four commands lead to the first call: (.*?)\. The login outlasts restarts\.", README.words)
    commands = re.findall("`pegboard (.*?)`", text)
    assert len(commands) == 4
    outputs = []
    async with LoginServer() as server, Person() as person:
        changes = {"https://mcp.notion.com/mcp": server.url, "notion_search query=cups": "notion_cup"}
        for command in (*commands, commands[-1]):
            for shown, own in changes.items():
                command = command.replace(shown, own)
            browser = person if "login" in command else None
            code, out, errors = await run_pegboard(None, *shlex.split(command), person=browser)
            assert code == 0, errors
            outputs.append(out)
        assert (outputs[-2:], len(server.pages)) == (["full\n", "full\n"], 1)


def test_the_imports_exist_and_the_number_of_examples_is_the_measured_one() -> None:
    imports = re.findall(r"\| `from (pegboard_plugins\S+) import (.*?)` \|", README)
    assert imports
    for module, names in imports:
        assert all(hasattr(import_module(module), name) for name in names.split(", "))
    counted = re.findall(r"Of (\d+) examples of these frameworks, (\d+) run the same", README.words)
    assert counted == re.findall(r"(\d+) run by themselves .*? (\d+) of them", Page("docs/migration.md").words)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= MAX_LINES
