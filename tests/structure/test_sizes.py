"""Small functions and small files, except generated ones. The limits are wide: ruff limits the complexity."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.install import ROOT

MODULE_LINES = 600
FUNCTION_LINES = 60

GENERATED = "plugins/pegboard_messages/v2*.py"
"""The typed messages that tools/message_types.py writes: their length is that of the official schemas."""


def modules() -> list[Path]:
    paths = [path for room in ("host", "plugins", "toolkits") for path in ROOT.glob(f"{room}/**/*.py")]
    relative = sorted(path.relative_to(ROOT) for path in paths)
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
    assert [line for path in modules() for line in too_long(path, (ROOT / path).read_text())] == []
    assert {path.parts[0] for path in modules()} == {"host", "plugins", "toolkits"}
    function = "class Tool:\n    async def long(self):\n" + "        pass\n" * MODULE_LINES
    assert len(list(too_long(Path("a.py"), function))) == 2
