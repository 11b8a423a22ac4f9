"""Entry points of distributions, wherever they are on the module path."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.loading.discovery import find_plugins
from tests.support.distributions import make_distribution

LINES = """
# a comment
[console_scripts]
acme = acme.cli:main [color]
[pegboard.toolkits]
acme=acme.kit:kit
invalid = my-module:kit
second = pathlib : Path.cwd [color]
"""


def archive(site: Path) -> None:
    """Put a distribution in an archive on the module path."""
    make_distribution(site / "inner", "zipped", "2", {"pegboard.toolkits": {"zipped": "zipped:kit"}}, {})
    sys.path.append(shutil.make_archive(str(site / "archive"), "zip", site / "inner"))


def second(site: Path) -> None:
    """Install an older version in a later folder."""
    make_distribution(site / "later", "Acme.Tools", "0", {"pegboard.toolkits": {"acme": "old:kit"}}, {})
    sys.path.append(str(site / "later"))


def link(site: Path) -> None:
    """Name the folder a second time."""
    (site / "link").symlink_to(site)
    sys.path.append(str(site / "link"))


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    info = make_distribution(tmp_path, "Acme.Tools", "1.5", {}, {})
    (info / "entry_points.txt").write_text(LINES, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path), str(tmp_path / "absent")])
    return tmp_path


ACME = [
    ("acme", "acme.kit:kit", "Acme.Tools", "1.5", "acme.kit"),
    ("invalid", "my-module:kit", "Acme.Tools", "1.5", "my-module"),
    ("second", "pathlib : Path.cwd [color]", "Acme.Tools", "1.5", "pathlib"),
]


@pytest.mark.parametrize(
    ("more", "expected"),
    [(archive, [("zipped", "zipped:kit", "zipped", "2", "zipped")]), (second, []), (link, [])],
)
def test_each_distribution_is_found_once(
    site: Path, more: Callable[[Path], None], expected: list[tuple[str, ...]]
) -> None:
    more(site)
    origins = find_plugins().origins
    assert [(*origin[1:5], origin.module) for origin in origins] == [*ACME, *expected]


def test_an_entry_point_is_loaded_or_explained() -> None:
    _, invalid, valid = find_plugins().origins
    assert valid.load() == Path.cwd
    with pytest.raises(Exception, match="its entry point 'my-module:kit' is not of the form `module:attribute`"):
        invalid.load()
