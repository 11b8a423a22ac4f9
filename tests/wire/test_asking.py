"""Calls that ask their client and tell it things, over standard streams (sections 4 and 7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pool import ASKING, CONFIG, make_asking_site
from tests.support.schemas import LEGACY
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESULT = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}


@pytest.fixture(scope="session")
def asking_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_asking_site(tmp_path_factory.mktemp("asking"))


def asking(site: Path) -> Wire:
    return Wire(config=CONFIG + ASKING, site=site)


async def asks(wire: Wire, **arguments: Any) -> tuple[Any, Any]:
    """Begin a call that asks; its id, and what it asks."""
    request_id = await wire.begin("tools/call", {"name": "asking_ask", "arguments": arguments})
    return request_id, await wire.receive()


def value(answer: Any) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])


async def answer(wire: Wire, request_id: Any, **members: Any) -> None:
    await wire.send({"jsonrpc": "2.0", "id": request_id, **members})


@pytest.mark.requirement("UTIL-07")
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_call_asks_and_goes_on(asking_site: Path, revision: str) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize(revision, capabilities={"sampling": {}})
        call, question = await asks(wire)
        assert question["method"] == "sampling/createMessage"
        assert (await wire.call("fixture_echo", text="x"))["content"][0]["text"] == "x"  # others go on meanwhile
        for wrong in (str(question["id"]), question["id"] + 1, float(question["id"]), None, True, [1]):
            await answer(wire, wrong, result={"model": "forged"})
        await answer(wire, question["id"], result=RESULT)
        await answer(wire, question["id"], result={"model": "too late"})
        assert value(await wire.answer(call)) == {"answers": [{"result": RESULT, "heard": []}]}
        assert await wire.settle() == []


async def test_an_answer_that_is_too_long_fails_the_call_that_waits_for_it(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize(capabilities={"sampling": {}})
        call, question = await asks(wire)
        await answer(wire, question["id"], result=RESULT | {"model": "x" * 11_000_000})
        assert "[plugins.stdio] max_message_bytes" in json.dumps(await wire.answer(call))
        assert await wire.settle() == []


@pytest.mark.requirement("ERA-23")
async def test_time_runs_out_and_calls_are_cancelled(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize()
        call, question = await asks(wire, timeout=0.05)
        told = await wire.receive()
        assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", question["id"])
        assert value(await wire.answer(call))["answers"][0]["error"][0] == "ClientTimeoutError"
        call, question = await asks(wire, label="taken-back")
        await wire.notify("notifications/cancelled", {"requestId": call})
        (told,) = await wire.settle()
        assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", question["id"])
        await answer(wire, question["id"], result=RESULT)
        assert await wire.settle() == []
        assert value({"result": await wire.call("asking_ended")}) == ["taken-back"]


@pytest.mark.requirement("UTIL-15")
async def test_progress_is_heard(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize()
        call, question = await asks(wire, progress=True)
        token = question["params"]["_meta"]["progressToken"]
        await wire.notify("notifications/progress", {"progressToken": token, "progress": 0.5, "total": 1})
        await answer(wire, question["id"], error={"code": -1, "message": "no"})
        assert value(await wire.answer(call))["answers"][0] == {
            "error": ["ClientError", "no", -1, None],
            "heard": [[0.5, 1, None]],
        }


async def test_a_batch_may_hold_answers(asking_site: Path) -> None:
    """2025-03-26: a batch of responses is taken, and a call of a batch may ask."""
    async with asking(asking_site) as wire:
        await wire.initialize("2025-03-26")
        call, question = await asks(wire)
        await wire.send([{"jsonrpc": "2.0", "id": question["id"], "result": RESULT}])
        assert value(await wire.answer(call))["answers"][0]["result"] == RESULT


@pytest.mark.requirement("STDIO-04")
async def test_the_modern_era_asks_nothing(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize()
        params = {"name": "asking_reach", "arguments": {}}
        assert value(await wire.request("tools/call", params, modern=True)) == {"notify": False, "ask": False}
        assert value(await wire.request("tools/call", params, modern=False)) == {"notify": True, "ask": True}


async def test_the_end_of_input_ends_what_is_asked(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize()
        await asks(wire, many=3)
    assert wire.exit_code == 1  # the call is dropped
    assert "1 call in flight" in wire.stderr


@pytest.mark.requirement("UTIL-17", "UTIL-19", "UTIL-20")
async def test_the_log_goes_by_its_level(asking_site: Path) -> None:
    levels = ("debug", "info", "error")
    logs = [["notifications/message", {"level": level, "data": level}] for level in levels]
    async with asking(asking_site) as wire:
        await wire.initialize()
        await wire.call("asking_tell", notifications=logs)
        assert [one["params"]["data"] for one in await wire.settle()] == ["info", "error"]
        assert await wire.result("logging/setLevel", {"level": "error"}) == {}
        await wire.call("asking_tell", notifications=logs)
        assert [one["params"]["data"] for one in await wire.settle()] == ["error"]
        assert (await wire.error("logging/setLevel", {"level": "loud"}))["code"] == -32602
        assert (await wire.error("logging/setLevel", {"level": "info"}, modern=True))["code"] == -32601
        meta = {"_meta": {"io.modelcontextprotocol/logLevel": "debug"}}
        params = {"name": "asking_tell", "arguments": {"notifications": logs}}
        await wire.result("tools/call", params | meta, modern=True)
        assert [one["params"]["data"] for one in await wire.settle()] == ["debug", "info", "error"]
        await wire.result("tools/call", params, modern=True)
        assert await wire.settle() == []
