"""Reports of progress: some at once, then the latest in each interval, and the last before the end."""

from __future__ import annotations

import asyncio
import json

import pytest

from pegboard_plugins.mcp import progress_reports
from pegboard_plugins.mcp.progress_reports import MAX_BURST_REPORTS, ProgressReports


class Client:
    """A channel that records sent reports."""

    progress: ProgressReports | None = None
    open = True

    def __init__(self) -> None:
        self.heard: list[float] = []
        self.kept: list[float] = []
        self.news = asyncio.Event()

    def send(self, message: bytes, *, keep: bool = False) -> None:
        params = json.loads(message)["params"]
        assert params["progressToken"] == "token"
        (self.kept if keep else self.heard).append(params["progress"])
        self.news.set()


def report(reports: ProgressReports, steps: range) -> None:
    for step in steps:
        reports.report({"progress": step})


@pytest.mark.requirement("UTIL-14")
async def test_a_flood_is_some_reports_and_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_reports, "PROGRESS_INTERVAL_SECONDS", 3600)
    client = Client()
    reports = ProgressReports("token", client)
    await asyncio.to_thread(report, reports, range(1000))
    assert (client.heard, client.kept, reports.used) == (list(range(MAX_BURST_REPORTS)), [], True)
    for _ in range(2):
        reports.end()
        reports.report({"progress": 1000})
    assert (client.heard, client.kept) == (list(range(MAX_BURST_REPORTS)), [999])


async def test_the_latest_goes_out_in_each_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_reports, "PROGRESS_INTERVAL_SECONDS", 0.001)
    client = Client()
    reports = ProgressReports("token", client)
    for step in range(0, 300, 100):
        report(reports, range(step, step + 100))
        async with asyncio.timeout(10):
            while client.heard[-1] < step + 99:
                client.news.clear()
                await client.news.wait()
    assert client.heard == sorted(set(client.heard))
    reports.end()
    assert client.kept == []
