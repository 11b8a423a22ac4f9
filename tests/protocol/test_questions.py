"""Questions to the client of a session, in the words of each revision, from tools, prompts and resources."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from tests.protocol.conftest import Servers
from tests.support.mcp_client import McpClient, McpServer, Pending, text_of
from tests.support.mcp_rounds import ABLE, Answer, willing
from tests.support.rounds import accept
from tests.support.schemas import LEGACY

GROUP = "asks"


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: McpServer) -> McpClient:
    """A client of the newest revision that has sessions; it can be asked."""
    return await server.shared(LEGACY[-1], ABLE)  # type: ignore[no-any-return]


async def begin(client: McpClient, tool: str, /, **arguments: Any) -> Pending:
    return await client.begin_call(f"asks_{tool}", **arguments)


async def answered(client: McpClient, call: Pending, answer: Answer = willing) -> Any:
    """Answer the next question of a call, and return it."""
    question = await call.next()
    await client.respond(question, result=answer(question["method"], question.get("params", {})))
    return question


async def play(client: McpClient, tool: str, answer: Answer = willing, **arguments: Any) -> str:
    """Answer the only question of a call, and return the text of its result."""
    call = await begin(client, tool, **arguments)
    await answered(client, call, answer)
    return await call.text()


@pytest.mark.requirement("ASK-01", "ASK-02", "ASK-18", "ASK-22", "ASK-29")
@pytest.mark.parametrize("revision", LEGACY[1:])
async def test_questions_in_the_words_of_each_revision(servers: Servers, revision: str) -> None:
    client = await (await servers.get("http", "asks")).shared(revision, ABLE)
    forms, newer = revision >= "2025-06-18", revision == "2025-11-25"
    missing = [] if newer else [("url", "elicitation.url"), ("tools", "sampling.tools")]
    for kind, capability in [*missing, *([] if forms else [("form", "elicitation.form")])]:
        assert (await client.text("asks_careful", kind=kind)).startswith(f"ClientCapabilityError {capability}: ")
    call = await begin(client, "sample")
    params = (await answered(client, call))["params"]
    block = {"type": "text", "text": "Hm."}
    assert [message["content"] for message in params["messages"]][1:] == [[block] if newer else block]
    assert (params["maxTokens"], params["stopSequences"]) == (50, ["."])
    assert await call.text() == "m/assistant/endTurn/text: Paris"
    assert await play(client, "roots") == '["A=file:///a","None=file:///b"]'
    if newer:
        assert await play(client, "sample", tools=True) == "m/assistant/endTurn/text,tool_use: Paris"
        assert "Colour.RED" in await play(client, "several")
    if not forms:
        assert "elicitation.form" in text_of(await client.call("asks_person"))
        return
    call = await begin(client, "person")
    question = await answered(client, call, lambda *_: accept(name="Bo", pays="chf"))
    assert question["params"].keys() == {"message", "requestedSchema"} | ({"mode"} if newer else set())
    fields = question["params"]["requestedSchema"]["properties"]
    titles = [{"const": "eur", "title": "Euro"}, {"const": "chf", "title": "Swiss franc"}]
    pays = {"oneOf": titles} if newer else {"enum": ["eur", "chf"], "enumNames": ["Euro", "Swiss franc"]}
    assert fields["pays"] == {"type": "string", "title": "Pays", "default": "eur", **pays}
    assert fields["age"] == {"type": "integer", "title": "Age", "default": 30, "minimum": 0, "maximum": 149}
    assert "name='Bo'" in await call.text()


@pytest.mark.requirement("ASK-03", "ASK-07", "ASK-25")
async def test_a_page_has_an_id_and_the_person_may_refuse(client: McpClient) -> None:
    ids = set()
    for action in ("accept", "decline", "cancel"):
        call = await begin(client, "page")
        params = (await answered(client, call, lambda *_, action=action: {"action": action}))["params"]
        assert params.keys() == {"mode", "message", "url", "elicitationId"}
        ids.add(params["elicitationId"])
        assert await call.text() == f"{action}: None"
    assert len(ids) == 3


@pytest.mark.requirement("ASK-07", "ASK-08")
async def test_malformed_answers_and_errors_of_the_client_reach_the_author(client: McpClient) -> None:
    wrong: list[Any] = [{}, {"action": "maybe"}, accept(), accept(value=5), {"action": "accept", "content": "Ann"}]
    text = "ClientError None: The client answered elicitation/create with an invalid result"
    for answer in wrong:
        assert (await play(client, "careful", lambda *_, answer=answer: answer, kind="form")).startswith(text)
    for members, text in (
        ({"error": {"code": -1, "message": "User rejected it"}}, "ClientError -1: User rejected it"),
        ({"error": {"code": 1.5, "message": "x"}}, "ClientError None: The client sent an invalid response."),
        ({"result": None}, "ClientError None: The client sent an invalid response."),
        ({"result": {}, "error": {"code": 1, "message": "both"}}, "ClientError None: The client sent an invalid"),
    ):
        call = await begin(client, "careful", kind="form")
        await client.respond(await call.next(), **members)
        assert (await call.text()).startswith(text)


@pytest.mark.requirement("UTIL-07")
async def test_questions_are_withdrawn_after_their_time_and_with_their_call(client: McpClient) -> None:
    call = await begin(client, "hurried")
    question, notice = await call.next(), await call.next()
    assert (notice["method"], notice["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    assert (await call.text()).startswith("ClientTimeoutError None: ")
    await client.respond(question, result=accept(value="too late"))
    call = await begin(client, "patient", label="patient")
    question = await call.next()
    await call.cancel()
    assert (await call.next())["params"]["requestId"] == question["id"]
    while "patient" not in await client.text("asks_gone"):
        pass
    call = await begin(client, "at_once")
    questions = [await call.next() for _ in range(3)]
    await client.respond(questions[1], error={"code": -1, "message": "no"})  # when one fails the others are withdrawn
    notices = [await call.next() for _ in range(2)]
    assert {notice["params"]["requestId"] for notice in notices} == {questions[0]["id"], questions[2]["id"]}
    assert (await call.result())["isError"] is True


async def test_prompts_and_resources_ask_and_nothing_is_kept_for_the_next_call(client: McpClient) -> None:
    for method, params in (("prompts/get", {"name": "asks_welcome"}), ("resources/read", {"uri": "asks://cards/7"})):
        call = await client.begin(method, params)
        await answered(client, call, lambda *_: accept(value="Ann"))
        assert "Ann" in str(await call.result())
    steps = [int(await play(client, "step", label="kept")) for _ in range(2)]
    assert steps[1] == steps[0] + 1  # a step runs in each call


@pytest.mark.requirement("ASK-01", "ERA-19")
async def test_a_client_that_does_not_declare_it_is_not_asked(servers: Servers) -> None:
    client = await (await servers.get("http", "asks")).client(LEGACY[-1], {"elicitation": {"url": {}}})
    for tool, capability in (("name", "elicitation.form"), ("sample", "sampling")):
        failed = await client.call(f"asks_{tool}")
        assert failed["isError"] is True
        assert capability in text_of(failed)
