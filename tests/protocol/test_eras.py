"""The handshake of sessions, the envelope of 2026-07-28, and both side by side on one connection or server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import Servers
from tests.support.mcp_client import McpClient, McpServer, values
from tests.support.peer import META, modern_meta
from tests.support.schemas import LEGACY, MODERN, REVISIONS

SERVED = [*MODERN, *reversed(LEGACY)]
CLIENT: dict[str, Any] = {"capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
LISTS = {kind: {"listChanged": True} for kind in ("tools", "prompts")}
CAPABILITIES = {**LISTS, "resources": {"listChanged": True, "subscribe": True}, "logging": {}}


@pytest.mark.requirement("ERA-01", "ERA-05", "ERA-08", "UTIL-16", "UTIL-24")
async def test_a_revision_that_is_served_is_agreed_on(session: McpClient) -> None:
    assert session.opened["protocolVersion"] == session.revision
    assert session.opened["instructions"] == "Only for tests."
    promised = session.opened["capabilities"]
    assert {kind: promised[kind] for kind in promised if kind != "experimental"} == CAPABILITIES
    assert await session.result("ping", {"_meta": {"progressToken": "p"}}) == {}


@pytest.mark.requirement("ERA-02", "ERA-03", "ERA-25", "MSG-19")
async def test_any_other_revision_is_answered_with_the_newest_legacy_one(servers: Servers) -> None:
    """Never with 2026-07-28, which has no handshake. Members beyond the schema are ignored."""
    server = await servers.get("http", "fixture")
    more: dict[str, Any] = {
        "capabilities": {"elicitation": {"form": {}, "url": {}}, "future": {"x": 1}},
        "clientInfo": {"name": "wire", "version": "1", "title": "Wire", "shoeSize": 44},
        "_meta": {"progressToken": 0, "com.example/x": None},
        "surprise": True,
    }
    for revision in (*MODERN, "1900-01-01", "2025-11-26", "draft", ""):
        client = await server.client(opened=False)
        client.revision = revision
        await client.open(**more)
        assert client.opened["protocolVersion"] == LEGACY[-1]


@pytest.mark.requirement("ERA-04", "ERA-25")
async def test_a_malformed_handshake_is_refused_may_be_repeated_and_comes_first(server: McpServer) -> None:
    client = await server.client(opened=False)
    known = {**CLIENT, "protocolVersion": "2025-11-25"}
    wrong: list[Any] = [None, CLIENT, {**CLIENT, "protocolVersion": 20251125}]
    wrong += [known | {"capabilities": []}, known | {"clientInfo": "me"}]
    for params in wrong:
        assert (await client.error("initialize", params))["code"] == -32602, params
    for method in ("tools/list", "tools/call", "nonsense"):
        error = await client.error(method, {"name": "fixture_echo"})
        assert error["code"] == -32600
        assert "initialize" in error["message"]
    await client.open()
    assert await client.result("ping") == {}
    await client.request("initialize", known)  # a second handshake harms nothing
    assert await client.text("fixture_echo", text="still here") == "still here"


@pytest.mark.requirement("ERA-05", "MSG-24")
async def test_the_server_introduces_itself_with_the_fields_of_the_revision(sites: dict[str, Path]) -> None:
    """Pictures and the description once, not with every result."""
    source = {"src": "https://example.invalid/i.png"}
    inline = {"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    host = (
        'description = "Tools for a test."\nicons = ["https://example.invalid/i.png", '
        '{ src = "data:image/png;base64,AA==", mime_type = "image/png", sizes = ["48x48"], theme = "dark" }]'
    )
    async with McpServer("http", sites["fixture"], host=host) as server:
        for revision in REVISIONS:
            known: dict[str, Any] = {"name": "wire-tests", "version": "9.8.7"}
            known |= {"title": "Wire tests"} if revision >= "2025-06-18" else {}
            website = {"websiteUrl": "https://example.invalid/"} if revision >= "2025-11-25" else {}
            full = website | ({"description": "Tools for a test.", "icons": [source, inline]} if website else {})
            client = await server.client(revision)
            if not client.modern:
                assert client.opened["serverInfo"] == known | full
                continue
            key = f"{META}serverInfo"
            assert (await client.result("server/discover"))["_meta"][key] == known | full
            assert (await client.result("tools/list"))["_meta"][key] == known | website


@pytest.mark.requirement("ERA-08", "ERA-13", "EXT-07", "UTIL-16")
async def test_discover_says_what_is_served(modern: McpClient) -> None:
    result = await modern.result("server/discover")
    assert result["supportedVersions"] == SERVED
    assert result["capabilities"] == CAPABILITIES
    assert (result["instructions"], result["cacheScope"]) == ("Only for tests.", "public")


RESULTS: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "fixture_add", "arguments": {"a": 1}}),
    ("tools/call", {"name": "fixture_add", "arguments": {}}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "fixture://text"}),
    ("prompts/get", {"name": "fixture_review"}),
]


@pytest.mark.requirement("MSG-13", "MSG-24", "LIST-05", "LIST-06", "LIST-07")
async def test_every_result_is_complete_names_its_server_and_may_be_cached_if_it_is_fixed(either: McpClient) -> None:
    """In 2026-07-28; the results of sessions have none of these members."""
    for method, params in RESULTS if either.modern else RESULTS[1:]:
        result = await either.result(method, params)
        if not either.modern:
            assert not {"ttlMs", "cacheScope", "resultType"} & result.keys()
            continue
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{META}serverInfo"]["name"] == "wire-tests"
        if method in ("tools/call", "prompts/get"):
            assert not {"ttlMs", "cacheScope"} & result.keys()
        else:
            assert type(result["ttlMs"]) is int
            assert result["ttlMs"] >= 0
            assert result["cacheScope"] in ("public", "private")


def meta(**changes: Any) -> dict[str, Any]:
    """The `_meta` of a request with some of the protocol's own members changed; None removes a member."""
    changed = modern_meta() | {f"{META}{name}": value for name, value in changes.items()}
    return {"_meta": {name: value for name, value in changed.items() if value is not None}}


@pytest.mark.requirement("ASK-27", "ERA-15", "ERA-18", "MSG-19", "MSG-25")
async def test_each_request_alone_says_who_calls_and_unknown_members_are_ignored(modern: McpClient) -> None:
    params = {"name": "fixture_about", "arguments": {}}
    for name, info in (("first", {"name": "first", "version": "1"}), ("", None)):
        result = await modern.result("tools/call", params | meta(clientInfo=info))
        assert result["structuredContent"]["client"] == name
    for key in ("traceparent", "com.example/anything", "future", f"{META}future"):
        assert "tools" in await modern.result("tools/list", {"_meta": {key: {"x": [None]}}})


@pytest.mark.requirement("ERA-10", "ERA-11", "MSG-09", "UTIL-09", "UTIL-20")
async def test_an_incomplete_or_malformed_envelope_is_refused_before_its_version(modern: McpClient) -> None:
    envelopes: list[dict[str, Any]] = [
        *({"clientCapabilities": value} for value in values(None, [], "{}")),
        *({"protocolVersion": version} for version in (20260728, ["2026-07-28"])),
        *({"clientInfo": info} for info in ("me", {"name": "no version"}, {"name": 1, "version": "1"})),
        *({"logLevel": level} for level in ("chatty", 3)),
        *({"progressToken": value} for value in values(True, None, 1.5, {})),
        {"protocolVersion": "1900-01-01", "clientCapabilities": None},
    ]
    for envelope in envelopes:
        params = {"_meta": modern_meta(**envelope)} if "progressToken" in envelope else meta(**envelope)
        message = {"jsonrpc": "2.0", "id": "e", "method": "tools/list", "params": params}
        reply = await modern.send_raw(json.dumps(message).encode(), id="e")
        assert (reply.error["code"], reply.status) in ((-32602, None), (-32602, 400)), envelope


@pytest.mark.requirement("ERR-03", "HTTP-21")
async def test_removed_and_unknown_methods_are_not_found(client: McpClient) -> None:
    """With 400 over HTTP, a client of both eras could take the server for one of the older."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "level": "info", "uri": "fixture://text", "name": 5}
    removed = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
    added = ["server/discover", "subscriptions/listen", "sampling/createMessage", "notifications/initialized"]
    for method in (*(removed if client.modern else added), "completion/complete", "tasks/list", "tools/List", ""):
        reply = await client.request(method, params)
        assert reply.error["code"] == -32601, method
        assert reply.status in (None, 404 if client.modern else 200), method


@pytest.mark.requirement("ERA-07", "ERA-16", "ERA-21", "ERR-06", "LIST-11", "RES-03")
async def test_both_eras_are_served_side_by_side_each_in_its_own_words(server: McpServer) -> None:
    client = await server.client("2025-06-18", opened=False)
    assert "result" in (await client.request("server/discover", modern=True)).message
    assert (await client.error("tools/list"))["code"] == -32600  # which opened no session
    await client.open()
    for modern, revision in ((True, "2026-07-28"), (False, "2025-06-18")):
        about = await client.call("fixture_about", modern=modern)
        assert about["structuredContent"]["revision"] == revision
        error = await client.error("resources/read", {"uri": "fixture://missing"}, modern=modern)
        assert error["code"] == (-32602 if modern else -32002)
    pending = [await client.begin("tools/list", modern=bool(turn % 2)) for turn in range(40)]
    assert ["resultType" in await request.result() for request in pending] == [bool(turn % 2) for turn in range(40)]
    envelope = {"progressToken": "p", "traceparent": "00-0-0-00"}  # without a version it is of the session
    assert "resultType" not in await client.result("tools/list", {"_meta": envelope})
