"""Every command of the README, the tutorial and the page about new projects works, in order, as a reader types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard_plugins.authoring.new.kinds import PLUGINS
from tests.docs.pages import Page
from tests.support.environments import built_wheels, make_environment
from tests.support.walkthrough import Walk, blocks

README, NEW, TUTORIAL = Page("README.md"), Page("docs/new-project.md"), Page("docs/tutorial.md")
INSTALL = """\
mkdir reading-list
cd reading-list
python3 -m venv .venv
. .venv/bin/activate
pip install -q '../pegboard[reload]'
"""
MAX_COMMANDS = 9


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("page", "folder", "install", "packages"),
    [
        (README, "words", README.blocks["sh install"], "pegboard"),
        (NEW, "projects", NEW.blocks["sh install"], "pegboard pip pytest hatchling"),
        (TUTORIAL, "reading-list", INSTALL, "pegboard[reload] pip pytest pytest-asyncio hatchling"),
    ],
    ids=["README", "new project", "tutorial"],
)
def test_every_step_does_what_is_shown(page: Page, folder: str, install: str, packages: str, tmp_path: Path) -> None:
    """The packages are in the environment already. The reader uses Cursor."""
    (tmp_path / ".cursor").mkdir()
    make_environment(tmp_path / folder / ".venv", *packages.split(), wheels=built_wheels(), compiled=False)
    with Walk(tmp_path / folder, install) as walk:
        walk.run(page)


def test_the_tutorial_has_many_steps() -> None:
    assert len(list(blocks(TUTORIAL))) > 40


def test_the_first_section_has_few_commands() -> None:
    section = NEW.partition("## From")[2].partition("\n## ")[0]
    commands = [line for block in blocks(section) if block.kind == "sh" for line in block.text.splitlines()]
    assert len(commands) == MAX_COMMANDS


def test_the_table_lists_every_kind_of_plugin() -> None:
    table = NEW.partition("| `--kind` |")[2].partition("\n\n")[0]
    assert table.splitlines()[2:] == [f"| `{name}` | {kind.summary} |" for name, kind in PLUGINS.items()]
