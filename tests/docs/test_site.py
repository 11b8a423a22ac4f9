"""The site has every page, and its builder finds no broken link and no page that it cannot read."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Page, pegboard
from tools.install import ROOT
from tools.screenshots import IMAGES, SOURCES, image
from tools.site.pages import navigation

INDEX = Page("docs/README.md")


def test_the_index_links_to_every_page() -> None:
    linked = {f"{page}.md" for pages in navigation(INDEX).values() for page in pages}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - linked == {"README.md"}


def test_the_builder_finds_no_broken_link(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "tools/site", "-b", "dummy"]
    done = subprocess.run([*command, ".", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_commands_succeed(tmp_path: Path) -> None:
    for line in INDEX.blocks["sh commands"].splitlines():
        done = pegboard(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
        assert done.code == 0, done.err


@pytest.mark.parametrize("name", SOURCES)
def test_an_image_shows_the_output_of_its_command(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text("utf-8") == image(SOURCES[name]()), "run `python -m tools.screenshots`"
