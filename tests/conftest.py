"""The state directory of commands that tests start, and tests that cannot run on this system."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from tempfile import TemporaryDirectory

import pytest

from tests.support.command_line import bare, pegboard

__all__ = ["bare", "pegboard"]
"""Fixtures of the tests of commands."""

collect_ignore: list[str] = []
if not hasattr(os, "fork"):
    # they import names of modules that are skipped without fork
    collect_ignore += ["plugins/scopes/test_over_http.py", "plugins/static_tokens/test_static_tokens.py"]
    collect_ignore += ["plugins/upstreams/test_questions.py", "secrecy/test_canaries.py"]
    # they need Unix sockets, or toolkit-files
    collect_ignore += ["pegboard_testing/contracts/test_transport_contract.py", "plugins/stdio/test_output.py"]
    collect_ignore += ["docs/test_reference.py"]
_state = TemporaryDirectory(prefix="pegboard-state-")


def pytest_configure() -> None:
    """Keep commands that inherit the environment from the state directory of the person who runs the tests."""
    os.environ["PEGBOARD_STATE_DIR"] = _state.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip tests that read /proc where it does not exist."""
    try:
        return (yield)
    except FileNotFoundError as error:
        if sys.platform != "linux" and str(error.filename).startswith("/proc"):
            pytest.skip("it reads /proc, which only Linux has")
        raise
