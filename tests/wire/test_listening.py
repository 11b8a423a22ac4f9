"""What a subscription is promised: no more than there is (2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.pool import CONFIG, GROWING, make_growing_site
from tests.support.wire import Wire

ID = "io.modelcontextprotocol/subscriptionId"
WANTED: dict[str, Any] = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["x://a"],
}


@pytest.mark.requirement("LISTEN-04")
async def test_what_is_not_there_is_not_promised(tmp_path: Path) -> None:
    async with Wire(config=CONFIG + GROWING, site=make_growing_site(tmp_path)) as wire:
        wire.modern = True
        await wire.begin("subscriptions/listen", {"notifications": WANTED}, id=0)
        acknowledged = (await wire.receive())["params"]
        assert acknowledged == {"_meta": {ID: 0}, "notifications": {"toolsListChanged": True}}
        await wire.call("grow", kind="resources", names=["x://a"])
        await wire.begin("subscriptions/listen", {"notifications": WANTED}, id="0")
        acknowledged = (await wire.receive())["params"]
        assert acknowledged["notifications"] == {
            "toolsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": ["x://a"],
        }
