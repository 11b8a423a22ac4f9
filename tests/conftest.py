"""The settings of all tests, and tests that cannot run on this system or without a feature."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from tests.structure.sources import ROOT
from tests.support.absent import needs_absent
from tests.support.command_line import bare, pegboard

settings.register_profile("pegboard", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pegboard")  # a busy machine is no failure

__all__ = ["bare", "pegboard"]
"""Fixtures of the tests of commands."""

collect_ignore: list[str] = []
if not hasattr(os, "fork"):
    # they import names of modules that are skipped without fork
    collect_ignore += ["plugins/auth/scopes/test_over_http.py"]
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
    """Leave out modules, and folders with a conftest.py, that import a part which `tools.without` has removed."""
    module = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    if "PEGBOARD_WITHOUT" not in os.environ or module.suffix != ".py" or not module.is_file():
        return None
    return True if needs_absent(module) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need an absent feature."""
    plugins = ROOT / "plugins"
    features = {
        path.name for depth in ("*", "pegboard_plugins/*", "pegboard_plugins/*/*") for path in plugins.glob(depth)
    }
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
