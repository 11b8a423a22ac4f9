"""Files with suites of evaluations."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

_IGNORED = {"venv", "env", "node_modules", "__pycache__", "build", "dist", "site-packages", "htmlcov"}


def suite_files(folder: Path) -> Iterator[Path]:
    """Yield the files `eval_*.py` in a folder and in the folders in it, without environments and builds."""
    for file in sorted(folder.rglob("eval_*.py")):
        folders = file.relative_to(folder).parts[:-1]
        if file.is_file() and not any(name in _IGNORED or name.startswith(".") for name in folders):
            yield file


def suites_that_name(tools: Collection[str], folder: Path) -> list[Path]:
    """Return the suites in a folder that name one of some tools or functions, with any separators, in their code."""
    names = {_plain(name) for name in tools}
    return [file for file in suite_files(folder) if names & _names_in(file)] if names else []


def _names_in(file: Path) -> set[str]:
    try:
        nodes = [*ast.walk(ast.parse(file.read_bytes()))]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    words = (getattr(node, field, None) for node in nodes for field in ("id", "attr", "name", "value"))
    return {_plain(word) for word in words if isinstance(word, str)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())
