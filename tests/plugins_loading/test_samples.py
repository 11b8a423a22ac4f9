"""The samples are what strangers could have written: public names only, and small."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import pegboard
from tests.plugins_loading.installed import SAMPLES, sample_folders, samples, twins
from tests.support.environments import executable, run
from tools.install import ROOT

MODULES = sorted(path for folder in sample_folders() for path in folder.rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each module that a module imports, with the names it takes from it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", [alias.name for alias in node.names]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_imports_public_names_alone(path: Path) -> None:
    ours = [(module, names) for module, names in imported(path) if module.startswith(("pegboard", "toolkit_files"))]
    assert [module for module, _ in ours if module != "pegboard"] == []
    assert [name for _, names in ours for name in names if name not in pegboard.__all__] == []


def test_there_are_samples_that_use_the_public_names() -> None:
    used = {name for path in MODULES for module, names in imported(path) if module == "pegboard" for name in names}
    assert {"Toolkit", "Plugin", "Transport", "Middleware", "PluginConfig", "Context"} <= used


def test_a_transport_takes_about_forty_lines() -> None:
    tree = ast.parse((SAMPLES / "acme_unix" / "acme_unix" / "__init__.py").read_text("utf-8"))
    docstrings = [
        node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    lines = {line for node in ast.walk(tree) if isinstance(node, ast.stmt) for line in (node.lineno, node.end_lineno)}
    assert len(lines - {node.lineno for node in docstrings}) <= 45


@pytest.mark.parametrize("environment", [samples, twins], ids=lambda environment: environment.__name__)
def test_the_checkout_is_not_on_the_path(environment: object) -> None:
    place = environment()  # type: ignore[operator]  # one of the two functions
    code = "import json, sys, pegboard, pegboard_plugins; "
    code += "print(json.dumps([pegboard.__file__, pegboard_plugins.__file__, *sys.path]))"
    for path in json.loads(run(executable(place), "-c", code, cwd=Path("/"))):
        assert ROOT not in Path(path).parents or place in Path(path).parents
