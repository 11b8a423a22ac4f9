"""What docs/context.md shows is what happens, and it names everything that a Context has."""

from __future__ import annotations

from pathlib import Path

from pegboard import Context
from pegboard.context.log import Log
from tests.docs.pages import Page
from tests.support.distributions import make_distribution
from tests.support.pool import CONFIG
from tests.support.wire import Wire

PAGE = Page("docs/context.md")
FOR_THE_HOST = {"clock", "waits_for_client", "asked", "close"}
OTHER_NAMES = {"tool": "name", "input": "arguments"}


async def test_a_session_receives_the_notifications_of_the_toolkit(tmp_path: Path) -> None:
    groups = {"pegboard.toolkits": {"errands": "toolkit_errands:kit"}}
    make_distribution(tmp_path, "errands", "1", groups, PAGE.files)
    async with Wire(config=CONFIG, site=tmp_path) as wire:
        await wire.initialize()
        await wire.result("resources/subscribe", {"uri": "errands://all"})
        await wire.result("logging/setLevel", {"level": "info"})
        params = {"name": "errands_add_many", "arguments": {"what": ["bread", "milk"]}, "_meta": {"progressToken": 1}}
        assert (await wire.result("tools/call", params))["content"][0]["text"] == "2"
        received = [await wire.receive() for _ in range(5)]
        logged = {"message": "one more errand", "waiting": 1}
        assert logged in [notification["params"].get("data") for notification in received]
        sent = [notification["params"] for notification in received]
        assert [params["message"] for params in sent if "progressToken" in params] == ["bread", "milk"]
        updated = [notification["params"] for notification in received if notification["method"].endswith("updated")]
        assert updated == [{"uri": "errands://all"}]
        (message,) = (await wire.result("prompts/get", {"name": "errands_plan"}))["messages"]
        assert message["content"]["text"] == 'Put this in a good order: ["bread","milk"]'


def test_everything_that_a_context_has_is_named() -> None:
    names = {name for name in dir(Context) if not name.startswith("_")} - FOR_THE_HOST - OTHER_NAMES.keys()
    assert {name for name in names if f"`context.{name}" not in PAGE and f"await context.{name}" not in PAGE} == set()
    assert {
        name for name in dir(Log) if not name.startswith("_") and f"`{name}" not in PAGE and f".{name}(" not in PAGE
    } == set()
