"""A stranger's middleware hears what clients send, in both eras: requests, nested calls and notifications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.audit import make_audit_site
from tests.support.pool import CONFIG as HOST
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

NEWEST = (LEGACY[0], LEGACY[-1], MODERN[-1])
CONFIG = HOST + '\n[plugins.acme_audit]\nstopped = ["audit_nested"]\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_audit_site(tmp_path_factory.mktemp("audit"))


async def opened(wire: Wire, revision: str) -> None:
    wire.modern = revision in MODERN
    if not wire.modern:
        await wire.initialize(revision)


async def trail(wire: Wire) -> list[str]:
    lines: list[str] = json.loads((await wire.call("audit_trail"))["content"][0]["text"])
    return lines


@pytest.mark.parametrize("revision", NEWEST)
async def test_it_sees_requests_and_nested_calls(site: Path, revision: str) -> None:
    async with Wire(config=HOST + "\n[plugins.acme_audit]\n", site=site) as wire:
        await opened(wire, revision)
        await wire.result("tools/list")
        assert (await wire.call("audit_nested"))["isError"] is False
        assert (await wire.error("tools/call", {"name": "made_up", "arguments": {}}))["code"] == -32602
        lines = [line for line in await trail(wire) if not line.startswith("notifications/")]
    assert lines == [
        "tools/list",
        "tools/call audit_nested",
        lines[2],
        "tools/call made_up",
        "tools/call made_up: NotFoundError",
        "tools/call audit_trail",
    ]
    assert lines[2].startswith("tools/call audit_")
    assert lines[2].endswith(" audit_trail")


@pytest.mark.parametrize("revision", NEWEST)
async def test_it_may_refuse(site: Path, revision: str) -> None:
    async with Wire(config=CONFIG, site=site) as wire:
        await opened(wire, revision)
        refused = await wire.call("audit_nested")
    assert refused["isError"] is True
    assert refused["content"][0]["text"] == "This tool has been stopped."
    assert refused["_meta"]["pegboard/error"]["kind"] == "TOOL_RUNTIME_FATAL"


@pytest.mark.parametrize("revision", NEWEST)
async def test_it_hears_notifications_and_changes_nothing_of_what_they_do(site: Path, revision: str) -> None:
    async with Wire(config=CONFIG, site=site) as wire:
        await opened(wire, revision)
        sent = ["notifications/cancelled", "notifications/progress"]
        await wire.notify("notifications/cancelled", {"requestId": 999, "reason": "test"})
        await wire.notify("notifications/progress", {"progressToken": 999, "progress": 1})
        if not wire.modern:
            sent.append("notifications/roots/list_changed")
            await wire.notify("notifications/roots/list_changed")
        await wire.notify("notifications/made/up")
        heard = [line for line in await trail(wire) if line.startswith("notifications/")]
    assert heard == ([] if wire.modern else ["notifications/initialized"]) + sent
