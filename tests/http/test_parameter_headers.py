"""Arguments that headers mirror (section 11.4; step j of the ladder), over real sockets and through the recorder."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import mirrored_kit
from tests.support.http import Served
from tests.support.http_mcp import Exchanged, Session, call, exchange, header_value, message, mirrored, modern
from tests.support.pool import make_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

Fields = Sequence[tuple[str, str]]
REFUSED = (400, -32020)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    site: Path = make_site(tmp_path_factory.mktemp("mirrored"), {"mirrored": mirrored_kit})
    async with Served(site) as served:
        yield served


async def send(server: Served, tool: str, arguments: Any, *fields: tuple[str, str], **changes: str | None) -> Exchanged:
    """Call a tool with these header fields beside the usual ones."""
    one = modern(call(tool, arguments) if arguments is not None else message("tools/call", {"name": tool}))
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), [*mirrored(one, **changes), *fields])
        assert done.last["id"] == one["id"]
        return done


def param(name: str, value: str) -> tuple[str, str]:
    return f"Mcp-Param-{name}", value


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


ACCEPTED: list[tuple[dict[str, Any], Fields]] = [
    ({}, []),
    ({"query": "x"}, []),
    ({"where": {}}, []),
    ({"region": "eu"}, [param("Region", "eu")]),
    ({"region": "eu"}, [param("REGION", "eu")]),
    ({"region": "eu"}, [("mcp-param-region", " \teu\t ")]),
    ({"region": "eu"}, [param("Region", encoded("eu"))]),
    ({"region": ""}, [param("Region", "")]),
    ({"region": ""}, [param("Region", "=?base64??=")]),
    ({"region": " eu "}, [param("Region", encoded(" eu "))]),
    ({"region": "a b"}, [param("Region", "a b")]),
    ({"region": "größe\n\x00"}, [param("Region", encoded("größe\n\x00"))]),
    ({"region": "=?base64?x?="}, [param("Region", encoded("=?base64?x?="))]),
    ({"region": "SGVsbG8="}, [param("Region", "SGVsbG8=")]),
    ({"region": "=?base64?SGVsbG8="}, [param("Region", "=?base64?SGVsbG8=")]),
    ({"region": "SGVsbG8=?="}, [param("Region", "SGVsbG8=?=")]),
    ({"region": "=?BASE64?SGVsbG8=?="}, [param("Region", "=?BASE64?SGVsbG8=?=")]),
    ({"region": "=?base64?SGVsbG8=?=x"}, [param("Region", "=?base64?SGVsbG8=?=x")]),
    ({"region": "a\tb"}, [param("Region", "a\tb")]),
    ({"region": "42"}, [param("Region", "42")]),
    ({"region": "true"}, [param("Region", "true")]),
    ({"limit": 42}, [param("Limit", "42")]),
    ({"limit": 42}, [param("Limit", "42.0")]),
    ({"limit": 42.0}, [param("Limit", "42")]),
    ({"limit": 42}, [param("Limit", encoded("42"))]),
    ({"limit": 42}, [param("Limit", "42." + "0" * 61)]),
    ({"limit": -7}, [param("Limit", "-7")]),
    ({"limit": 0}, [param("Limit", "-0.00")]),
    ({"limit": 2**53 - 1}, [param("Limit", str(2**53 - 1))]),
    ({"limit": -(2**53) + 1}, [param("Limit", str(-(2**53) + 1))]),
    ({"dry": True}, [param("X-Dry.Run", "true")]),
    ({"dry": False}, [param("X-Dry.Run", "false")]),
    ({"where": {"tenant": "a"}}, [param("Tenant", "a")]),
    ({"region": "eu"}, [param("Region", "eu"), param("Query", "x"), param("Unknown", "\xff")]),
    ({"region": "eu", "limit": 1}, [param("Region", "eu"), param("Limit", "1")]),
]


@pytest.mark.requirement("HEAD-08", "HEAD-10", "HEAD-11", "HEAD-13", "HEAD-24", "HEAD-25", "HEAD-27")
@pytest.mark.parametrize(("arguments", "fields"), ACCEPTED)
async def test_headers_that_say_what_the_arguments_say(server: Served, arguments: Any, fields: Fields) -> None:
    done = await send(server, "mirrored_sql", arguments, *fields)
    assert done.result["structuredContent"] == arguments


DIFFERENT: list[tuple[Any, Fields]] = [
    # missing
    ({"region": "eu"}, []),
    ({"region": ""}, []),
    ({"limit": 0}, []),
    ({"dry": False}, []),
    ({"where": {"tenant": "a"}}, []),
    ({"region": "eu", "limit": 1}, [param("Region", "eu")]),
    ({"region": "eu"}, [("Mcp-Param", "eu"), ("Region", "eu"), ("Mcp-Param_Region", "eu")]),
    # given without an argument
    ({}, [param("Region", "eu")]),
    ({}, [param("Region", "")]),
    ({}, [param("Region", "null")]),
    ({"region": None}, [param("Region", "null")]),
    ({"where": {"tenant": None}}, [param("Tenant", "a")]),
    ({"where": "a"}, [param("Tenant", "a")]),
    ({"tenant": "a"}, [param("Tenant", "a")]),
    (None, [param("Region", "eu")]),
    # of another value
    ({"region": "eu"}, [param("Region", "us")]),
    ({"region": "eu"}, [param("Region", "EU")]),
    ({"region": "eu"}, [param("Region", "e u")]),
    ({"region": "eu"}, [param("Region", '"eu"')]),
    ({"region": "eu"}, [param("Region", "eu, eu")]),
    ({"region": "eu"}, [param("Region", "\xa0eu")]),
    ({"region": " eu "}, [param("Region", " eu ")]),
    ({"region": "eu"}, [param("Region", encoded("us"))]),
    ({"region": "=?base64?SGVsbG8=?="}, [param("Region", "=?base64?SGVsbG8=?=")]),
    ({"where": {"tenant": "a"}}, [param("Tenant", "b")]),
    # given twice
    ({"region": "eu"}, [param("Region", "eu"), param("Region", "eu")]),
    ({"region": "eu"}, [param("Region", "eu"), param("REGION", "us")]),
    ({}, [param("Region", ""), param("Region", "")]),
    # what a header cannot carry
    ({"region": "\xe9"}, [param("Region", "\xe9")]),
    ({"region": "\xe9"}, [param("Region", "\xe9".encode().decode("latin-1"))]),
    ({"region": "日本"}, [param("Region", "日本".encode().decode("latin-1"))]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVsbG8?=")]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVs!!!bG8=?=")]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVs bG8=?=")]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVsbG9=?=")]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVsbG8==?=")]),
    ({"region": "Hello"}, [param("Region", "=?base64?SGVsbG8=?= ?=")]),
    ({"region": "\ufffd"}, [param("Region", "=?base64?//79?=")]),
    # numbers, true and false
    ({"limit": 42}, [param("Limit", "43")]),
    ({"limit": 42}, [param("Limit", "42.5")]),
    ({"limit": 42}, [param("Limit", "042")]),
    ({"limit": 42}, [param("Limit", "+42")]),
    ({"limit": 42}, [param("Limit", "4.2e1")]),
    ({"limit": 42}, [param("Limit", "0x2a")]),
    ({"limit": 42}, [param("Limit", "42,0")]),
    ({"limit": 42}, [param("Limit", "٤٢".encode().decode("latin-1"))]),
    ({"limit": 42}, [param("Limit", encoded("٤٢"))]),
    ({"limit": 42}, [param("Limit", encoded("4٢"))]),
    ({"limit": 42}, [param("Limit", encoded("42.\u0660"))]),
    ({"limit": 42}, [param("Limit", "42." + "0" * 62)]),
    ({"limit": 42}, [param("Limit", "")]),
    ({"limit": 1}, [param("Limit", "true")]),
    ({"limit": 2**53}, [param("Limit", str(2**53))]),
    ({"limit": 2**53 - 1}, [param("Limit", str(2**53))]),
    ({"limit": -(2**53)}, [param("Limit", str(-(2**53)))]),
    ({"limit": 1e16}, [param("Limit", "10000000000000000")]),
    ({"limit": 1e300}, [param("Limit", "1" + "0" * 300)]),
    ({"dry": True}, [param("X-Dry.Run", "True")]),
    ({"dry": True}, [param("X-Dry.Run", "1")]),
    ({"dry": False}, [param("X-Dry.Run", "")]),
    ({"dry": True}, [param("X-Dry.Run", "false")]),
    # of a type that no header has
    ({"region": ["eu"]}, [param("Region", "eu")]),
    ({"region": {"a": 1}}, [param("Region", '{"a":1}')]),
]


@pytest.mark.requirement("HEAD-09", "HEAD-12", "HEAD-19", "HEAD-22", "HEAD-23", "HEAD-25", "HEAD-26")
@pytest.mark.parametrize(("arguments", "fields"), DIFFERENT)
async def test_headers_that_say_something_else(server: Served, arguments: Any, fields: Fields) -> None:
    done = await send(server, "mirrored_sql", arguments, *fields)
    assert done.refused == REFUSED
    assert done.last["error"]["message"].startswith("Header mismatch: ")


async def test_the_header_is_named(server: Served) -> None:
    done = await send(server, "mirrored_sql", {"region": "top secret"}, param("Region", "hush"))
    text = done.answer.body.decode()
    assert "Mcp-Param-Region" in text
    assert "secret" not in text
    assert "hush" not in text


@pytest.mark.requirement("HEAD-23")
async def test_a_signature_may_ask_for_a_header(server: Served) -> None:
    assert (await send(server, "mirrored_typed", {"region": "eu"}, param("Region", "eu"))).result["isError"] is False
    assert (await send(server, "mirrored_typed", {})).result["content"][0]["text"] == "none"
    assert (await send(server, "mirrored_typed", {"region": "eu"})).refused == REFUSED
    assert (await send(server, "mirrored_typed", {}, param("Region", "none"))).refused == REFUSED


async def test_a_value_of_the_wrong_type_that_is_mirrored_is_the_arguments_mistake(server: Served) -> None:
    done = await send(server, "mirrored_sql", {"region": 5}, param("Region", "5"))
    assert done.result["isError"] is True
    assert done.result["content"][0]["text"] == "Invalid arguments:\nregion: must be a string"
    done = await send(server, "mirrored_sql", {"limit": 4.5}, param("Limit", "4.5"))
    assert done.result["content"][0]["text"] == "Invalid arguments:\nlimit: must be an integer"


@pytest.mark.requirement("HEAD-24")
@pytest.mark.parametrize(
    ("arguments", "field"), [({"region": None}, "region"), ({"where": {"tenant": None}}, "where.tenant")]
)
async def test_null_has_no_header(server: Served, arguments: Any, field: str) -> None:
    """What the schema says of null is another matter: the type that a mirrored argument must have does not allow it."""
    done = await send(server, "mirrored_sql", arguments)
    assert done.result["content"][0]["text"] == f"Invalid arguments:\n{field}: must be a string"


@pytest.mark.requirement("HEAD-27")
async def test_other_tools_are_asked_for_nothing(server: Served) -> None:
    for fields in ([], [param("Region", "us")], [param("Region", "us"), param("Region", "\xe9")]):
        done = await send(server, "mirrored_plain", {"region": "eu"}, *fields)
        assert done.result["content"][0]["text"] == "eu"


async def test_a_tool_that_the_caller_does_not_see_mirrors_nothing(server: Served) -> None:
    for tool in ("mirrored_nothing", "mirrored_wrong"):
        assert (await send(server, tool, {"region": "eu"})).last["error"]["code"] == -32602
    assert (await send(server, "mirrored_secret", {"region": "eu"})).last["error"]["code"] == -32602
    assert (await send(server, "mirrored_secret", {"region": "eu"}, server.proof)).refused == REFUSED


async def test_earlier_steps_come_first(server: Served) -> None:
    arguments = {"region": "eu"}
    assert (await send(server, "mirrored_sql", arguments, Mcp_Name="mirrored_plain")).refused == REFUSED
    one = modern(message("prompts/get", {"name": "mirrored_sql", "arguments": arguments}))
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), mirrored(one))
    assert done.refused == (404, -32601)


async def test_a_name_that_is_none_is_refused_as_such(server: Served) -> None:
    one = modern(message("tools/call", {"name": [], "arguments": {"region": "eu"}}))
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), mirrored(one, Mcp_Name=""))
    assert done.last["error"]["code"] == -32602


async def test_arguments_that_are_no_object_are_refused_as_such(server: Served) -> None:
    done = await send(server, "mirrored_sql", [1])
    assert done.last["error"]["code"] == -32602


async def test_sessions_mirror_nothing(server: Served) -> None:
    session = Session(server)
    await session.open()
    for fields in ([], [param("Region", "us")]):
        done = await session.post(call("mirrored_sql", {"region": "eu"}), *fields)
        assert json.loads(done.result["content"][0]["text"]) == {"region": "eu"}


@pytest.mark.requirement("HEAD-21", "SCHEMA-11")
async def test_the_annotation_is_listed_and_a_wrong_one_costs_its_tool(server: Served) -> None:
    one = modern(message("tools/list"))
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), mirrored(one))
    tools = {tool["name"]: tool for tool in done.result["tools"]}
    assert tools["mirrored_sql"]["inputSchema"] == mirrored_kit.SQL
    assert tools["mirrored_typed"]["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"
    assert "mirrored_wrong" not in tools


# --- schemas of the author's own


@pytest.mark.requirement("SCHEMA-04", "SCHEMA-11")
async def test_a_draft_07_schema_is_listed_as_it_is_and_held_against_arguments(server: Served) -> None:
    one = modern(message("tools/list"))
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), mirrored(one))
    tools = {tool["name"]: tool for tool in done.result["tools"]}
    assert json.dumps(tools["mirrored_old"]["inputSchema"]) == json.dumps(mirrored_kit.DRAFT_07)
    done = await send(server, "mirrored_old", {"pair": [1, 2]})
    assert done.result["content"][0]["text"] == "Invalid arguments:\npair.1: must be a string\nwhy is required"


async def test_a_list_is_structured_content_where_the_revision_has_it(server: Served) -> None:
    assert (await send(server, "mirrored_old", {})).result["structuredContent"] == [1]
    session = Session(server)
    await session.open()
    done = await session.post(call("mirrored_old"))
    assert done.result["content"] == [{"type": "text", "text": "[1]"}]
    assert "structuredContent" not in done.result


@pytest.mark.requirement("TOOL-18")
async def test_a_result_that_breaks_its_schema_is_not_sent(server: Served) -> None:
    done = await send(server, "mirrored_old", {"pair": [1, "x"], "why": 0})
    assert done.result["isError"] is True
    assert "structuredContent" not in done.result


# --- properties


MANY = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.requirement("HEAD-10")
@MANY
@given(text=st.text(max_size=40))
async def test_any_text_passes_in_the_form_that_clients_write(server: Served, text: str) -> None:
    done = await send(server, "mirrored_sql", {"region": text}, param("Region", header_value(text)))
    assert done.result["structuredContent"] == {"region": text}


@pytest.mark.requirement("HEAD-22")
@MANY
@given(text=st.text(max_size=20), other=st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20))
async def test_no_other_text_passes(server: Served, text: str, other: str) -> None:
    done = await send(server, "mirrored_sql", {"region": text}, param("Region", other))
    stripped = other.strip(" \t")
    if stripped == text and header_value(text) == text:
        assert done.status == 200
    elif not stripped.startswith("=?base64?"):
        assert done.refused == REFUSED


@pytest.mark.requirement("HEAD-19")
@MANY
@given(number=st.integers(-(2**60), 2**60), zeros=st.integers(0, 3))
async def test_integers_of_the_safe_range_pass(server: Served, number: int, zeros: int) -> None:
    header = str(number) + ("." + "0" * zeros if zeros else "")
    done = await send(server, "mirrored_sql", {"limit": number}, param("Limit", header))
    if abs(number) < 2**53:
        assert done.result["structuredContent"] == {"limit": number}
    else:
        assert done.refused == REFUSED


@pytest.mark.requirement("HEAD-12")
@MANY
@given(raw=st.binary(max_size=30).filter(lambda raw: not set(raw) & set(b"\r\n")))
async def test_no_bytes_in_a_header_make_a_fault(server: Served, raw: bytes) -> None:
    """The server refuses control characters itself, without an answer of the protocol."""
    one = modern(call("mirrored_sql", {"region": "eu", "limit": 7}))
    fields = [*mirrored(one), param("Region", "eu"), param("Limit", raw.decode("latin-1"))]
    async with await server.connect() as line:
        done = await exchange(line, json.dumps(one).encode(), fields)
    assert done.status == (200 if raw.strip(b" \t") == b"7" else 400)
