"""The reference pages say what the code says."""

from __future__ import annotations

import re

import pytest

from pegboard.cli import CANNOT_OPEN, CANNOT_START, FAILED, INTERRUPTED, OK, USAGE
from pegboard.loading.plugin_facts import own_facts
from tools.install import ROOT
from tools.reference import DOCS, PAGES, TEMPLATES, templates


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_code_s(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run `python -m tools.reference`"


def test_the_templates_are_the_examples() -> None:
    copies = {name: (TEMPLATES / name).read_text("utf-8") for name in templates()}
    assert copies == templates(), "run `python -m tools.reference`"


def test_every_key_has_a_meaning() -> None:
    rows = [row for row in PAGES["configuration.md"]().splitlines() if row.startswith("- `")]
    assert len(rows) > 20
    assert all(row.partition(": ")[2] for row in rows)


def test_every_exit_code_and_every_variable_that_the_code_reads_has_a_meaning() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGES["command-line.md"](), re.M)}
    assert codes == {CANNOT_OPEN, CANNOT_START, FAILED, INTERRUPTED, OK, USAGE}
    sources = [path.read_text("utf-8") for folder in ("host", "plugins") for path in (ROOT / folder).rglob("*.py")]
    read = set(re.findall(r"""environ(?:\.get\(|\[|\.pop\(|, )"(\w+)\"""", "".join(sources)))
    names = {*read, *(name for facts in own_facts().values() for name in facts.environment)}
    assert {"XDG_STATE_HOME", "ARCADE_WORKER_SECRET"} <= names
    assert names <= set(re.findall(r"^- `(\w+)`", PAGES["environment.md"](), re.M))
