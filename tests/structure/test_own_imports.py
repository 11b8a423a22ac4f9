"""One module changes what imports mean. No other may: it would surprise every reader."""

from __future__ import annotations

import ast

import pytest

from tests.structure.sources import modules

CHANGES = {"__import__", "meta_path", "path_hooks"}
ALLOWED = "pegboard_plugins.toolkit_sources.arcade_toolkits.loading"


def changes_imports(source: str) -> bool:
    nodes = ast.walk(ast.parse(source))
    named = {getattr(node, field, None) for node in nodes for field in ("attr", "id", "value", "name")}
    return bool(CHANGES & {name for name in named if isinstance(name, str)})


@pytest.mark.needs("arcade_toolkits")
def test_one_module_changes_imports() -> None:
    paths = modules("host") | modules("plugins")
    assert [name for name, path in paths.items() if changes_imports(path.read_text("utf-8"))] == [ALLOWED]
