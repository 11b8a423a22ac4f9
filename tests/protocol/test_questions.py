"""Questions to the client of a session, in the words of each revision, from tools, prompts and resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.mcp_client import HttpClient, McpClient, McpServer, Pending, text_of
from tests.support.mcp_rounds import ABLE, Answer, accept, willing
from tests.support.schemas import LEGACY

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def group() -> str:
    return "asks"


async def newest_of(server: McpServer) -> McpClient:
    return await server.shared(LEGACY[-1], ABLE)  # type: ignore[no-any-return]


async def begin(client: McpClient, tool: str, /, **arguments: Any) -> Pending:
    return await client.begin_call(f"asks_{tool}", **arguments)


async def answered(client: McpClient, call: Pending, answer: Answer = willing) -> Any:
    """Answer the next question of a call, and return it."""
    question = await call.next()
    await client.respond(question, result=answer(question["method"], question.get("params", {})))
    return question


async def played(client: McpClient, tool: str, answer: Answer = willing, **arguments: Any) -> str:
    """Answer the only question of a call, and return the text of its result."""
    call = await begin(client, tool, **arguments)
    await answered(client, call, answer)
    return await call.text()


@pytest.mark.requirement("ASK-01", "ASK-02", "ASK-18", "ASK-22", "ASK-29")
@pytest.mark.parametrize("revision", LEGACY)
async def test_questions_in_the_words_of_each_revision(server: McpServer, revision: str) -> None:
    client = await server.shared(revision, ABLE)
    forms, newer = revision >= "2025-06-18", revision == "2025-11-25"
    missing = [] if newer else [("url", "elicitation.url"), ("tools", "sampling.tools")]
    for kind, capability in [*missing, *([] if forms else [("form", "elicitation.form")])]:
        assert (await client.text("asks_careful", kind=kind)).startswith(f"ClientCapabilityError {capability}: ")
    call = await begin(client, "sample")
    params = (await answered(client, call))["params"]
    block = {"type": "text", "text": "Hm."}
    contents = [one["content"] for one in params["messages"]]
    assert contents == [{"type": "text", "text": "What is the capital of France?"}, [block] if newer else block]
    assert (params["maxTokens"], params["stopSequences"]) == (50, ["."])
    assert await call.text() == "m/assistant/endTurn/text: Paris"
    assert await played(client, "roots") == '["A=file:///a","None=file:///b"]'
    if newer:
        assert await played(client, "sample", tools=True) == "m/assistant/endTurn/text,tool_use: Paris"
        assert "Colour.RED" in await played(client, "several")
    else:
        assert "sampling.tools" in text_of(await client.call("asks_sample", tools=True))
    if not forms:
        assert "elicitation.form" in text_of(await client.call("asks_person"))
        return
    if not newer:
        failed = await client.call("asks_several")
        assert failed["isError"] is True
        assert "colours" in text_of(failed)
    call = await begin(client, "person")
    question = await answered(client, call, lambda *_: accept(name="Bo", pays="chf"))
    assert question["params"].keys() == {"message", "requestedSchema"} | ({"mode"} if newer else set())
    fields = question["params"]["requestedSchema"]["properties"]
    titles = [{"const": "eur", "title": "Euro"}, {"const": "chf", "title": "Swiss franc"}]
    pays = {"oneOf": titles} if newer else {"enum": ["eur", "chf"], "enumNames": ["Euro", "Swiss franc"]}
    assert fields["pays"] == {"type": "string", "title": "Pays", "default": "eur", **pays}
    assert fields["colour"] == {"type": "string", "title": "Colour", "default": "red", "enum": ["red", "green"]}
    assert fields["born"] == {"type": "string", "title": "Born", "format": "date"}
    assert fields["age"] == {"type": "integer", "title": "Age", "default": 30, "minimum": 0, "maximum": 149}
    assert "name='Bo'" in await call.text()


@pytest.mark.requirement("ASK-03", "ASK-07", "ASK-25")
async def test_a_page_has_an_id_and_the_person_may_refuse(server: McpServer) -> None:
    client, ids = await newest_of(server), set()
    for action in ("accept", "decline", "cancel"):
        call = await begin(client, "page")
        params = (await answered(client, call, lambda *_, action=action: {"action": action}))["params"]
        assert params.keys() == {"mode", "message", "url", "elicitationId"}
        ids.add(params["elicitationId"])
        assert await call.text() == f"{action}: None"
        if action != "accept":
            assert await played(client, "name", lambda *_, action=action: {"action": action}) == action
    assert len(ids) == 3


@pytest.mark.requirement("ASK-07", "ASK-08")
async def test_malformed_answers_and_errors_of_the_client_reach_the_author(server: McpServer) -> None:
    client = await newest_of(server)
    wrong: list[Any] = [{}, {"action": "maybe"}, {"action": "accept"}, accept(), accept(value=5), accept(value=None)]
    wrong += [{"action": "accept", "content": "Ann"}, {"role": "assistant", "model": "m", "content": []}]
    said = "ClientError None: The client answered elicitation/create with an invalid result"
    for answer in wrong:
        assert (await played(client, "careful", lambda *_, answer=answer: answer, kind="form")).startswith(said)
        call = await begin(client, "name")
        await answered(client, call, lambda *_, answer=answer: answer)
        assert (await call.result())["isError"] is True
    for kind in ("form", "url", "sampling", "tools", "roots"):
        call = await begin(client, "careful", kind=kind)
        await client.respond(await call.next(), error={"code": -1, "message": "User rejected it"})
        assert await call.text() == "ClientError -1: User rejected it"


@pytest.mark.requirement("UTIL-07")
async def test_questions_are_withdrawn_after_their_time_and_with_their_call(server: McpServer) -> None:
    client = await newest_of(server)
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
    assert {one["params"]["requestId"] for one in notices} == {questions[0]["id"], questions[2]["id"]}
    assert (await call.result())["isError"] is True


async def test_several_questions_at_once_in_turn_in_nested_calls_and_in_two_calls(server: McpServer) -> None:
    client = await newest_of(server)
    call = await begin(client, "at_once")
    questions = [await call.next() for _ in range(3)]
    assert {one["method"] for one in questions} == {"elicitation/create", "sampling/createMessage", "roots/list"}
    for one in reversed(questions):
        await client.respond(one, result=willing(one["method"], one.get("params", {})))
    assert await call.text() == "Ann, Paris, 2 roots"
    call = await begin(client, "in_turn")
    for _ in range(3):
        await answered(client, call)
    assert await call.text() == "Ann 7 accept"
    call = await begin(client, "outer")
    for name in ("A", "B", "C"):
        await answered(client, call, lambda *_, name=name: accept(value=name))
    assert await call.text() in ("Hi, A | Ho, B | Hello, C", "Hi, B | Ho, A | Hello, C")
    first = await begin(client, "name", greeting="first")
    one = await first.next()
    assert await played(client, "name", lambda *_: accept(value="B"), greeting="second") == "second, B"
    await client.respond(one, result=accept(value="A"))
    assert await first.text() == "first, A"


async def test_prompts_and_resources_ask_and_nothing_is_kept_for_the_next_call(server: McpServer) -> None:
    client = await newest_of(server)
    ignored = {"name": "asks_name", "arguments": {}, "requestState": 5, "inputResponses": None}
    requests: list[tuple[str, dict[str, Any]]] = [("prompts/get", {"name": "asks_welcome"}), ("tools/call", ignored)]
    requests += [("resources/read", {"uri": uri}) for uri in ("asks://card", "asks://cards/7")]
    for method, params in requests:
        call = await client.begin(method, params)
        await answered(client, call, lambda *_: accept(value="Ann"))
        assert "Ann" in str(await call.result())
    assert [await played(client, "step", label="kept") for _ in range(2)] == ["1", "2"]  # a step runs in each call


@pytest.mark.requirement("ASK-01", "ERA-19")
@pytest.mark.parametrize("declared", [{}, {"elicitation": {"url": {}}}, {"sampling": {}, "roots": {}}], ids=repr)
async def test_a_client_that_does_not_declare_it_is_not_asked(server: McpServer, declared: Any) -> None:
    client = await server.client(LEGACY[-1], declared)
    tools = {"name": "elicitation.form"} | ({} if "sampling" in declared else {"sample": "sampling"})
    for tool, capability in tools.items():
        failed = await client.call(f"asks_{tool}")
        assert failed["isError"] is True
        assert capability in text_of(failed)


async def test_a_client_that_accepts_no_stream_is_not_asked(server: McpServer) -> None:
    client = await newest_of(server)
    if isinstance(client, HttpClient):
        call = {"jsonrpc": "2.0", "id": "j", "method": "tools/call", "params": {"name": "asks_name"}}
        done = await client.session.post(call, ("Accept", "application/json"))
        assert done.result["isError"] is True
        assert "this client cannot be asked" in done.result["content"][0]["text"]
