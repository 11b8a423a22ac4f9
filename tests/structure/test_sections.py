"""The host looks up no section of a plugin by its name: it asks the facts of plugins (`pegboard_plugin.toml`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

import pytest

from pegboard.loading.discovery import find_plugins
from tests.structure.sources import modules

ALLOWED = {"stdio", "http"}
"""The transports, which are public names."""


def sections_named(source: str) -> Iterator[str]:
    """Yield the constants that follow the constant "plugins" in a call, a tuple or a subscript of a source."""
    for node in ast.walk(ast.parse(source)):
        parts = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else ()
        texts = [str(part.value) if isinstance(part, ast.Constant) else "" for part in parts]
        yield from (text for before, text in pairwise(texts) if before == "plugins" and text)


@pytest.mark.parametrize("source", ['config.section("plugins", "acme")', 'KEY = ("plugins", "acme", "file")'])
def test_a_section_is_recognized(source: str) -> None:
    assert [*sections_named(source)] == ["acme"]


def test_the_host_names_no_section_of_a_plugin() -> None:
    names = {name: [*sections_named(path.read_text("utf-8"))] for name, path in modules("host").items()}
    plugins = {origin.name for origin in find_plugins().origins} - ALLOWED
    assert {name: sections for name, sections in names.items() if plugins.intersection(sections)} == {}
