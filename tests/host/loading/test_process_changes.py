"""Changes of the process by a plugin that is loaded."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

import pytest

from pegboard.loading.process_changes import watch_process
from pegboard.plugin import Plugin, hookimpl
from pegboard_testing import connect


def changes(action: Callable[[], object]) -> list[str]:
    changed: list[str] = []
    with watch_process(changed):
        action()
    return changed


def test_a_closed_or_replaced_standard_descriptor_is_named() -> None:
    spare = os.dup(0)
    with open(os.devnull, "rb") as null, open(__file__, "rb") as other:
        try:
            assert changes(lambda: os.close(0)) == ["the standard descriptors"]
            os.dup2(null.fileno(), 0)
            assert changes(lambda: os.dup2(other.fileno(), 0)) == ["the standard descriptors"]
        finally:
            os.dup2(spare, 0)
            os.close(spare)


def test_undone_changes_and_other_loggers_are_not_named() -> None:
    def action() -> None:
        place = os.getcwd()
        os.chdir("/")
        os.chdir(place)
        logging.getLogger("sample").setLevel(logging.DEBUG)
        print("printed")

    assert changes(action) == []


async def test_a_test_logs_the_changes_of_its_plugins(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Meddler(Plugin):
        @hookimpl
        def register_middleware(self) -> list[object]:
            monkeypatch.syspath_prepend("/")
            return []

    async with connect(Meddler):
        pass
    assert "it changed the process while it was loaded: sys.path" in caplog.text
