"""The toolkits of Python files, found without running the files."""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.loading.source_files import run_file
from pegboard.plugin.toolkit_loading import FoundToolkit

logger = logging.getLogger("pegboard.loading.files")


def found_toolkits(
    files: Iterable[Path], load: Callable[[Path], ModuleType] = run_file, *, named: str | None = None
) -> list[FoundToolkit]:
    """Return the toolkits of Python files. The files are parsed, not run. Files without toolkits are left out.

    The functions decorated with `@tool`, in files without toolkits, form one toolkit for each file name.

    Args:
        files: the files.
        load: a function that imports a file. It is called once for each file with tools, when a toolkit is loaded.
        named: the name of the toolkit of decorated functions, instead of the file names.
    """
    load = cache(load)
    toolkits: list[FoundToolkit] = []
    loose: dict[str, list[Path]] = {}
    for file in files:
        syntax = _syntax_of(file)
        for variable, name in syntax.toolkits:
            take = partial(_toolkit, load, file, variable)
            toolkits.append(FoundToolkit(name or file.stem, f"{file}:{variable}", take, folders=_folders([file])))
        if syntax.has_tools and not syntax.toolkits:
            loose.setdefault(named or file.stem, []).append(file)
    for name, group in loose.items():
        make = partial(_toolkit_of_functions, name, load, group)
        target = ", ".join(map(str, group))
        toolkits.append(FoundToolkit(name, target, make, folders=_folders(group)))
    return toolkits


_last_read: dict[Path, ToolSyntax] = {}
"""The toolkits and tools of the last valid version of each file that was read in this process."""


def _syntax_of(file: Path) -> ToolSyntax:
    """Return the toolkits and tools of a file. Of a broken file, return those of its last valid version.

    So a reload tries to load them, reports the error and keeps the old version.
    """
    try:
        _last_read[file] = read_syntax(file.read_bytes())
    except (OSError, SyntaxError) as error:
        if file in _last_read and file.exists():
            return _last_read[file]
        line = getattr(error, "lineno", None)
        reason = f"line {line}: {getattr(error, 'msg', '')}" if line else error
        logger.warning("%s is left out, because it cannot be read: %s", file, reason)
        return ToolSyntax()
    return _last_read[file]


def _folders(files: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(file.resolve().parent) for file in files))


def _toolkit(load: Callable[[Path], ModuleType], file: Path, variable: str) -> Any:
    try:
        kit = getattr(load(file), variable)
    except AttributeError:
        raise PluginError(f"{file} has no {variable!r} after it was run: define the toolkit at its top level") from None
    is_served_by_other = isinstance(kit, ToolkitBase) and kit.is_mounted
    return ToolkitBase(kit.name) if is_served_by_other else kit


def _toolkit_of_functions(name: str, load: Callable[[Path], ModuleType], files: Iterable[Path]) -> ToolkitBase:
    kit = ToolkitBase(name)
    for module in map(load, files):
        own = [member for member in vars(module).values() if isinstance(member, ToolFunction)]
        kit.add([function for function in own if function.__module__ == module.__name__])
    return kit


# --- The toolkits and tools that a Python file defines, read from its syntax. The file is not run.


PACKAGES = ("pegboard", "pegboard_plugins")
"""The packages whose decorators and classes define tools."""

CLASSES = ("Toolkit", "MCPApp", "FastMCP", "MCPServer")
"""The names of classes whose objects are toolkits."""

DECORATOR = "tool"


class ToolSyntax(NamedTuple):
    """The toolkits and tools at the top level of a file.

    Attributes:
        toolkits: the variable and the name of each toolkit. The name is None if it is not a string in the file.
        has_tools: True if a function is decorated with `tool`.
    """

    toolkits: tuple[tuple[str, str | None], ...] = ()
    has_tools: bool = False


def read_syntax(source: bytes) -> ToolSyntax:
    """Return the toolkits and tools of a file. Aliases of imports and assignments are followed.

    Raises:
        SyntaxError: the file is not valid Python.
    """
    if not any(package.encode() in source for package in PACKAGES):
        return ToolSyntax()
    reader = _Reader()
    try:
        reader.read(ast.parse(source).body)
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, or deep nesting
        raise SyntaxError(str(error) or "its code is nested too deeply") from None
    return ToolSyntax(tuple(reader.toolkits.items()), reader.has_tools)


class _Reader:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.toolkits: dict[str, str | None] = {}
        self.has_tools = False

    def read(self, body: Iterable[ast.stmt]) -> None:
        for statement in _flat(body):
            match statement:
                case ast.Import(names=names):
                    for alias in names:
                        whole = alias.name if alias.asname else alias.name.partition(".")[0]
                        self.names[alias.asname or whole] = whole
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    self.names |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.assign(name, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.assign(name, value)
                case ast.ClassDef(name=name, bases=bases) if any(map(self.is_class, bases)):
                    self.names[name] = f"{PACKAGES[0]}.{CLASSES[0]}"
                case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                    self.has_tools = self.has_tools or any(map(self.is_decorator, decorators))
                case _:
                    pass

    def assign(self, name: str, value: ast.expr) -> None:
        self.toolkits.pop(name, None)
        self.names.pop(name, None)
        if isinstance(value, ast.Call) and self.is_class(value.func):
            self.toolkits[name] = _name_of(value)
        elif alias := self.whole_name(value):
            self.names[name] = alias

    def is_class(self, value: ast.expr) -> bool:
        return self.is_ours(self.whole_name(value), CLASSES)

    def is_decorator(self, value: ast.expr) -> bool:
        function = value.func if isinstance(value, ast.Call) else value
        return self.is_ours(self.whole_name(function), (DECORATOR,))

    def is_ours(self, name: str | None, endings: Iterable[str]) -> bool:
        return name is not None and name.partition(".")[0] in PACKAGES and name.rpartition(".")[2] in endings

    def whole_name(self, value: ast.expr) -> str | None:
        """Return the dotted name that an expression refers to, with imports resolved. Return None for others."""
        match value:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Attribute(value=inner, attr=attribute):
                whole = self.whole_name(inner)
                return whole and f"{whole}.{attribute}"
            case _:
                return None


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those inside `if`, `try` and `with`, in order."""
    for statement in body:
        yield statement
        match statement:
            case ast.If():
                yield from _flat((*statement.body, *statement.orelse))
            case ast.With():
                yield from _flat(statement.body)
            case ast.Try():
                handled = [line for handler in statement.handlers for line in handler.body]
                yield from _flat((*statement.body, *handled, *statement.orelse, *statement.finalbody))
            case _:
                pass


def _name_of(call: ast.Call) -> str | None:
    """Return the name that the author gave to a toolkit."""
    names = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name")]
    match names:
        case [ast.Constant(value=str(name)), *_]:
            return name
        case _:
            return None
