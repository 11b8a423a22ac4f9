"""The entries of the reference: signatures and types as the code writes them, and links from names to entries."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from tools import stubs
from tools.reference import attributes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGES = ("pegboard.errors", *stubs.PACKAGES)
"""The packages with public names. The entry of a name that several packages have is in the first."""

PYTHON_INVENTORY = Path(__file__).with_name("python.inv")
"""The names of Python's documentation that annotations have, with their pages. So the build needs no network."""
HTTP_HEADERS = ("Authorization", "Host")
"""Names in the text that mean something else."""


@cache
def entries() -> dict[str, Any]:
    """Return the public objects by the full names of their entries."""
    found: dict[str, Any] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in getattr(module, "__all__", None) or [name for name in vars(module) if name[0].isupper()]:
            value = getattr(module, name)
            if not (name.startswith("_") or inspect.ismodule(value)) and all(
                value is not other for other in found.values()
            ):
                found[f"{package}.{name}"] = value
    return found


@cache
def _full_names() -> dict[str, list[str]]:
    full_names: dict[str, list[str]] = {}
    for full in entries():
        full_names.setdefault(full.rpartition(".")[2], []).append(full)
    return full_names


def entry_of(text: str, package: str = "") -> str | None:
    """Return the full name of the entry that a name in a text or annotation means, such as `Call.caller`."""
    name, _, rest = text.removeprefix("~").partition("(")
    for known in sorted(PACKAGES, key=len, reverse=True):
        name = name.removeprefix(f"{known}.")
    first, dot, member = name.partition(".")
    full_names = _full_names().get(first, [])
    near = [full for full in full_names if full.partition(".")[0] == package.partition(".")[0]]
    if rest and not rest.endswith(")"):
        return None
    return f"{(near or full_names)[0]}{dot}{member}" if len(near or full_names) == 1 else None


class _Unquoted(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        literal = isinstance(node.value, ast.Name) and node.value.id == "Literal"
        return node if literal else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def _written(annotation: ast.expr) -> str:
    """Return an annotation without quotes."""
    return ast.unparse(_Unquoted().visit(annotation))


@cache
def _source(value: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def types_of(cls: type) -> dict[str, str]:
    """Return the types of the attributes of a class and its bases."""
    bases = (base for base in cls.__mro__ if base.__module__.startswith("pegboard"))
    types: dict[str, str] = {}
    for base in reversed([*bases]):
        types |= {name: text for name, text in own_types(base).items() if text or name not in types}
    return types


def own_types(cls: type) -> dict[str, str]:
    """Return the types of the attributes that annotations and `__init__` of a class define. "" is unknown."""
    types: dict[str, str] = {}
    tree = _source(cls)
    assert isinstance(tree, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            types[node.target.id] = _written(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
            types = dict(_assigned(node)) | types
    return types


def _assigned(init: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a method `__init__` assigns with a type, or from a parameter with a type."""
    arguments = [*init.args.args, *init.args.kwonlyargs]
    parameters = {argument.arg: argument.annotation for argument in arguments}
    for node in ast.walk(init):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            yield node.target.attr, _written(node.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            annotation = parameters.get(node.value.id) if isinstance(node.value, ast.Name) else None
            yield node.targets[0].attr, _written(annotation) if annotation else ""


def _signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str | None, returned: str
) -> tuple[str, str | None] | None:
    """Return the signature as the code writes it."""
    if signature is None:  # a property
        return None
    if name.rpartition(".")[2].startswith("test_"):
        return "()", None
    if inspect.isclass(value):
        if issubclass(value, tuple) or "__dataclass_fields__" in vars(value):
            return f"({', '.join(_fields(value))})", None
        value = value.__init__
    if not (inspect.isfunction(value) or inspect.ismethod(value)) or not value.__module__.startswith("pegboard"):
        return "", None
    tree = _source(inspect.unwrap(value))
    if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return _arguments(tree.args), _written(tree.returns) if tree.returns and what != "class" else None


def _fields(record: type) -> Iterator[str]:
    """Yield the names and the defaults of the fields. Their types are below, as those of attributes."""
    tree = _source(record)
    assert isinstance(tree, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield f"{node.target.id}={ast.unparse(node.value)}" if node.value else node.target.id


def _arguments(arguments: ast.arguments) -> str:
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg) and argument.annotation:
            argument.annotation = _Unquoted().visit(argument.annotation)
    text = re.sub(r"^(self|cls)(, |$)", "", ast.unparse(arguments))
    return f"({text})"


def _docstring(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Make an entry with its type of each attribute of a class. Napoleon reads the other sections."""
    if what == "property":
        lines.insert(0, "")  # Napoleon takes words before a colon in the first line for a type
    text = re.sub(r"^Returns:\n    ", ":returns: ", "\n".join(lines), flags=re.M)
    if inspect.isclass(value):
        text = re.sub(r"^Attributes:\n(    .*\n|\n)*", "", text, flags=re.M) + "".join(_attributes(value))
    lines[:] = text.split("\n")


def _attributes(cls: type) -> Iterator[str]:
    types = types_of(cls)
    own = [name for base in cls.__mro__ if base is cls or not has_entry(base) for name in own_types(base)]
    meanings = attributes(cls, "Args") | attributes(cls)
    for name in dict.fromkeys([*attributes(cls), *own]):
        if not name.startswith("_"):
            typed = f"   :type: {types[name]}\n" if types.get(name) else ""
            yield f"\n.. attribute:: {name}\n{typed}\n   {meanings.get(name, '')}\n\n"


def _skip(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Skip the values of attributes, which have entries."""
    shown = inspect.isroutine(value) or isinstance(value, property | Enum)
    return True if what in ("class", "exception") and not shown else None


class Entries(SphinxDirective):
    """Shows the entries of a package: those that the body names, else all."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the entries."""
        package = self.arguments[0]
        named = " ".join(self.content).split()
        names = named or [full.rpartition(".")[2] for full in entries() if full.rpartition(".")[0] == package]
        text = "\n".join(self._entry(package, name) for name in names)
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n.. currentmodule:: {package}\n\n{text}\n```")

    def _entry(self, package: str, name: str) -> str:
        value = entries()[f"{package}.{name}"]
        if inspect.isclass(value):
            foreign = [base.__name__ for base in value.__mro__[1:] if has_entry(base)]
            inherited = f"   :inherited-members: {', '.join(foreign)}\n"
            undocumented = "   :undoc-members:\n" if issubclass(value, Enum) else ""
            bases = "" if value.__bases__ == (object,) else "   :show-inheritance:\n"
            return f".. autoclass:: {name}\n   :members:\n{undocumented}{inherited}{bases}"
        return f".. autofunction:: {name}\n" if inspect.isfunction(value) else _constant(package, name, value)


def has_entry(base: type) -> bool:
    """Return True for a class with an entry, and for classes of others."""
    return not base.__module__.startswith("pegboard") or any(base is value for value in entries().values())


def _constant(package: str, name: str, value: Any) -> str:
    """Return the entry of an alias or a constant, with the text below its definition."""
    homes = import_module(package)._HOMES
    home = resolve_name(next(home for home, names in homes.items() if name in names.split()), package)
    body = ast.parse(inspect.getsource(import_module(home))).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == name:
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = inspect.cleandoc(str(after.value.value))
            kind = f"data:: {name}\n   :type: {type(value).__name__}"
            if isinstance(node, ast.AnnAssign) and node.value and ast.unparse(node.annotation) == "TypeAlias":
                kind = f"type:: {name}\n   :canonical: {_written(node.value)}"
            return f".. py:{kind}\n\n{textwrap.indent(text, '   ')}\n"
    raise LookupError(name)


@cache
def _python_names() -> dict[str, str]:
    """Return the names that the documentation of Python has, by the names that annotations have."""
    lines = PYTHON_INVENTORY.read_text("utf-8").splitlines()
    full_names = [line.partition(" ")[0] for line in lines if not line.startswith("#")]
    return {name: full for full in full_names for name in (full, full.rpartition(".")[2])}


def _is_linked(node: nodes.Node | None) -> bool:
    """Return True for a part of a link or of a title."""
    while node is not None and not isinstance(node, nodes.reference | nodes.title | addnodes.pending_xref):
        node = node.parent
    return node is not None


def _link(app: Sphinx, doctree: nodes.document) -> None:
    """Link the names in the text to their entries, and those in annotations to the documentation of Python."""
    for link in doctree.findall(addnodes.pending_xref):
        name = link["reftarget"]
        if link.get("refdomain") == "py" and entry_of(name) is None:
            own = name.rpartition(".")[2] if name.startswith("pegboard") else name  # autodoc names the module of a base
            link["reftarget"] = _python_names().get(own, own)
            link["reftype"] = "obj"
        link.attributes.pop("refspecific", None)
    for mark in list(doctree.findall(nodes.abbreviation)):  # "*" and "/", which Markdown copies would lose
        mark.replace_self(nodes.Text(mark.astext()))
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if _is_linked(literal) or text in HTTP_HEADERS or not re.match(r"[A-Z]|pegboard[a-z_.]*\.\w", text):
            continue
        target = entry_of(text)
        if target is not None:
            link = addnodes.pending_xref("", literal.deepcopy(), refdomain="py", reftype="obj", reftarget=target)
            literal.replace_self(link)


def _resolve(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Resolve a name to its entry. A name without an entry is not a link."""
    if node.get("refdomain") != "py":
        return None
    target = entry_of(node["reftarget"], node.get("py:module") or "")
    domain, page = env.domains["py"], node.get("refdoc", "")
    found = target and domain.resolve_xref(env, page, app.builder, "obj", target, node, content)
    return found or content


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the links with Sphinx."""
    app.add_directive("entries", Entries)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=400)
    app.connect("autodoc-skip-member", _skip)
    app.connect("doctree-read", _link)
    app.connect("missing-reference", _resolve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
