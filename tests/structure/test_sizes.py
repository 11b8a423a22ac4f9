"""Small functions, files and classes, except generated ones. The limits are wide: ruff limits the complexity."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.sources import modules
from tools.install import ROOT

MODULE_LINES = 600
FUNCTION_LINES = 60

GENERATED = "plugins/pegboard_messages/v2*.py"
"""The typed messages that tools/message_types.py writes: their length is that of the official schemas."""


def paths() -> list[Path]:
    found = [path for room in ("host", "plugins", "toolkits") for path in ROOT.glob(f"{room}/**/*.py")]
    relative = sorted(path.relative_to(ROOT) for path in found)
    return [path for path in relative if not path.match(GENERATED)]


def too_long(path: Path, text: str) -> Iterator[str]:
    lines = len(text.splitlines())
    if lines > MODULE_LINES:
        yield f"{path} has {lines} lines, more than {MODULE_LINES}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES:
                yield f"{path}:{node.lineno} {node.name} has {size} lines, more than {FUNCTION_LINES}"


def test_modules_and_their_functions_are_within_the_limits() -> None:
    assert [line for path in paths() for line in too_long(path, (ROOT / path).read_text())] == []
    assert {path.parts[0] for path in paths()} == {"host", "plugins", "toolkits"}
    function = "class Tool:\n    async def long(self):\n" + "        pass\n" * MODULE_LINES
    assert len(list(too_long(Path("a.py"), function))) == 2


MAX_PUBLIC_MEMBERS = 25
LARGE = {
    "pegboard.context.Context": "the functions of authors call it",
    "pegboard_plugins.compat.fastmcp.context.Context": "it repeats a class of another framework",
    "pegboard_plugins.compat.fastmcp.server.FastMCP": "it repeats a class of another framework",
}
"""Larger classes, with the reason."""
DATA = {"NamedTuple", "TypedDict", "StrEnum", "PluginConfig", "BaseModel"}
"""The base classes of settings, records and enumerations."""
SOURCES = modules("host") | modules("plugins")


def public_members(tree: ast.ClassDef) -> set[str]:
    """Return the public names that a class defines: methods, attributes of the class, and attributes of `self`."""
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif not isinstance(node, ast.ClassDef):
            stored = (child for child in ast.walk(node) if isinstance(getattr(child, "ctx", None), ast.Store))
            names.update(child.id for child in stored if isinstance(child, ast.Name))
    return {name for name in names if not name.startswith(("_", "test_"))}  # contracts have tests


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the classes of behaviour with their names."""
    for module, path in SOURCES.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            bases = (
                {ast.unparse(base).rpartition(".")[2] for base in node.bases} if isinstance(node, ast.ClassDef) else {}
            )
            if isinstance(node, ast.ClassDef) and not DATA & set(bases):
                yield f"{module}.{node.name}", node


def test_no_class_of_behaviour_has_too_many_public_members() -> None:
    sizes = {name: len(public_members(tree)) for name, tree in classes() if name not in LARGE}
    assert {name: size for name, size in sizes.items() if size > MAX_PUBLIC_MEMBERS} == {}


def test_larger_classes_are_still_larger() -> None:
    sizes = {name: len(public_members(tree)) for name, tree in classes()}
    kept = LARGE.keys() & sizes.keys()  # the folder of a feature may be removed
    assert [name for name in kept if sizes[name] <= MAX_PUBLIC_MEMBERS] == []


@pytest.mark.parametrize(
    "body",
    [
        "def a(self): self.b, self.c = 1, 2",
        "a, b = 1, 2\n    def c(self): ...",
        "def a(self):\n        with x as self.b: self.c += 1",
        "a: int\n    b = c = 1",
        "def a(self): self.b: int = 1\n    c = 2",
    ],
)
def test_members_are_methods_and_attributes(body: str) -> None:
    tree = ast.parse(f"class Example:\n    {body}\n    _private = 1").body[0]
    assert isinstance(tree, ast.ClassDef)
    assert public_members(tree) == {"a", "b", "c"}
