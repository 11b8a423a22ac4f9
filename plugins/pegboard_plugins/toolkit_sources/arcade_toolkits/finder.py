"""Installed toolkits of the Arcade system, found by their metadata and syntax. No module is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import importlib_metadata

from pegboard.plugin import PluginError
from pegboard_plugins.support.distribution_modules import modules_of, packages_of

FRAMEWORKS = frozenset(("arcade-mcp-server", "arcade-tdk", "arcade-ai"))
"""The distributions of which a toolkit requires one."""
SYSTEM = FRAMEWORKS | {"arcade-mcp", "arcade-serve", "arcade-core", "arcade-evals"}
"""The distributions of the Arcade system itself."""
_ROOTS = ("arcade_mcp_server", "arcade_tdk")
"""The packages whose `tool` is a decorator."""
_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*(?:;(.*))?")


class InstalledToolkit(NamedTuple):
    """A distribution with a toolkit.

    Attributes:
        distribution: its metadata.
        name: the name of the distribution in lower case with hyphens, such as "arcade-google-docs".
    """

    distribution: importlib_metadata.Distribution
    name: str

    @property
    def toolkit(self) -> str:
        """The name of the toolkit, such as "google_docs"."""
        return self.name.removeprefix("arcade-").replace("-", "_")

    @property
    def summary(self) -> str | None:
        """The description of the distribution; None if it has none."""
        return self.distribution.metadata.get("Summary") or None

    def modules(self) -> Iterator[str]:
        """Yield the names of the modules with tools."""
        return (name for file, name in modules_of(self.distribution) if has_tools(file))

    def packages(self) -> list[str]:
        """Return the packages of the toolkit and of the libraries that it shares with other toolkits."""
        return [package for part in _with_libraries(self.distribution) for package in packages_of(part)]


def installed_toolkits() -> list[InstalledToolkit]:
    """Return every installed toolkit, sorted by name."""
    toolkits: dict[str, InstalledToolkit] = {}
    for distribution in importlib_metadata.Distribution.discover():
        with suppress(Exception):  # a damaged distribution affects no other one
            if toolkit := toolkit_of(distribution):
                toolkits.setdefault(toolkit.name, toolkit)  # the first on the module path, as for imports
    return [toolkits[name] for name in sorted(toolkits)]


def toolkit_named(name: str) -> InstalledToolkit | None:
    """Return the toolkit of a distribution, with or without the beginning "arcade-". None if it is not installed."""
    for candidate in (f"arcade-{_normal(name)}", _normal(name)):
        try:
            distribution = importlib_metadata.Distribution.from_name(candidate)
        except (importlib_metadata.PackageNotFoundError, ValueError):
            continue
        if toolkit := toolkit_of(distribution):
            return toolkit
    return None


def toolkits_named(names: Iterable[str]) -> list[InstalledToolkit]:
    """Return the toolkits that the names and globs of the settings select.

    Raises:
        PluginError: a name is not that of an installed toolkit.
    """
    chosen: dict[str, InstalledToolkit] = {}
    for name in names:
        if set(name) & set("*?["):
            chosen |= {
                toolkit.name: toolkit
                for toolkit in installed_toolkits()
                if any(fnmatchcase(form, name) for form in (toolkit.name, toolkit.name.removeprefix("arcade-")))
            }
        elif toolkit := toolkit_named(name):
            chosen[toolkit.name] = toolkit
        else:
            known = ", ".join(toolkit.name for toolkit in installed_toolkits()) or "none"
            raise PluginError(
                f"no toolkit of the Arcade system is installed as {name!r}: install it, or correct [plugins.arcade] "
                f"names. A version that imports arcade.sdk is too old: update it. Installed: {known}"
            )
    return list(chosen.values())


def has_tools(file: Path) -> bool:
    """Return True if a decorator of the Arcade system makes a top-level function of the file a tool."""
    try:
        source = file.read_bytes()
        if not any(root.encode() in source for root in _ROOTS):
            return False
        body = ast.parse(source).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = dict(pair for statement in body for pair in _imported(statement))
    functions = (node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(_is_tool(decorator, names) for function in functions for decorator in function.decorator_list)


def _imported(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the names that an import of the Arcade system defines, each with what it means."""
    match statement:
        case ast.Import(names=names):
            imported = [(alias.asname or alias.name.partition(".")[0], alias.name) for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            imported = [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in names]
        case _:
            imported = []
    return ((name, meaning) for name, meaning in imported if meaning.partition(".")[0] in _ROOTS)


def _is_tool(decorator: ast.expr, names: dict[str, str]) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    first, _, rest = ast.unparse(function).partition(".")
    return first in names and (rest or names[first]).rpartition(".")[2] == "tool"


def toolkit_of(distribution: importlib_metadata.Distribution) -> InstalledToolkit | None:
    """Return the toolkit of a distribution, or None if it is not a toolkit of the Arcade system."""
    if not _is_of_system(distribution):
        return None
    toolkit = InstalledToolkit(distribution, _normal(distribution.name))
    return toolkit if next(toolkit.modules(), None) else None


def _is_of_system(distribution: importlib_metadata.Distribution) -> bool:
    """Return True if a distribution requires the Arcade system, and is not a part of it."""
    # the requirements first: the name of each distribution would be read by parsing its metadata
    return not FRAMEWORKS.isdisjoint(_required(distribution)) and _normal(distribution.name) not in SYSTEM


def _required(distribution: importlib_metadata.Distribution) -> Iterator[str]:
    """Yield the names of the distributions that a distribution requires without an extra."""
    text = distribution.read_text("METADATA") or ""
    if "arcade" not in text.lower():  # most distributions
        return
    for requirement in distribution.requires or ():
        match = _REQUIREMENT.match(requirement)
        if match and "extra" not in (match[2] or ""):
            yield _normal(match[1])


def _with_libraries(distribution: importlib_metadata.Distribution) -> list[importlib_metadata.Distribution]:
    """Return a distribution, and its direct and indirect requirements that require the Arcade system, too."""
    parts = {_normal(distribution.name): distribution}
    for part in (queue := [distribution]):
        for name in set(_required(part)) - parts.keys():
            try:
                library = importlib_metadata.Distribution.from_name(name)
            except importlib_metadata.PackageNotFoundError:
                continue
            if _is_of_system(library):
                parts[name] = library
                queue.append(library)
    return list(parts.values())


def _normal(name: str | None) -> str:
    return re.sub(r"[-_.]+", "-", name or "").strip("- ").lower()
