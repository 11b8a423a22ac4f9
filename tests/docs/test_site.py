"""The site has every page, and its builder finds no broken link and no page that it cannot read."""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import pickle
import re
import shlex
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from sphinx import addnodes

from tests.docs.pages import Page, pegboard
from tools.install import ROOT
from tools.screenshots import IMAGES, SOURCES, image
from tools.site.pages import llms_txt, navigation, summary
from tools.site.reference import PYTHON_INVENTORY, entries, entry_of, has_entry, own_types

INDEX = Page("docs/README.md")


def attributes(full_name: str) -> Iterator[str]:
    """Yield the full names of the public attributes of a class."""
    value = entries()[full_name]
    if inspect.isclass(value):
        for base in (base for base in value.__mro__ if base is value or not has_entry(base)):
            members = {
                name
                for name, member in vars(base).items()
                if inspect.isfunction(member) or isinstance(member, property)
            }
            yield from (f"{full_name}.{name}" for name in {*own_types(base), *members} if not name.startswith("_"))


def test_the_index_links_to_every_page() -> None:
    linked = {f"{page}.md" for pages in navigation(INDEX).values() for page in pages}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - linked == {"README.md"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all pages without output, and return the folder of their trees."""
    trees = tmp_path_factory.mktemp("site") / "trees"
    options = ["-q", "-W", "--keep-going", "-c", "tools/site", "-b", "dummy", "-d", str(trees), ".", str(trees.parent)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return trees


@pytest.mark.timeout(900)  # the first of these tests builds all pages
def test_the_builder_finds_no_broken_link(pages: Path) -> None:
    assert (pages / "README.doctree").is_file()


@pytest.mark.timeout(900)
def test_each_public_name_and_each_of_its_attributes_has_an_entry_with_its_type(pages: Path) -> None:
    without_type = set()
    documented = set()
    for path in [pages / "docs" / "contracts.doctree", *pages.glob("docs/reference/*.doctree")]:
        for signature in pickle.loads(path.read_bytes()).findall(addnodes.desc_signature):
            documented.update(signature["ids"])
            typed = any(part.astext().strip()[0] in ":=" for part in signature.findall(addnodes.desc_annotation))
            if signature.parent["objtype"] in ("attribute", "data", "property") and not typed:
                without_type.update(signature["ids"])
    assert (set(entries()) | {full for name in entries() for full in attributes(name)}) - documented == set()
    assert without_type == set()


@pytest.mark.timeout(900)
def test_types_of_python_are_links_to_its_documentation(pages: Path) -> None:
    inventory = {line.split()[0] for line in PYTHON_INVENTORY.read_text("utf-8").splitlines()}
    named: set[str] = set()
    for path in [pages / "docs" / "contracts.doctree", *pages.glob("docs/reference/*.doctree")]:
        links = pickle.loads(path.read_bytes()).findall(addnodes.pending_xref)
        named.update(link["reftarget"] for link in links if link["refdomain"] == "py")
    public = {*dir(builtins), *collections.abc.__all__, *typing.__all__}
    of_python = {name for name in named if name in public or name.partition(".")[0] in sys.stdlib_module_names}
    assert {name for name in of_python if entry_of(name) is None} - inventory == set()


@pytest.mark.timeout(900)
def test_the_search_shows_a_summary_of_each_page(pages: Path) -> None:
    trees = [pickle.loads(path.read_bytes()) for path in pages.glob("docs/*.doctree")]
    assert [tree["source"] for tree in trees if not summary(tree)] == []


def test_a_line_break_in_the_text_of_a_picture_joins_no_words() -> None:
    """The builder leaves out line breaks there."""
    texts = [
        text for path in ROOT.glob("docs/**/*.md") for text in re.findall(r"!\[([^]]+)\]", path.read_text("utf-8"))
    ]
    assert [text for text in texts if "\n" in text] == []


def test_the_search_scores_only_the_changelog_otherwise_than_sphinx() -> None:
    own = (ROOT / "tools" / "site" / "scorer.js").read_text("utf-8")
    theirs = files("sphinx").joinpath("themes/basic/static/searchtools.js").read_text("utf-8").partition("class ")[0]
    numbers = r"\b(\w+): (-?\d+)\b"
    assert re.findall(numbers, own) == re.findall(numbers, theirs) != []
    assert (ROOT / re.findall(r'page === "(\w+)"', own)[0]).with_suffix(".md").is_file()


def test_the_list_of_versions_begins_with_this_version() -> None:
    text = (ROOT / "tools" / "site" / "static" / "versions.js").read_text("utf-8")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert re.findall(r'"([\d.]+)"', text)[0] == version


def test_llms_txt_lists_the_markdown_copy_of_every_page() -> None:
    listed = re.findall(r"^- \[.+\]\((.+)\)$", llms_txt(INDEX), re.M)
    assert {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")} - {*listed} == {"docs/README.md"}
    assert all((ROOT / page).is_file() for page in listed)


def test_the_first_commands_succeed(tmp_path: Path) -> None:
    for line in INDEX.blocks["sh commands"].splitlines():
        done = pegboard(*shlex.split(line, comments=True)[1:], cwd=tmp_path)
        assert done.code == 0, done.err


@pytest.mark.parametrize("name", SOURCES)
def test_an_image_shows_the_output_of_its_command(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text("utf-8") == image(SOURCES[name]()), "run `python -m tools.screenshots`"
