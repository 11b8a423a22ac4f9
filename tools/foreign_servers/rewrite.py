"""Changes the imports of a server, as the migration page tells authors to do."""

from __future__ import annotations

import ast
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

COMPAT = "pegboard_plugins.compat.fastmcp"
ARCADE = "pegboard_plugins.compat.arcade"
OFFICIAL = "pegboard_plugins.compat.mcp"
_TYPES = ("mcp.types", "mcp_types")
_OTHERS = (
    "mcp.server.auth.provider", "mcp.server.auth.settings", "mcp.server.caching",
    "mcp.server.lowlevel.helper_types", "mcp.server.session",
    "mcp.server.transport_security", "mcp.shared.exceptions",
)  # fmt: skip
_OFFICIAL = ("mcp.server.fastmcp", "mcp.server.mcpserver")
_NAMES = {"FastMCP", "MCPServer", "MCPError", "McpError", "ServerSession"}
"""The names that compat.mcp has and that the official SDK exports from `mcp` and `mcp.server`."""


def changed(source: str) -> str:
    """Return a server with changed imports. Imports without a counterpart stay."""
    return ast.unparse(ast.fix_missing_locations(_Imports().visit(ast.parse(source))))


def other_imports(file: Path) -> list[str]:
    """Return the modules outside of the standard library and of its folders that a changed server imports."""
    folders = (file.parent, file.parent.parent)
    near = {path.stem for folder in folders for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    available = {
        "httpx",
        "pegboard",
        "pegboard_plugins",
        "pydantic",
        "typing_extensions",
        *sys.stdlib_module_names,
        *near,
    }
    imported = {
        name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    return sorted(name for name in imported if name.partition(".")[0] not in available)


def _counterpart(module: str) -> str | None:
    top, _, rest = module.partition(".")
    if top in ("arcade_core", "arcade_mcp_server", "arcade_tdk"):
        return _nearest(f"{ARCADE}.{rest}" if rest else ARCADE)
    if module.startswith(_TYPES):
        return f"{COMPAT}.types"
    if module in _OTHERS:
        return OFFICIAL
    for start in _OFFICIAL:
        if f"{module}.".startswith(f"{start}."):
            place = _nearest(COMPAT + module.removeprefix(start))
            return OFFICIAL if place == COMPAT else place
    return _nearest(COMPAT + module.removeprefix("fastmcp")) if top == "fastmcp" else None


def _nearest(module: str) -> str:
    """Return a module that exists, else the nearest package around it."""
    while True:
        with suppress(ModuleNotFoundError):
            if find_spec(module) is not None:
                return module
        module = module.rpartition(".")[0]


class _Imports(ast.NodeTransformer):
    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        module = node.module or ""
        if (counterpart := _counterpart(module)) is not None:
            has_base = any(alias.name == "base" for alias in node.names)
            node.module = COMPAT if has_base else counterpart
            node.names = [ast.alias("prompts", "base") if alias.name == "base" else alias for alias in node.names]
        elif module in ("mcp", "mcp.server") and {alias.name for alias in node.names} <= {*_NAMES, "types"}:
            node.module = OFFICIAL
        return node

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for alias in node.names:
            if (counterpart := _counterpart(alias.name)) and (alias.asname or "." not in alias.name):
                alias.name, alias.asname = counterpart, alias.asname or alias.name
        return node
