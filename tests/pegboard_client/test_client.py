"""The client and this host: every revision over HTTP, both eras over a message stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard.plugin import ProtocolError
from pegboard_client import Asked, Client, ServerTimeoutError
from tests.host.hosting import WAIT, until
from tests.pegboard_client.conftest import Connect
from tests.support.mcp_client import text_of
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def answer(question: Asked) -> dict[str, Any]:
    if question.method == "roots/list":
        return {"roots": [{"uri": "file:///mine"}]}
    if question.method == "elicitation/create":
        return {"action": "accept", "content": {"value": "Ann"}}
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}, "stopReason": "endTurn"}


@pytest.mark.parametrize("command", ["python x.py", "server.py", "localhost:8000/mcp", ""])
async def test_a_command_is_not_a_url(command: str) -> None:
    with pytest.raises(ValueError, match=r"must be a URL .* for a command, use Program\('python', \['server.py'\]\)"):
        Client(command)


async def test_it_reads_lists_tools_resources_and_prompts(connect: Connect) -> None:
    async with connect() as client:
        assert client.stateless is (client.revision in MODERN)
        assert client.server.capabilities.keys() >= {"tools", "resources", "prompts"}
        assert "fixture_echo" in [tool["name"] for tool in await client.tools()]
        assert "fixture://text" in [resource["uri"] for resource in await client.resources()]
        assert await client.templates() != []
        assert "fixture_review" in [prompt["name"] for prompt in await client.prompts()]
        assert text_of(await client.call("fixture_echo", {"text": "grüezi"})) == "grüezi"
        assert (await client.read("fixture://text"))["contents"][0]["text"] == "# A text\n"
        assert "review" in str(await client.prompt("fixture_review"))


async def test_an_error_response_is_a_protocol_error_with_its_data(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(ProtocolError) as caught:
            await client.read("x://unknown")
        assert caught.value.code == (-32602 if client.stateless else -32002)
        assert caught.value.data == {"uri": "x://unknown"}


async def test_it_answers_questions_with_the_function_of_the_client_or_of_the_request(connect: Connect) -> None:
    async def bob(question: Asked) -> dict[str, Any]:
        return {"action": "accept", "content": {"value": "Bob"}}

    async with connect(ask=answer) as client:
        assert "Paris" in text_of(await client.call("asks_sample"))
        if client.revision < "2025-06-18":
            return
        assert text_of(await client.call("asks_name")) == "Hello, Ann"
        assert text_of(await client.call("asks_name", ask=bob)) == "Hello, Bob"


async def test_without_a_function_it_declares_no_support_for_questions(connect: Connect) -> None:
    async with connect() as client:
        if client.stateless:
            with pytest.raises(ProtocolError, match="capability"):
                await client.call("asks_sample")
        else:
            assert "capability" in text_of(await client.call("asks_sample"))


async def test_roots_are_declared_and_returned(connect: Connect) -> None:
    async with connect(roots=["file:///mine"]) as client:
        assert "file:///mine" in text_of(await client.call("asks_roots"))


async def test_exchange_returns_the_questions_of_a_result_unanswered(connect: Connect) -> None:
    async with connect(ask=answer) as client:
        result = await client.exchange("tools/call", {"name": "asks_sample", "arguments": {}})
        assert (result.get("resultType") == "input_required") is client.stateless


async def test_progress_is_reported_and_extends_the_time(connect: Connect) -> None:
    reported: list[Any] = []
    async with connect() as client:
        await client.call("fixture_count", {"to": 3}, progress=reported.append)
        assert [report["progress"] for report in reported] == [1, 2, 3]


async def test_a_cancelled_wait_cancels_the_call_at_the_server(connect: Connect) -> None:
    begun = asyncio.Event()
    async with connect() as client:
        label = f"{client.revision} {id(client)}"
        wait = client.call("fixture_wait", {"label": label}, progress=lambda _: begun.set())
        task = asyncio.create_task(wait)
        async with asyncio.timeout(WAIT):
            await begun.wait()
            task.cancel()
            while label not in text_of(await client.call("fixture_cancelled")):
                pass
        assert task.cancelled()


async def test_a_call_without_response_times_out_and_is_cancelled(connect: Connect) -> None:
    async with connect() as client:
        label = f"late {client.revision} {id(client)}"
        with pytest.raises(ServerTimeoutError, match="did not respond to tools/call in time"):
            await client.call("fixture_wait", {"label": label}, timeout=0.3)
        async with asyncio.timeout(WAIT):
            while label not in text_of(await client.call("fixture_cancelled")):
                pass


async def test_it_hears_of_changed_lists_and_resources(connect: Connect) -> None:
    heard: list[str] = []
    async with connect(on_notification=lambda method, params: heard.append(params.get("uri", method))) as client:
        await client.listen()
        name = f"grown_{len(await client.tools())}_{client.revision.replace('-', '')}"
        await client.call("grow", {"kind": "tools", "names": [name]})
        await until(lambda: "notifications/tools/list_changed" in heard)
        await client.call("shrink", {"kind": "tools", "names": [name]})
        await client.subscribe("fixture://text")
        await client.unsubscribe("fixture://text")


async def test_many_calls_at_once_get_their_own_responses(connect: Connect) -> None:
    async with connect() as client:
        results = await asyncio.gather(*(client.call("fixture_echo", {"text": str(n)}) for n in range(50)))
        assert [text_of(result) for result in results] == [str(n) for n in range(50)]
