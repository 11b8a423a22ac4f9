"""The commands of docs/arcade-toolkits.md lead to an answer, with a toolkit in place of that on the package index."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import tomli

from tests.docs.pages import Page, pegboard
from tests.support.distributions import make_distribution
from tools.arcade_toolkits.environments import OVERRIDES

PAGE = Page("docs/arcade-toolkits.md")
TOOLKIT = '''
from typing import Annotated
from arcade_tdk import tool

@tool
def add(a: Annotated[str, "a number"], b: Annotated[str, "another"]) -> Annotated[str, "the sum"]:
    """Add numbers."""
    return str(int(a) + int(b))
'''


def commands(block: str) -> list[str]:
    return PAGE.blocks[f"sh {block}"].splitlines()


def test_the_first_commands_lead_to_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path / "state"))
    site, folder = tmp_path / "site", tmp_path / "here"
    site.mkdir()
    folder.mkdir()
    install, *others = commands("first")
    name = install.removeprefix("pip install ")
    metadata = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: arcade-tdk\n"
    make_distribution(site, name, "1", {}, {"arcade_math/tools.py": TOOLKIT}, metadata=metadata)
    monkeypatch.setenv("PEGBOARD__HOST__DISABLED_TOOLKITS", '["toolkit-math:math"]')  # of this project, with its name
    ran = [
        pegboard(*shlex.split(command)[1:], cwd=folder, path=site)
        for command in (*others, *commands("lock"), others[-1])
    ]
    assert [done.code for done in ran] == [0] * 5, ran
    assert (ran[1].out, ran[-1].out) == (PAGE.blocks["text"], PAGE.blocks["text"])


def test_the_numbers_of_commands_are_those_of_the_blocks() -> None:
    count = {"Three": 3, "three": 3, "five": 5}
    [first] = re.findall(r"(\w+) commands lead to the first answer", PAGE.words)
    [of_readme] = re.findall(
        r"from `pip install arcade-math` to an answer it takes (\w+) commands", Page("README.md").words
    )
    [github] = re.findall(r"`arcade-github` needs (\w+) commands", PAGE.words)
    [github_of_readme] = re.findall(r"from `pip install arcade-github` (\w+)\.", Page("README.md").words)
    assert count[first] == count[of_readme] == len(commands("first"))
    assert count[github] == count[github_of_readme] == len(commands("github"))


def test_the_overrides_are_those_of_the_comparison() -> None:
    lines = [line for line in OVERRIDES.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert PAGE.files["overrides.txt"].splitlines() == lines
    assert "--override overrides.txt" in PAGE.blocks["sh uv"]


@pytest.mark.parametrize("block", ["toml names", "toml mount"])
def test_the_settings_are_valid(tmp_path: Path, block: str) -> None:
    tomli.loads(PAGE.blocks[block])
    (tmp_path / "hostconfig.toml").write_text(PAGE.blocks[block])
    checked = pegboard("config", "check", "--config", "hostconfig.toml", cwd=tmp_path)
    assert "unknown" not in checked.err
