"""Every hook is typed with public types, documented, and driven by a test."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable
from typing import Any

from pegboard import hookspecs, plugin, types
from pegboard.cli.serving.access_settings import ABILITIES
from pegboard.loading.hook_manager import contribution_types
from tests.structure.sources import ROOT

SPECS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in vars(hookspecs).items()
    if inspect.isfunction(function) and not name.startswith("_")
}
PUBLIC = {name: getattr(package, name) for package in (plugin, types) for name in package.__all__}


def complaints(name: str, spec: Callable[..., Any], driven: set[str]) -> typing.Iterator[str]:
    hints = typing.get_type_hints(spec, {**PUBLIC, **vars(hookspecs)})
    if not hasattr(spec, "pegboard_spec"):
        yield f"{name} lacks the marker"
    if set(hints) != {*inspect.signature(spec).parameters, "return"} or hints["context"] is not plugin.PluginContext:
        yield f"{name} is not typed with public types"
    if not all(inspect.isclass(accepted) for accepted in contribution_types(spec)[0]):
        yield f"{name} accepts no classes"
    if not (inspect.getdoc(spec) or "").endswith("."):
        yield f"{name} is not documented"
    if name not in ABILITIES:
        yield f"{name} has no description of what its plugins can do"
    if name not in driven:
        yield f"{name} has no test that drives a host"


def driven_hooks() -> set[str]:
    """Return the hooks that the test modules implement which start a host."""
    hooks: set[str] = set()
    for path in (ROOT / "tests" / "host").rglob("test_*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        if any(isinstance(node, ast.Name) and node.id == "make_host" for node in nodes):
            hooks |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
            hooks |= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return hooks


def test_every_hook_is_typed_documented_and_tested() -> None:
    driven = driven_hooks()
    assert [line for name, spec in SPECS.items() for line in complaints(name, spec, driven)] == []
    assert len(SPECS) > 10
