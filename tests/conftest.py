"""What all tests share: the count of what the recorder has seen, told at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.recorder import RECORDED

_of_workers: Counter[str] = Counter()
_state = TemporaryDirectory(prefix="pegboard-state-")


def pytest_configure() -> None:
    """Keep commands that inherit the environment from the state directory of the person who runs the tests."""
    os.environ["PEGBOARD_STATE_DIR"] = _state.name


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the count of a worker process (pytest-xdist) to the process that reports."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["recorded"] = dict(RECORDED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take it over from a worker that is done."""
    _of_workers.update(getattr(node, "workeroutput", {}).get("recorded", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many messages of the host were held against the official schemas."""
    total = RECORDED + _of_workers
    if total:
        by_revision = ", ".join(f"{revision}: {count}" for revision, count in sorted(total.items()))
        terminalreporter.write_line(
            f"recorder: {total.total()} messages held against the official schemas ({by_revision})"
        )
