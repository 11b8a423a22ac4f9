"""Every hook is typed with public types, documented, and driven by a test."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable
from typing import Any

from pegboard import hookspecs, plugin, types
from pegboard.cli.serving.access_settings import ABILITIES
from pegboard.loading.contributions import contribution_types
from tests.structure.sources import ROOT

SPECS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in vars(hookspecs).items()
    if inspect.isfunction(function) and not name.startswith("_")
}
PUBLIC = {name: getattr(package, name) for package in (plugin, types) for name in package.__all__}
DRIVES = {"value", "host.dispatch", "host.run", "host.serve", "host.respond", "host.store", "requested"}


def complaints(name: str, spec: Callable[..., Any], tests: dict[str, ast.AST]) -> typing.Iterator[str]:
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
    kind = name.removeprefix("register_")
    nodes = [node for test in tests if test.startswith("test_hook") and kind in test for node in ast.walk(tests[test])]
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    asserts = any(isinstance(node, ast.Assert) for node in nodes)
    if not ("make_host" in calls and calls & DRIVES and asserts):
        yield f"{name} has no test that drives a host"


def test_every_hook_is_typed_documented_and_tested() -> None:
    tree = ast.parse((ROOT / "tests" / "host" / "test_hooks.py").read_text("utf-8"))
    tests: dict[str, ast.AST] = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert [line for name, spec in SPECS.items() for line in complaints(name, spec, tests)] == []
    assert len(SPECS) > 10
