"""Changes the code in small ways, one at a time, and lists the changes that no test detects. It is not part of any run.

python -m tools.mutate TREE [MODULE ...]

TREE is another checkout with an environment (`git worktree add TREE`, then `make -C TREE install`): its modules are
overwritten and restored. MODULE is one of TARGETS; without any, all of them. A survivor is a line on standard output:
the module, the line and the change.
"""

from __future__ import annotations

import ast
import copy
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

MCP = "plugins/pegboard_plugins/protocols/mcp"
TARGETS: dict[str, tuple[str, list[str]]] = {
    "codec": (
        "host/pegboard/wire/codec.py",
        ["host/wire/test_codec", "protocol/test_messages"],
    ),
    "pages": (
        "host/pegboard/catalogue/pages.py",
        [
            "host/catalogue/test_registry",
            "protocol/test_lists",
            "protocol/http/test_edge",
        ],
    ),
    "chain": (
        "host/pegboard/middleware/chain.py",
        ["host/middleware/test_hooks", "host/middleware/test_misuse", "host/middleware/test_views"],
    ),
    "views": (
        "host/pegboard/catalogue/lists.py",
        ["host/middleware/test_views", "host/middleware/test_inventory"],
    ),
    "lists": (
        "host/pegboard/catalogue/lists.py",
        ["host/authorization/test_scoped_lists", "host/middleware/test_views", "host/catalogue/test_registry"],
    ),
    "inventory": ("host/pegboard/catalogue/assembly.py", ["host/middleware/test_inventory"]),
    "middleware": ("host/pegboard/middleware/gate.py", ["host/middleware/test_views", "host/middleware/test_hooks"]),
    "http.authority": (
        "plugins/pegboard_plugins/transports/http/authority.py",
        ["plugins/transports/http/test_authority"],
    ),
    "rate_limit": (
        "plugins/pegboard_plugins/operation/rate_limit/__init__.py",
        ["plugins/operation/rate_limit/test_limits", "plugins/protocols/worker/test_changes"],
    ),
    "scopes": ("plugins/pegboard_plugins/auth/scopes/__init__.py", ["plugins/auth/scopes/test_rules"]),
    "bearer": ("plugins/pegboard_plugins/support/bearer.py", ["plugins/support/test_bearer"]),
    "routing": (
        "host/pegboard/routing/router.py",
        [
            "host/routing/test_router",
            "plugins/auth/resource_server/test_scopes",
            "host/test_hooks",
            "protocol/http/test_edge",
        ],
    ),
    "worker.jwt_authenticator": (
        "plugins/pegboard_plugins/protocols/worker/jwt_authenticator.py",
        ["plugins/protocols/worker/test_jwt_authenticator"],
    ),
    "worker.value_schema": (
        "plugins/pegboard_plugins/protocols/worker/value_schema.py",
        ["plugins/protocols/worker/test_value_schema"],
    ),
    **{
        f"worker.{name}": (
            f"plugins/pegboard_plugins/protocols/worker/{name}.py",
            [f"plugins/protocols/worker/test_{tests}" for tests in ("captures", "handlers", "changes")],
        )
        for name in ("call_responses", "handlers", "request_bodies", "tool_definitions")
    },
    "fair_limit": ("plugins/pegboard_plugins/support/fair_limit.py", ["plugins/support/test_fair_limit"]),
    "auth_token": ("plugins/pegboard_plugins/auth/auth_token/__init__.py", ["plugins/auth/auth_token/test_auth_token"]),
    **{
        f"resource_server.{name}": (
            f"plugins/pegboard_plugins/auth/resource_server/{name}.py",
            [f"plugins/auth/resource_server/test_{test}" for test in tests.split()],
        )
        for name, tests in {
            "claims": "token_authenticator introspection jwt_verifier scopes",
            "conversions": "settings introspection",
            "documents": "settings keys introspection",
            "introspection": "introspection",
            "jwt_verifier": "token_authenticator keys jwt_verifier",
            "keys": "token_authenticator keys jwt_verifier",
            "settings": "settings introspection",
            "token_authenticator": "token_authenticator introspection jwt_verifier callers",
        }.items()
    },
    "jsonrpc_messages": (
        f"{MCP}/jsonrpc_messages.py",
        ["protocol/test_messages"],
    ),
    "stateless": (
        f"{MCP}/stateless.py",
        ["protocol/test_eras", "protocol/http/test_headers", "protocol/test_asking"],
    ),
    "headers": (
        f"{MCP}/headers.py",
        [
            "protocol/http/test_headers",
            "protocol/http/test_routing",
            "protocol/http/test_sessions",
            "protocol/test_extensions",
        ],
    ),
    "mirrored_arguments": (
        f"{MCP}/mirrored_arguments.py",
        ["protocol/http/test_headers", "plugins/protocols/mcp/test_mirrored_arguments"],
    ),
    "sealing": (f"{MCP}/sealing.py", ["protocol/test_rounds"]),
    "round_trips": (f"{MCP}/round_trips.py", ["protocol/test_rounds"]),
    "media_types": (f"{MCP}/media_types.py", ["protocol/http/test_routing"]),
    "message_stream": (
        f"{MCP}/message_stream.py",
        [
            "protocol/test_messages",
            "protocol/test_eras",
            "protocol/test_progress",
            "protocol/test_asking",
            "protocol/test_notifications",
            "protocol/stdio/test_channel",
            "protocol/stdio/test_end",
            "protocol/test_extensions",
        ],
    ),
    "streamable_http": (
        f"{MCP}/streamable_http.py",
        [
            "protocol/http/test_headers",
            "protocol/http/test_routing",
            "protocol/test_messages",
            "protocol/test_eras",
            "protocol/test_progress",
            "protocol/http/test_streams",
            "protocol/test_notifications",
            "protocol/test_asking",
            "protocol/test_extensions",
            "protocol/test_rounds",
        ],
    ),
}
"""Module -> its file, and the tests that are to notice."""

SECONDS = 300
"""For how long the tests may run; a hang is noticed, too."""

SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    """A change of a module: the line, the change, and the changed text of the module."""

    line: int
    what: str
    text: str


Change = tuple[str, Callable[[ast.AST], ast.AST | None]]


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(source)
    skipped = _skipped(tree)
    nodes = list(ast.walk(tree))
    for place, node in enumerate(nodes):
        if node in skipped:
            continue
        for what, change in _changes(node):
            broken = copy.deepcopy(tree)
            target = list(ast.walk(broken))[place]
            _replace(broken, target, change(target))
            yield Mutant(getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(broken)))


def _skipped(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes without behaviour: imports, annotations, docstrings, and texts of errors and logs."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        whole: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            whole = [node.annotation]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            whole = [node.returns, *node.decorator_list]
        elif _says_nothing(node):
            whole = [node]
        skipped |= {inner for part in whole if part is not None for inner in ast.walk(part)}
    return skipped


def _says_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).startswith("logger.")
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "Literal"
    return isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        other = SWAPS[type(node.ops[0])]
        yield f"{ast.unparse(node)} -> {other.__name__}", lambda target: _set(target, ops=[other()])
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield (
            f"not {ast.unparse(node.test)}",
            lambda target: _set(target, test=ast.UnaryOp(ast.Not(), target.test)),  # type: ignore[attr-defined]
        )
    if isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{ast.unparse(node)} -> {type(other_op).__name__}", lambda target: _set(target, op=other_op)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"{ast.unparse(node)} without not", lambda target: target.operand  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant):
        yield from _constants(node)
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield f"{ast.unparse(node)} -> None", lambda target: _set(target, value=ast.Constant(None))
    if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Delete | ast.Continue | ast.Break):
        yield f"without {ast.unparse(node)}", lambda target: ast.Pass()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
        yield f"without {ast.unparse(node)}", lambda target: ast.Pass()


def _constants(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", lambda target: ast.Constant(not value)
    elif isinstance(value, int | float):
        yield f"{value} -> {value + 1}", lambda target: ast.Constant(value + 1)
        if value > 1:
            yield f"{value} -> {value - 1}", lambda target: ast.Constant(value - 1)
    elif isinstance(value, str) and " " not in value:  # what has spaces is for people
        yield f"{value!r} -> {value + 'x'!r}", lambda target: ast.Constant(value + "x")
    elif isinstance(value, bytes):
        yield f"{value!r} -> {value + b'x'!r}", lambda target: ast.Constant(value + b"x")


def _set(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST | None) -> None:
    if new is old:
        return
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                setattr(parent, name, [new if item is old else item for item in value])


def noticed(tree: Path, tests: list[str]) -> bool:
    """Return True if the tests fail or hang."""
    command = [
        str(tree / ".venv/bin/python"),
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n0",
        "-p",
        "no:randomly",
        "--timeout",
        "30",
    ]
    paths = [f"tests/{test}.py" for test in tests]
    with subprocess.Popen(
        ["nice", *command, "-k", "not uvloop", *paths],
        cwd=tree,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(SECONDS) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # whatever it has started, too
            return True


def examine(tree: Path, name: str) -> None:
    """Print the survivors of one module, and how many mutants there were."""
    path, tests = tree / TARGETS[name][0], TARGETS[name][1]
    source = path.read_text("utf-8")
    if noticed(tree, tests):
        raise SystemExit(f"{name}: the tests fail as it is")
    began, survivors, count = time.monotonic(), 0, 0
    try:
        for mutant in mutants(source):
            count += 1
            path.write_text(mutant.text, "utf-8")
            if not noticed(tree, tests):
                survivors += 1
                print(f"{TARGETS[name][0]}:{mutant.line}: {mutant.what}", flush=True)
    finally:
        path.write_text(source, "utf-8")
    seconds = time.monotonic() - began
    print(f"# {name}: {survivors} of {count} mutants survived, {seconds:.0f} s", flush=True)


def main(arguments: list[str]) -> int:
    """Examine modules of a tree."""
    if not arguments or not set(arguments[1:]) <= TARGETS.keys():
        print(__doc__, file=sys.stderr)
        return 2
    for name in arguments[1:] or TARGETS:
        examine(Path(arguments[0]).resolve(), name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
