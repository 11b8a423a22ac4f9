"""The page about running: its toolkit does what the page says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pegboard.plugin import ToolTimeoutError
from tests.docs.pages import Page
from tests.host.hosting import failure, make_host, until

PAGE = Page("docs/concurrency.md")


async def test_the_toolkit_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    async with make_host(import_module("slow_kit").kit) as host:
        for tool in ("slow_wait", "slow_count"):
            outcome = await failure(host, tool)
            assert type(outcome.error) is ToolTimeoutError
            assert outcome.error.message == "It took longer than 0.1 seconds and was given up."
            assert outcome.error.message in PAGE
        await until(lambda: host.busy_threads == 0)
