"""The names of `pegboard.plugin` that authors meet: in a hook, in a contract of a hook, or in an example."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

import pegboard
from pegboard import hookspecs, plugin, types
from tools.install import ROOT

EXAMPLES = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".py")]
GENERATED = ("hooks.md",)
"""Pages that import every name."""


def words(node: ast.AST | None) -> Iterator[str]:
    """Yield the names in an annotation."""
    for part in ast.walk(node) if node else ():
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from re.findall(r"\w+", part.value)


def annotated(tree: ast.AST) -> Iterator[str]:
    """Yield the names in the annotations of public members, and in base classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from (word for base in node.bases for word in words(base))
            yield from annotated(node)
        elif isinstance(node, ast.AnnAssign):
            yield from words(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and re.match("[^_]|__init__", node.name):
            parameters = node.args
            for argument in (
                *parameters.posonlyargs,
                *parameters.args,
                *parameters.kwonlyargs,
                parameters.vararg,
                parameters.kwarg,
            ):
                yield from words(argument.annotation if argument else None)
            yield from words(node.returns)


@cache
def aliases() -> dict[str, set[str]]:
    """Return the names in each type alias of the host."""
    trees = (ast.parse(path.read_text("utf-8")) for path in (ROOT / "host" / "pegboard").rglob("*.py"))
    return {
        node.target.id: set(words(node.value))
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and "TypeAlias" in words(node.annotation)
    }


def used_by(name: str) -> set[str]:
    """Return the names that a public type uses."""
    member: Any = next(
        (getattr(package, name) for package in (plugin, types, pegboard) if name in package.__all__), None
    )
    if name in aliases() or not (inspect.isclass(member) or inspect.isfunction(member)):
        return aliases().get(name, set())
    return set(annotated(ast.parse(textwrap.dedent(inspect.getsource(member)))))


def met() -> set[str]:
    """Return the names that authors meet."""
    all_names: set[str] = set()
    following = set(annotated(ast.parse(inspect.getsource(hookspecs))))
    for path in EXAMPLES:
        if path.name not in GENERATED:
            for names in re.findall(r"from pegboard\.plugin import (\([^)]*\)|[^\n]*)", path.read_text("utf-8")):
                following |= set(re.findall(r"\w+", names))
    while following:
        all_names |= following
        following = {word for name in following for word in used_by(name)} - all_names
    return all_names


def unmet() -> list[str]:
    """Return the public names that no hook, contract or example uses."""
    return sorted(set(plugin.__all__) - met())


def test_a_hook_a_contract_and_an_example_make_a_name_public() -> None:
    names = met()
    assert {"Transport", "TransportContext", "StreamProtocol", "hookimpl", "AsgiCallable"} <= names
    assert "jsonrpc_error" not in names
    assert set(unmet()) < set(plugin.__all__)
