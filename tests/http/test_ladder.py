"""The checks of 2026-07-28 over HTTP, each with code and status, in the order that the codes need (section 1.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http import Served
from tests.support.http_mcp import ask, call, exchange, header_value, message, mirrored, modern
from tests.support.peer import META

pytestmark = pytest.mark.asyncio(loop_scope="session")

VERSION, CAPABILITIES = f"{META}protocolVersion", f"{META}clientCapabilities"
LIST = message("tools/list")


def without(one: dict[str, Any], key: str) -> dict[str, Any]:
    meta = {name: value for name, value in one["params"]["_meta"].items() if name != key}
    return {**one, "params": {**one["params"], "_meta": meta}}


async def refused(served: Served, one: dict[str, Any], **changes: str | None) -> tuple[int, int]:
    """The status and code for a modern message, sent as it is."""
    async with await served.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), mirrored(one, **changes))
        assert done.last["id"] == one["id"]
        assert done.answer.get("Mcp-Session-Id") is None
        return done.refused


@pytest.mark.requirement("ERA-13", "HTTP-01")
async def test_a_sound_request_is_served(served: Served) -> None:
    done = await ask(served, message("server/discover"))
    assert done.status == 200
    assert done.answer.get("Mcp-Session-Id") is None
    tools = (await ask(served, LIST)).result["tools"]
    assert "fixture_echo" in [tool["name"] for tool in tools]


@pytest.mark.requirement("MSG-07")
@pytest.mark.parametrize("id", [0, "", "x", -1, 2**53])
async def test_ids_come_back_as_they_were(served: Served, id: int | str) -> None:
    assert (await ask(served, message("tools/list", id=id))).last["id"] == id


@pytest.mark.requirement("ERA-10", "ERA-11", "MSG-09")
async def test_what_is_missing_in_meta(served: Served) -> None:
    """Step c, before the headers are looked at (step e)."""
    one = modern(LIST)
    assert await refused(served, without(one, CAPABILITIES)) == (400, -32602)
    assert await refused(served, without(one, VERSION)) == (400, -32602)
    assert await refused(served, {**LIST, "params": {}}) == (400, -32602)
    assert await refused(served, LIST) == (400, -32602)
    assert await refused(served, {**LIST, "params": {"_meta": 5}}) == (400, -32602)
    assert await refused(served, {**LIST, "params": []}) == (400, -32602)
    assert await refused(served, without(one, CAPABILITIES), MCP_Protocol_Version=None) == (400, -32602)


@pytest.mark.requirement("ERA-10", "UTIL-09")
@pytest.mark.parametrize(
    "meta",
    [
        {VERSION: 5},
        {VERSION: None},
        {CAPABILITIES: []},
        {f"{META}clientInfo": {"name": "no version"}},
        {f"{META}logLevel": "loud"},
        {"progressToken": 1.5},
        {"progressToken": True},
        {"progressToken": None},
    ],
)
async def test_what_is_wrong_in_meta(served: Served, meta: dict[str, Any]) -> None:
    """Step d, before step e: another revision in the header changes nothing."""
    assert await refused(served, modern(LIST, **meta)) == (400, -32602)
    assert await refused(served, modern(LIST, **meta), MCP_Protocol_Version="2025-11-25") == (400, -32602)


@pytest.mark.requirement("HEAD-01", "HEAD-03", "HEAD-26")
@pytest.mark.parametrize("header", [None, "2025-11-25", "2099-01-01", "", "2026-07-28, 2026-07-28"])
async def test_the_header_names_another_revision(served: Served, header: str | None) -> None:
    """Step e (trap 3)."""
    assert await refused(served, modern(LIST), MCP_Protocol_Version=header) == (400, -32020)


@pytest.mark.requirement("HEAD-01", "HEAD-06", "HEAD-07")
async def test_the_header_is_given_twice(served: Served) -> None:
    one = modern(call("fixture_echo", {"text": "x"}))
    for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        fields = mirrored(one)
        again = next(field for field in fields if field[0] == name)
        async with await served.connect() as line:
            done = await exchange(line, json.dumps(one).encode(), [*fields, again])
            assert done.refused == (400, -32020), name


@pytest.mark.requirement("ERA-12", "ERA-14", "HEAD-02")
@pytest.mark.parametrize("version", ["2025-11-25", "2024-11-05", "2099-01-01", "DRAFT"])
async def test_a_revision_that_has_no_such_requests(served: Served, version: str) -> None:
    """Step f comes before g: whoever does not know our headers must still learn what is served (B-7)."""
    one = modern(LIST, **{VERSION: version})
    async with await served.connect() as line:
        fields = mirrored(one, MCP_Protocol_Version=version, Mcp_Method=None)
        done = await exchange(line, json.dumps(one).encode(), fields)
    assert done.refused == (400, -32022)
    assert done.last["error"]["data"]["requested"] == version
    discovered = (await ask(served, message("server/discover"))).result["supportedVersions"]
    assert done.last["error"]["data"]["supported"] == discovered


@pytest.mark.requirement("HEAD-06", "HEAD-09", "HEAD-26")
@pytest.mark.parametrize("header", [None, "tools/call", "Tools/List", "=?base64?dG9vbHMvbGlzdA==?="])
async def test_the_method_is_mirrored(served: Served, header: str | None) -> None:
    """Step g: compared as it stands, case and all."""
    assert await refused(served, modern(LIST), Mcp_Method=header) == (400, -32020)


@pytest.mark.requirement("HEAD-13")
async def test_white_space_around_a_header_does_not_count(served: Served) -> None:
    one = modern(call("fixture_echo", {"text": "x"}))
    done = await ask(served, one, Mcp_Method=" \ttools/call\t ", Mcp_Name="  fixture_echo ")
    assert done.result["isError"] is False


@pytest.mark.requirement("HEAD-07", "HEAD-09", "HEAD-11", "HEAD-12", "HEAD-26")
@pytest.mark.parametrize(
    "header",
    [
        pytest.param(None, id="missing"),
        pytest.param("fixture_add", id="another"),
        pytest.param("FIXTURE_ECHO", id="case"),
        pytest.param("=?BASE64?Zml4dHVyZV9lY2hv?=", id="marker in capitals"),
        pytest.param("=?base64?Zml4dHVyZV9lY2hv", id="marker without its end"),
        pytest.param("=?base64?Zml4dHVyZV9lY2h?=", id="bad padding"),
        pytest.param("=?base64?Zml4dHVyZV9lY2h!?=", id="bad alphabet"),
        pytest.param("=?base64?Zml4dHVyZV9l Y2hv?=", id="white space inside"),
        pytest.param("=?base64?//79?=", id="not UTF-8"),
        pytest.param("=?base64?Zml4dHVyZV9lY2hvIQ==?=", id="of another"),
        pytest.param("fixture_\xe9cho", id="not ASCII"),
    ],
)
async def test_the_name_is_mirrored(served: Served, header: str | None) -> None:
    """Step h."""
    assert await refused(served, modern(call("fixture_echo", {"text": "x"})), Mcp_Name=header) == (400, -32020)


@pytest.mark.requirement("HEAD-12")
async def test_a_name_beyond_ascii_is_in_base64_or_refused(served: Served) -> None:
    """Its bytes as they are could be read in more than one way."""
    one = call("fixture_größe")
    raw = "fixture_größe".encode().decode("latin-1")
    assert (await ask(served, one, Mcp_Name=raw)).refused == (400, -32020)
    assert (await ask(served, one, Mcp_Name=header_value("fixture_größe"))).refused == (200, -32602)


@pytest.mark.requirement("HEAD-12")
async def test_base64_must_be_canonical(served: Served) -> None:
    one = modern(call("fixture_echo1"))
    assert (await ask(served, one, Mcp_Name="=?base64?Zml4dHVyZV9lY2hvMQ==?=")).last["error"]["code"] == -32602
    assert await refused(served, one, Mcp_Name="=?base64?Zml4dHVyZV9lY2hvMR==?=") == (400, -32020)


@pytest.mark.requirement("HEAD-10")
async def test_a_name_in_base64(served: Served) -> None:
    one = call("fixture_echo", {"text": "x"})
    assert (await ask(served, one, Mcp_Name="=?base64?Zml4dHVyZV9lY2hv?=")).result["content"][0]["text"] == "x"
    for name in ("fixture_größe", " padded", "=?base64?x?="):
        unknown = await ask(served, call(name), Mcp_Name=header_value(name))
        assert unknown.refused == (200, -32602)


@pytest.mark.requirement("HEAD-07")
async def test_a_resource_is_named_by_its_uri_and_a_prompt_by_its_name(served: Served) -> None:
    read = message("resources/read", {"uri": "fixture://text"})
    assert (await ask(served, read)).result["contents"][0]["text"] == "# A text\n"
    assert await refused(served, modern(read), Mcp_Name="fixture://bytes") == (400, -32020)
    get = message("prompts/get", {"name": "fixture_review"})
    assert (await ask(served, get)).status == 200
    assert await refused(served, modern(get), Mcp_Name=None) == (400, -32020)


async def test_a_name_where_none_is_asked_for_is_ignored(served: Served) -> None:
    assert (await ask(served, LIST, Mcp_Name="whatever")).status == 200


@pytest.mark.requirement("ERR-03", "HTTP-21")
@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "nonsense",
        "",
        "tools/callx",
    ],
)
async def test_a_method_that_is_not_there(served: Served, method: str) -> None:
    """Step i; row 6 of the table: those of the older era too (trap 2)."""
    params = {"level": "info", "uri": "fixture://text", "protocolVersion": "2025-11-25", "capabilities": {}}
    assert await refused(served, modern(message(method, params))) == (404, -32601)


@pytest.mark.requirement("RES-01")
async def test_what_a_handler_refuses_is_an_answer(served: Served) -> None:
    """Step l: with 400 a client of both eras could take the server for one of the older."""
    assert (await ask(served, call("fixture_unknown"))).refused == (200, -32602)
    assert (await ask(served, message("resources/read", {"uri": "fixture://none"}))).refused == (200, -32602)
    assert (await ask(served, message("tools/list", {"cursor": "!"}))).refused == (200, -32602)
    assert (await ask(served, call("fixture_crash"))).result["isError"] is True
    assert (await ask(served, call("fixture_add", {"a": "x"}))).result["isError"] is True


@pytest.mark.requirement("HTTP-23")
async def test_a_session_id_is_neither_read_nor_given(served: Served) -> None:
    done = await ask(served, LIST, Mcp_Session_Id="long-gone")
    assert done.status == 200
    assert done.answer.get("Mcp-Session-Id") is None


async def test_the_same_id_at_the_same_time(served: Served) -> None:
    """A-14: ids of different POSTs have nothing to do with each other (trap 57)."""
    one = modern(call("fixture_echo", {"text": "x"}, id=7))
    async with await served.connect() as first, await served.connect() as second:
        for line in (first, second):
            await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        for line in (first, second):
            assert (await line.answer()).json["id"] == 7
