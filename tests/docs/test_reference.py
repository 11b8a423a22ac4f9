"""The reference pages say what the code says."""

from __future__ import annotations

import pytest

from tools.reference import DOCS, PAGES, TEMPLATES, templates


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_code_s(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run `python -m tools.reference`"


def test_the_templates_are_the_examples() -> None:
    copies = {name: (TEMPLATES / name).read_text("utf-8") for name in templates()}
    assert copies == templates(), "run `python -m tools.reference`"


def test_every_key_has_a_meaning() -> None:
    rows = [row for row in PAGES["configuration.md"]().splitlines() if row.startswith("| `")]
    assert len(rows) > 20
    assert all(row.split("|")[3].strip() for row in rows)
