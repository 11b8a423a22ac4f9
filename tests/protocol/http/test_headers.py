"""Headers that mirror the body in 2026-07-28: revision, method, name and parameters; and the order of the checks."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import mirrored_kit
from tests.support.http import Served
from tests.support.http_mcp import Exchanged, ask, call, exchanged, header_value, message, mirrored, modern, opened
from tests.support.mcp_client import values
from tests.support.peer import META
from tests.support.pool import make_site

Fields = Sequence[tuple[str, str]]
VERSION, CAPABILITIES = f"{META}protocolVersion", f"{META}clientCapabilities"
LIST = message("tools/list")
ECHO = modern(call("fixture_echo", {"text": "x"}))
REFUSED = (400, -32020)


async def refused(served: Served, request: dict[str, Any], **changes: str | None) -> tuple[int, int]:
    """Return the status and code for a modern message, sent unchanged."""
    done = await exchanged(served, request, mirrored(request, **changes))
    assert done.last["id"] == request["id"]
    assert done.answer.get("Mcp-Session-Id") is None
    return done.refused


@pytest.mark.requirement("ERA-13", "HEAD-08", "HEAD-13", "HTTP-01", "HTTP-23")
async def test_sound_headers_are_accepted(served: Served) -> None:
    """White space around a value, the case of a name, a session id and superfluous headers do not count."""
    done = await ask(served, message("server/discover"), Mcp_Session_Id="long-gone", Mcp_Name="whatever")
    assert (done.status, done.answer.get("Mcp-Session-Id")) == (200, None)
    done = await ask(served, ECHO, Mcp_Method=" \ttools/call\t ", Mcp_Name="  fixture_echo ")
    assert done.result["isError"] is False
    for name, code in (("fixture_echo", None), ("fixture_add", -32020)):
        fields = [(field.upper(), value) for field, value in mirrored(ECHO, Mcp_Name=name)]
        done = await exchanged(served, ECHO, fields)
        assert done.last.get("error", {}).get("code") == code


@pytest.mark.requirement("ERA-10", "ERA-11", "MSG-09", "UTIL-09")
async def test_the_envelope_is_checked_before_the_headers(served: Served) -> None:
    sound = modern(LIST)["params"]["_meta"]
    wrong = [LIST, {**LIST, "params": {"_meta": 5}}, {**LIST, "params": []}]
    wrong += [{**LIST, "params": {"_meta": {key: sound[key]}}} for key in (CAPABILITIES, VERSION)]
    wrong += [modern(LIST, **meta) for meta in values({VERSION: 5}, {CAPABILITIES: []}, {"progressToken": 1.5})]
    for request in wrong:
        assert await refused(served, request) == (400, -32602)
        assert await refused(served, request, MCP_Protocol_Version="2025-11-25") in ((400, -32602), (400, -32600))


@pytest.mark.requirement("ERA-12", "ERA-14", "HEAD-02")
async def test_the_revision_is_checked_before_the_other_headers(served: Served) -> None:
    """A client that does not know our headers must still learn what is served."""
    supported = (await ask(served, message("server/discover"))).result["supportedVersions"]
    for version in ("2025-11-25", "2099-01-01", "DRAFT"):
        request = modern(LIST, **{VERSION: version})
        done = await exchanged(served, request, mirrored(request, MCP_Protocol_Version=version, Mcp_Method=None))
        assert done.refused == (400, -32022)
        assert done.last["error"]["data"] == {"supported": supported, "requested": version}


@pytest.mark.requirement("HEAD-01", "HEAD-03", "HEAD-06", "HEAD-07", "HEAD-09", "HEAD-11", "HEAD-12", "HEAD-26")
async def test_headers_that_differ_from_the_body_are_refused(served: Served) -> None:
    for version in (None, "2025-11-25", "2099-01-01", "", "2026-07-28, 2026-07-28"):
        assert await refused(served, modern(LIST), MCP_Protocol_Version=version) == REFUSED, version
    for method in (None, "Tools/List", "=?base64?dG9vbHMvbGlzdA==?="):
        assert await refused(served, modern(LIST), Mcp_Method=method) == REFUSED, method
    for name in (
        *(None, "fixture_add", "FIXTURE_ECHO", "fixture_\xe9cho", "=?BASE64?Zml4dHVyZV9lY2hv?="),
        "=?base64?Zml4dHVyZV9lY2h?=",  # bad padding
        "=?base64?Zml4dHVyZV9lY2h!?=",  # bad alphabet
        "=?base64?//79?=",  # not UTF-8
        "=?base64?Zml4dHVyZV9lY2hvIQ==?=",  # of another name
    ):
        assert await refused(served, ECHO, Mcp_Name=name) == REFUSED, name
    for twice in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        fields = mirrored(ECHO)
        again = next(field for field in fields if field[0] == twice)
        assert (await exchanged(served, ECHO, [*fields, again])).refused == REFUSED, twice


@pytest.mark.requirement("HEAD-07", "HEAD-10", "HEAD-12")
async def test_names_of_tools_prompts_and_uris_may_be_in_canonical_base64(served: Served) -> None:
    assert (await ask(served, ECHO, Mcp_Name="=?base64?Zml4dHVyZV9lY2hv?=")).result["content"][0]["text"] == "x"
    for name in ("fixture_größe", " padded", "=?base64?x?="):
        assert (await ask(served, call(name), Mcp_Name=header_value(name))).refused == (200, -32602)
    raw = "fixture_größe".encode().decode("latin-1")  # it could be read in more than one way
    assert (await ask(served, call("fixture_größe"), Mcp_Name=raw)).refused == REFUSED
    request = modern(call("fixture_echo1"))
    assert (await ask(served, request, Mcp_Name="=?base64?Zml4dHVyZV9lY2hvMQ==?=")).last["error"]["code"] == -32602
    assert await refused(served, request, Mcp_Name="=?base64?Zml4dHVyZV9lY2hvMR==?=") == REFUSED
    for method, params in (("resources/read", {"uri": "fixture://text"}), ("prompts/get", {"name": "fixture_review"})):
        assert (await ask(served, message(method, params))).status == 200
        assert await refused(served, modern(message(method, params)), Mcp_Name="fixture://bytes") == REFUSED


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with Served(make_site(tmp_path_factory.mktemp("mirrored"), {"mirrored": mirrored_kit})) as served:
        yield served


async def send(server: Served, tool: str, arguments: Any, *fields: tuple[str, str], **changes: str | None) -> Exchanged:
    """Call a tool with further header fields."""
    request = modern(call(tool, arguments) if arguments is not None else message("tools/call", {"name": tool}))
    done = await exchanged(server, request, [*mirrored(request, **changes), *fields])
    assert done.last["id"] == request["id"]
    return done


def param(name: str, value: str) -> tuple[str, str]:
    return f"Mcp-Param-{name}", value


def encoded(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return f"=?base64?{base64.b64encode(raw).decode()}?="


def utf_8(text: str) -> str:
    """Return the characters that the bytes of a string are in a header."""
    return text.encode().decode("latin-1")


def regions(*pairs: tuple[Any, str]) -> list[tuple[Any, Fields]]:
    return [({"region": region}, [param("Region", value)]) for region, value in pairs]


def limits(*pairs: tuple[Any, str]) -> list[tuple[Any, Fields]]:
    return [({"limit": limit}, [param("Limit", value)]) for limit, value in pairs]


ACCEPTED: list[tuple[Any, Fields]] = [
    *(({}, []), ({"query": "x"}, []), ({"where": {}}, [])),
    *regions(("eu", "eu"), ("eu", encoded("eu")), ("", ""), ("", "=?base64??="), (" eu ", encoded(" eu "))),
    *regions(("a b", "a b"), ("größe\n\x00", encoded("größe\n\x00")), ("=?base64?x?=", encoded("=?base64?x?="))),
    *regions(*((text, text) for text in ("=?base64?SGVsbG8=", "=?BASE64?SGVsbG8=?=", "a\tb", "42", "true"))),
    ({"region": "eu"}, [("mcp-param-region", " \teu\t ")]),
    *limits((42, "42"), (42, "42.0"), (42.0, "42"), (42, encoded("42")), (42, "42." + "0" * 61), (-7, "-7")),
    *limits((0, "-0.00"), (2**53 - 1, str(2**53 - 1)), (-(2**53) + 1, str(-(2**53) + 1))),
    ({"dry": True}, [param("X-Dry.Run", "true")]),
    ({"where": {"tenant": "a"}}, [param("Tenant", "a")]),
    ({"region": "eu", "limit": 1}, [param("Region", "eu"), param("Limit", "1"), param("Unknown", "\xff")]),
]
DIFFERENT: list[tuple[Any, Fields]] = [
    # missing
    *((arguments, []) for arguments in ({"region": ""}, {"limit": 0}, {"dry": False}, {"where": {"tenant": "a"}})),
    ({"region": "eu", "limit": 1}, [param("Region", "eu")]),
    ({"region": "eu"}, [("Mcp-Param", "eu"), ("Region", "eu"), ("Mcp-Param_Region", "eu")]),
    # given without an argument
    *(({}, [param("Region", value)]) for value in ("eu", "", "null")),
    *regions((None, "null")),
    *((where, [param("Tenant", "a")]) for where in ({"where": {"tenant": None}}, {"where": "a"}, {"tenant": "a"})),
    (None, [param("Region", "eu")]),
    # of another value
    *regions(*(("eu", value) for value in ("us", "EU", '"eu"', "eu, eu", "\xa0eu", encoded("us")))),
    *regions((" eu ", " eu "), ("=?base64?SGVsbG8=?=", "=?base64?SGVsbG8=?=")),
    # given twice
    ({"region": "eu"}, [param("Region", "eu"), param("Region", "eu")]),
    ({"region": "eu"}, [param("Region", "eu"), param("REGION", "us")]),
    # text that a header cannot carry
    *regions(("\xe9", "\xe9"), ("\xe9", utf_8("\xe9")), ("\ufffd", "=?base64?//79?=")),
    *regions(*(("Hello", f"=?base64?{text}?=") for text in ("SGVsbG8", "SGVs!!!bG8=", "SGVs bG8=", "SGVsbG9="))),
    # numbers, true and false
    *limits(*((42, value) for value in ("43", "42.5", "042", "+42", "4.2e1", "0x2a", "42,0", "", "42." + "0" * 62))),
    *limits((42, utf_8("٤٢")), *((42, encoded(text)) for text in ("٤٢", "4٢", "42.\u0660"))),
    *limits((1, "true"), (2**53, str(2**53)), (2**53 - 1, str(2**53)), (1e300, "1" + "0" * 300)),
    *(({"dry": dry}, [param("X-Dry.Run", text)]) for dry, text in ((True, "True"), (True, "1"), (False, ""))),
    # of a type that no header has
    *regions((["eu"], "eu"), ({"a": 1}, '{"a":1}')),
]


@pytest.mark.requirement("HEAD-08", "HEAD-10", "HEAD-11", "HEAD-13", "HEAD-24", "HEAD-25", "HEAD-27")
async def test_parameter_headers_that_agree_with_the_arguments(server: Served) -> None:
    for arguments, fields in ACCEPTED:
        done = await send(server, "mirrored_sql", arguments, *fields)
        assert done.result["structuredContent"] == arguments, fields
    for fields in ([], [param("Region", "us")], [param("Region", "us"), param("Region", "\xe9")]):
        assert (await send(server, "mirrored_plain", {"region": "eu"}, *fields)).result["content"][0]["text"] == "eu"


@pytest.mark.requirement("HEAD-09", "HEAD-12", "HEAD-19", "HEAD-22", "HEAD-23", "HEAD-25", "HEAD-26")
async def test_parameter_headers_that_differ_are_refused_by_name_without_their_values(server: Served) -> None:
    for arguments, fields in DIFFERENT:
        done = await send(server, "mirrored_sql", arguments, *fields)
        assert done.refused == REFUSED, (arguments, fields)
        assert done.last["error"]["message"].startswith("Header mismatch: ")
    text = (await send(server, "mirrored_sql", {"region": "top secret"}, param("Region", "hush"))).answer.body.decode()
    assert "Mcp-Param-Region" in text
    assert "secret" not in text
    assert "hush" not in text


async def test_hidden_tools_other_methods_and_sessions_mirror_nothing(server: Served) -> None:
    arguments = {"region": "eu"}
    assert (await send(server, "mirrored_typed", arguments)).refused == REFUSED
    assert (await send(server, "mirrored_typed", arguments, param("Region", "eu"))).result["isError"] is False
    for tool in ("mirrored_nothing", "mirrored_secret"):
        assert (await send(server, tool, arguments)).last["error"]["code"] == -32602
    assert (await send(server, "mirrored_secret", arguments, server.proof)).refused == REFUSED
    assert await refused(server, modern(message("prompts/get", {"name": "mirrored_sql"}))) == (404, -32601)
    session = await opened(server)
    done = await session.post(call("mirrored_sql", arguments), param("Region", "us"))
    assert json.loads(done.result["content"][0]["text"]) == arguments


@pytest.mark.requirement("HEAD-21", "SCHEMA-04", "SCHEMA-11", "TOOL-18")
async def test_schemas_of_the_author_are_listed_unchanged_and_enforced(server: Served) -> None:
    tools = {tool["name"]: tool for tool in (await ask(server, LIST)).result["tools"]}
    assert tools["mirrored_sql"]["inputSchema"] == mirrored_kit.SQL
    assert "mirrored_wrong" not in tools
    assert json.dumps(tools["mirrored_old"]["inputSchema"]) == json.dumps(mirrored_kit.DRAFT_07)
    done = await send(server, "mirrored_old", {"pair": [1, 2]})
    text = "Invalid arguments:\npair.1: must be a string, got an integer\nwhy is required"
    assert done.result["content"][0]["text"] == text
    assert (await send(server, "mirrored_old", {})).result["structuredContent"] == [1]
    broken = (await send(server, "mirrored_old", {"pair": [1, "x"], "why": 0})).result
    assert (broken["isError"], "structuredContent" in broken) == (True, False)


FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.requirement("HEAD-10", "HEAD-22")
@FEW
@given(text=st.text(max_size=40), other=st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20))
async def test_any_text_passes_as_clients_encode_it_and_no_other_does(server: Served, text: str, other: str) -> None:
    done = await send(server, "mirrored_sql", {"region": text}, param("Region", header_value(text)))
    assert done.result["structuredContent"] == {"region": text}
    done = await send(server, "mirrored_sql", {"region": text}, param("Region", other))
    stripped = other.strip(" \t")
    if stripped == text and header_value(text) == text:
        assert done.status == 200
    elif not stripped.startswith("=?base64?"):
        assert done.refused == REFUSED
