"""The project's own modules as syntax trees: what each imports when it runs, and what only for its types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PUBLIC_PACKAGES = tuple(
    package
    for package in (
        *("pegboard", "pegboard_client", "pegboard_evals", "pegboard.plugin"),
        *("pegboard.terminal", "pegboard_testing", "pegboard.types"),
    )
    if package.startswith("pegboard.") or any((ROOT / folder / package).is_dir() for folder in ("host", "plugins"))
)
"""The packages whose names are the API, without those that are removed (see `tools/without.py`)."""


class Import(NamedTuple):
    """One imported name; None for `import module`. A relative import has a level."""

    module: str
    name: str | None
    line: int
    typing_only: bool
    level: int

    @property
    def top(self) -> str:
        """The distribution's package, such as "pegboard"."""
        return self.module.partition(".")[0]


def modules(folder: str, package: str = "") -> dict[str, Path]:
    """Every module below a folder that lies on the module path, or of one package there, by its dotted name."""
    paths = {}
    for path in sorted((ROOT / folder / package).rglob("*.py")):
        parts = path.relative_to(ROOT / folder).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


def imports(text: str) -> Iterator[Import]:
    """Everything that a module imports, wherever in it."""
    tree = ast.parse(text)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, id(node) in for_types, 0)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(node.module or "", alias.name, node.lineno, id(node) in for_types, node.level)
