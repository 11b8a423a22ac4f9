"""The samples are small, and installed without the checkout."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.host.loading.third_party.installed import SAMPLES, samples, twins
from tests.support.environments import executable, run
from tools.install import ROOT


def test_a_transport_takes_about_forty_lines() -> None:
    tree = ast.parse((SAMPLES / "acme_unix" / "acme_unix" / "__init__.py").read_text("utf-8"))
    docstrings = [
        node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    lines = {line for node in ast.walk(tree) if isinstance(node, ast.stmt) for line in (node.lineno, node.end_lineno)}
    assert len(lines - {node.lineno for node in docstrings}) <= 45


@pytest.mark.parametrize("environment", [samples, twins], ids=lambda environment: environment.__name__)
def test_the_checkout_is_not_on_the_path(environment: object) -> None:
    place = environment()  # type: ignore[operator]  # one of the two functions
    code = "import json, sys, pegboard, pegboard_plugins; "
    code += "print(json.dumps([pegboard.__file__, pegboard_plugins.__file__, *sys.path]))"
    for path in json.loads(run(executable(place), "-c", code, cwd=Path("/"))):
        assert ROOT not in Path(path).parents or place in Path(path).parents
