"""The tutorial works: every step of it, in order, in one folder, as somebody who copies it would do it.

Nothing is fetched: what the steps install is in the environment already, and pip is kept from asking an index.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import Page
from tests.support.environments import built_wheels, make_environment
from tests.support.walkthrough import Walk, WalkError, blocks, fits

PAGE = Page("docs/tutorial.md")
INSTALL = """\
mkdir reading-list
cd reading-list
python3 -m venv .venv
. .venv/bin/activate
pip install -q ../pegboard
"""
NEEDED = ("pegboard", "pip", "pytest", "pytest-asyncio", "hatchling")

pytestmark = pytest.mark.timeout(300)


def test_every_step_does_what_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "reading-list"
    make_environment(folder / ".venv", *NEEDED, wheels=built_wheels(), compiled=False)
    with Walk(folder, INSTALL) as walk:
        walk.run(PAGE)
    assert len(list(blocks(PAGE))) > 40


def test_pip_is_asked_for_nothing_else() -> None:
    installed = re.findall(r"^pip install -q (.*)$", PAGE, re.M)
    names = {name for line in installed for name in line.split() if "/" not in name}
    assert names <= set(NEEDED)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("```sh\necho a\n```\n\n```text\nb\n```\n", "prints\na"),
        ("```sh\nfalse\ntrue\n```\n", "exit 1"),
        ("```yaml\na: b\n```\n", "a block yaml"),
    ],
)
def test_a_step_that_does_something_else_is_found(wrong: str, why: str, tmp_path: Path) -> None:
    with Walk(tmp_path, INSTALL) as walk, pytest.raises(WalkError) as raised:
        walk.run(wrong)
    assert why in str(raised.value)
    assert [fits("a ... c\n...\nz", "a b c\nd\ne\nz\n"), fits("a ... c", "a b d"), fits("a.", "ab")] == [
        True,
        False,
        False,
    ]
