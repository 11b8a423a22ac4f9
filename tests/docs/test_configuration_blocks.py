"""Each block of TOML that shows settings passes the schema of `pegboard config schema`, and the check of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import tomli
from jsonschema import Draft202012Validator

from pegboard.cli.serving.access_settings import known_models
from pegboard.config import HostConfig, validate_section
from pegboard.config.file_schema import file_schema
from pegboard.config.hostconfig import Kind
from pegboard.loading.discovery import defaults
from pegboard.messages.error_words import WORDS
from tools.install import ROOT

KINDS: tuple[Kind, ...] = ("plugins", "toolkits")
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "toolkits").glob("*/README.md")])
OF_EXAMPLES = {"books", "sqlite_sessions", "websocket"}
"""Plugins and toolkits that a page writes itself."""
ELSEWHERE = re.compile(r"does not exist|is not a directory|is not a folder")
"""A problem of this machine, not of the block."""
PARTS = {"implied", "introspection"}
"""Words of blocks that continue a block above, which has the required keys."""


def blocks() -> Iterator[Any]:
    """Yield the blocks with tables of `hostconfig.toml`, and the words of their fences."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in re.finditer(r"^```toml([^\n]*)\n(.*?)^```$", text, re.M | re.S):
            tree = tomli.loads(match[2])
            line = text.count("\n", 0, match.start()) + 1
            if tree.keys() <= {"host", *KINDS}:
                yield pytest.param(match[1], match[2], id=f"{page.relative_to(ROOT)}:{line}")


@cache
def models() -> Mapping[str, Mapping[str, Any]]:
    return known_models(HostConfig.of({}, defaults=defaults()))


@cache
def schema() -> Draft202012Validator:
    return Draft202012Validator(file_schema(models()))


@pytest.mark.parametrize(("words", "text"), [*blocks()])
def test_a_block_passes_the_schema_and_the_check(words: str, text: str) -> None:
    tree = tomli.loads(text)
    for kind in KINDS:
        tree[kind] = {name: value for name, value in tree.get(kind, {}).items() if name not in OF_EXAMPLES}
    assert [f"{error.json_path}: {error.message}" for error in schema().iter_errors(tree)] == []
    environ = {name: f"{name}-{'0123456789abcdef' * 4}" for name in re.findall(r'env = "(\w+)"', text)}
    config = HostConfig.of(tree, defaults=defaults(), environ=environ)
    for kind in KINDS:
        for name in tree[kind]:
            checked = validate_section(config, kind, name, models()[kind][name])
            problems = map(str, checked) if isinstance(checked, list) else ()
            excused = re.compile(WORDS["setting_missing"]) if PARTS & set(words.split()) else ELSEWHERE
            assert [problem for problem in problems if not excused.search(problem)] == []
