"""Every step of the tutorial works, in order, in one folder. The packages to install are in the environment already."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Page
from tests.support.environments import built_wheels, make_environment
from tests.support.walkthrough import Walk, blocks

PAGE = Page("docs/tutorial.md")
INSTALL = """\
mkdir reading-list
cd reading-list
python3 -m venv .venv
. .venv/bin/activate
pip install -q '../pegboard[reload]'
"""
NEEDED = ("pegboard[reload]", "pip", "pytest", "pytest-asyncio", "hatchling")

pytestmark = pytest.mark.timeout(300)


def test_every_step_does_what_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "reading-list"
    make_environment(folder / ".venv", *NEEDED, wheels=built_wheels(), compiled=False)
    with Walk(folder, INSTALL) as walk:
        walk.run(PAGE)
    assert len(list(blocks(PAGE))) > 40
