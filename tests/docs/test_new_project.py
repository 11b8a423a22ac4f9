"""Every command of the page works, in order, as a reader types it in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard_plugins.authoring.new.kinds import PLUGINS
from tests.docs.pages import Page
from tests.support.environments import built_wheels, make_environment
from tests.support.walkthrough import Walk, blocks

PAGE = Page("docs/new-project.md")
MAX_COMMANDS = 9


@pytest.mark.timeout(300)
def test_every_step_does_what_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    (tmp_path / ".cursor").mkdir()  # the reader uses Cursor
    make_environment(folder / ".venv", "pegboard", "pip", "pytest", "hatchling", wheels=built_wheels(), compiled=False)
    with Walk(folder, PAGE.blocks["sh install"]) as walk:
        walk.run(PAGE)


def test_the_first_section_has_few_commands() -> None:
    section = PAGE.partition("## From")[2].partition("\n## ")[0]
    commands = [line for block in blocks(section) if block.kind == "sh" for line in block.text.splitlines()]
    assert len(commands) == MAX_COMMANDS


def test_the_table_lists_every_kind_of_plugin() -> None:
    table = PAGE.partition("| `--kind` |")[2].partition("\n\n")[0]
    assert table.splitlines()[2:] == [f"| `{name}` | {kind.summary} |" for name, kind in PLUGINS.items()]
