"""The state directory and the person of tests of logins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.person import Person


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory of the test."""
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
async def person() -> AsyncIterator[Person]:
    async with Person() as user:
        yield user
