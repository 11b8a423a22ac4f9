"""The page about running: its toolkit does what the page says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pegboard.calls import deadlines, threads
from pegboard.config import HostSection
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


def test_the_numbers_of_the_page() -> None:
    defaults = {name: field.default for name, field in HostSection.model_fields.items()}
    assert f"{defaults['tool_timeout']} seconds unless set" in PAGE
    assert f"threads, {defaults['threads']} unless set" in PAGE
    assert f"{defaults['max_result_bytes'] // 1024 // 1024} MiB unless set" in PAGE
    assert f"`[host] blocked_loop_seconds`, {defaults['blocked_loop_seconds']}\nunless set" in PAGE
    assert (deadlines.MAX_CLEANUP_SECONDS, threads.LONG_WAIT_SECONDS) == (2, 5)
    assert "has two seconds to clean up" in PAGE.words
    assert "more than five seconds" in PAGE
