"""Entry points are the same with and without `importlib_metadata`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import importlib_metadata
import pytest

from pegboard.loading.discovery import find_plugins
from pegboard.loading.metadata_folders import UnusualMetadataError, metadata_folders
from pegboard.plugin.origin import EntryPoint, Origin
from tests.support.distributions import make_distribution

LINES = """
# a comment
[console_scripts]
acme = acme.cli:main [color]
[pegboard.toolkits]
acme=acme.kit:kit
second = acme.kit : Kits.second [color]
"""


class Finder:
    """A finder of further distributions."""

    def find_spec(self, *_: object) -> None:
        """Find no module."""

    def find_distributions(self, context: importlib_metadata.DistributionFinder.Context) -> list[object]:
        return []


def archive(site: Path) -> None:
    """Put a distribution in an archive on the module path."""
    make_distribution(site / "inner", "zipped", "2", {"pegboard.toolkits": {"zipped": "zipped:kit"}}, {})
    sys.path.append(shutil.make_archive(str(site / "archive"), "zip", site / "inner"))


def second(site: Path) -> None:
    """Install an older version in a later folder."""
    make_distribution(site / "later", "Acme.Tools", "0", {"pegboard.toolkits": {"acme": "old:kit"}}, {})
    sys.path.append(str(site / "later"))


def leftover(site: Path) -> None:
    """Leave the rest of an uninstallation."""
    (site / "~cme_tools-0.dist-info").mkdir()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    info = make_distribution(tmp_path, "Acme.Tools", "1.5", {}, {})
    (info / "entry_points.txt").write_text(LINES, "utf-8")
    (tmp_path / "notes-info").mkdir()
    import_module("zipp.compat.overlay")  # importlib_metadata imports it later
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path), str(tmp_path / "absent")])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    return tmp_path


def found() -> list[tuple[str, ...]]:
    return [(one.name, one.target, one.distribution, one.version) for one in find_plugins().origins]


ACME = [
    ("acme", "acme.kit:kit", "Acme.Tools", "1.5"),
    ("second", "acme.kit : Kits.second [color]", "Acme.Tools", "1.5"),
]


def test_entry_points_are_read_from_folders(site: Path) -> None:
    (folder,) = metadata_folders().values()
    (distribution,) = importlib_metadata.distributions(name="acme-tools", path=[str(site)])
    theirs = [(one.name, one.value, one.group) for one in distribution.entry_points]
    assert [tuple(one) for one in folder.entry_points()] == theirs
    assert found() == ACME


@pytest.mark.parametrize(
    ("unusual", "more"),
    [(archive, [("zipped", "zipped:kit", "zipped", "2")]), (second, []), (leftover, []),
     (lambda _: sys.meta_path.append(Finder()), [])],
    ids=["archive", "second", "leftover", "finder"],
)  # fmt: skip
def test_unusual_distributions_are_read_with_importlib_metadata(
    site: Path, unusual: Callable[[Path], None], more: list[tuple[str, ...]]
) -> None:
    unusual(site)
    with pytest.raises((UnusualMetadataError, NotADirectoryError)):
        metadata_folders()
    assert found() == [*ACME, *more]


@pytest.mark.parametrize("value", ["os.path:join", "pathlib : Path.cwd [x]", "os.path"])
def test_an_entry_point_is_loaded_as_by_importlib_metadata(value: str) -> None:
    theirs = importlib_metadata.EntryPoint("one", value, "group")
    ours = EntryPoint("one", value, "group")
    assert (ours.load(), ours.module) == (theirs.load(), theirs.module)


def test_an_invalid_entry_point_is_explained() -> None:
    entry = EntryPoint("one", "my-module:kit", "pegboard.toolkits")
    with pytest.raises(Exception, match="its entry point 'my-module:kit' is not of the form `module:attribute`"):
        Origin("toolkit", "one", entry.value, "acme", "1", entry).load()
