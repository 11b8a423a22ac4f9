"""The state directory of commands that tests start, and tests that cannot run on this system or without a feature."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.structure.sources import ROOT, imports
from tests.support.command_line import bare, pegboard

__all__ = ["bare", "pegboard"]
"""Fixtures of the tests of commands."""

collect_ignore: list[str] = []
if not hasattr(os, "fork"):
    # they import names of modules that are skipped without fork
    collect_ignore += ["plugins/auth/scopes/test_over_http.py", "plugins/auth/static_tokens/test_static_tokens.py"]
    collect_ignore += ["plugins/servers/upstreams/test_questions.py", "secrecy/test_canaries.py"]
    # they need Unix sockets, or toolkit-files
    collect_ignore += [
        "pegboard_testing/contracts/test_transport_contract.py",
        "plugins/transports/stdio/test_output.py",
    ]
    collect_ignore += ["docs/test_reference.py"]
_state = TemporaryDirectory(prefix="pegboard-state-")


def pytest_configure() -> None:
    """Keep commands that inherit the environment from the state directory of the person who runs the tests."""
    os.environ["PEGBOARD_STATE_DIR"] = _state.name


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that import a part which `tools.without` has removed."""
    if "PEGBOARD_WITHOUT" not in os.environ or collection_path.suffix != ".py":
        return None
    ours = ("pegboard_", "tests.")
    names = [found.module for found in imports(collection_path.read_text("utf-8")) if found.module.startswith(ours)]
    return True if any(not _exists(name) for name in names) else None


def _exists(module: str) -> bool:
    folder = ROOT if module.startswith("tests.") else ROOT / "plugins"
    path = folder.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need an absent feature."""
    features = {path.name for path in (ROOT / "plugins").glob("pegboard_plugins/*/*")}
    features |= {path.name for path in (ROOT / "plugins").iterdir()}
    for item in items:
        absent = {name for mark in item.iter_markers("needs") for name in mark.args} - features
        if absent:
            item.add_marker(pytest.mark.skip(f"{', '.join(sorted(absent))} is removed"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip tests that read /proc where it does not exist."""
    try:
        return (yield)
    except FileNotFoundError as error:
        if sys.platform != "linux" and str(error.filename).startswith("/proc"):
            pytest.skip("it reads /proc, which only Linux has")
        raise
