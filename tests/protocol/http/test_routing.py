"""Methods, paths, media types, and the era that a request over HTTP belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http import Served
from tests.support.http_mcp import ACCEPT, JSON_FIELDS, Session, ask, call, exchanged, message, modern, opening, send
from tests.support.peer import modern_meta
from tests.support.schemas import LEGACY, MODERN

PV = "MCP-Protocol-Version"
TAKES = ("Accept", "text/event-stream")
LIST = message("tools/list", {})


async def post(served: Served, payload: Any, *fields: tuple[str, str]) -> Any:
    return await exchanged(served, payload, [*JSON_FIELDS, *fields])


@pytest.mark.requirement("ERA-04", "HEAD-03", "SESS-01", "SESS-02")
async def test_initialize_opens_a_session_with_any_header_and_no_other_legacy_request_does(served: Served) -> None:
    for fields in ([], [(PV, LEGACY[0])]):
        done = await post(served, opening(), *fields)
        assert done.result["protocolVersion"] == "2025-11-25"
        assert done.answer.get("Mcp-Session-Id")
    done = await post(served, message("tools/list"))
    assert done.refused == (400, -32600)
    assert MODERN[-1] in done.last["error"]["data"]["supported"]


@pytest.mark.requirement("ERA-11", "ERA-21", "HEAD-01", "HEAD-04", "HEAD-05")
async def test_the_header_or_a_version_in_meta_makes_a_request_modern(served: Served, session: Session) -> None:
    for header in (MODERN[-1], "2099-01-01", "nonsense"):
        done = await post(served, LIST, (PV, header))
        assert done.refused == (400, -32602)  # it lacks its `_meta`
        error = done.last["error"]
        assert error["data"]["supported"] == [MODERN[-1], *reversed(LEGACY)]
        assert all(revision in error["message"] for revision in LEGACY) == (header != MODERN[-1])
        assert (await session.post(LIST, (PV, header))).refused == (400, -32602)
    for header in (*LEGACY, "2025-11-25 "):  # any of the era is served in the session's own revision
        assert (await session.post(LIST, (PV, header))).status == 200
    bare = [*JSON_FIELDS, ("Mcp-Session-Id", session.id)]
    assert (await exchanged(served, LIST, bare)).status == 200
    for first, second in (("2025-11-25", "2025-11-25"), ("2025-11-25", "2025-06-18"), ("2025-11-25", MODERN[-1])):
        fields = [*bare, (PV, first), (PV, second)]  # intermediaries may read the one or the other
        assert (await exchanged(served, LIST, fields)).refused == (400, -32602)
    assert (await ask(served, LIST, MCP_Protocol_Version="2025-11-25")).refused == (400, -32020)
    assert (await session.post(message("tools/list", {"_meta": {"progressToken": 1}}))).status == 200
    half = {"_meta": {key: value for key, value in modern_meta().items() if key.endswith("Version")}}
    assert (await session.post(message("tools/list", half))).refused == (400, -32602)


@pytest.mark.requirement("HTTP-07", "HTTP-08", "HTTP-09", "MSG-17", "UTIL-08")
async def test_modern_notifications_are_ignored_responses_and_batches_refused(served: Served, session: Session) -> None:
    """A request is cancelled by closing its connection, never by its id."""
    streaming = await session.begin(call("fixture_wait", {"label": "modern-cancel"}, token="t", id=77))
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}
    for fields in ([(PV, MODERN[-1])], [(PV, MODERN[-1]), ("Mcp-Session-Id", session.id)]):
        done = await post(served, notification, *fields)
        assert (done.status, done.answer.body) == (202, b"")
    in_meta = {**notification, "params": {"requestId": 77, "_meta": modern_meta()}}
    assert (await post(served, in_meta, ("Mcp-Session-Id", session.id))).status == 202
    assert (await post(served, notification, (PV, "2099-01-01"))).refused == (400, -32600)
    await session.post(call("fixture_release"))
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"
    done = await post(served, {"jsonrpc": "2.0", "id": 5, "result": {}}, (PV, MODERN[-1]))
    assert (done.refused, done.last.get("id")) == ((400, -32600), None)
    for fields in ([], *([(PV, revision)] for revision in ("2025-11-25", MODERN[-1], "2025-03-26"))):
        for batch in ([], [modern(LIST)], [opening()]):
            assert (await post(served, batch, *fields)).refused == (400, -32600)


@pytest.mark.requirement("HEAD-04", "HTTP-01", "HTTP-05", "HTTP-22", "SESS-03", "SESS-04", "SESS-05", "SESS-06")
async def test_get_and_delete_belong_to_sessions(served: Served, session: Session) -> None:
    sid = ("Mcp-Session-Id", session.id)
    for method in ("GET", "DELETE"):
        answer = await served.request(method, "/mcp", [(PV, MODERN[-1]), sid])
        assert (answer.status, answer.get("Allow")) == (405, "POST")
    for fields in ([sid], [sid, TAKES, ("Content-Type", "application/json")], [sid, ("Accept", "*/*")]):
        async with await served.connect() as line:
            await line.ask("GET", "/mcp", fields)
            head = await line.head()
            assert (head.status, head.get("Content-Type")) == (200, "text/event-stream")
    async with await served.connect() as line:
        head = await line.request("HEAD", "/mcp", session.fields())  # it opens no stream
        assert (head.status, head.get("Allow")) == (405, "DELETE, GET, POST")
        assert (await line.request("GET", "/healthz")).text == "ok\n"
    for fields, status in (
        ([sid, ("Accept", "application/json")], 406),
        ([TAKES], 400),
        ([("Mcp-Session-Id", "unknown"), TAKES], 404),
    ):
        assert (await served.request("GET", "/mcp", fields)).status == status
    unknown = await served.request("GET", "/mcp", [sid, TAKES, (PV, "2099-01-01")])
    assert unknown.status == 400
    assert all(revision in unknown.json["error"]["message"] for revision in (*LEGACY, *MODERN))
    assert (await served.request("DELETE", "/mcp", [sid, (PV, "2099-01-01")])).status == 400
    assert (await served.request("DELETE", "/mcp")).status == 400
    assert (await session.post(message("ping"))).status == 200
    assert (await served.request("DELETE", "/mcp/", [sid, ("Accept", "*/*")])).status == 204
    assert (await session.post(message("ping"))).refused == (404, -32600)
    assert (await served.request("DELETE", "/mcp", [sid])).status == 404


@pytest.mark.requirement("HTTP-01", "HTTP-05")
async def test_other_methods_and_paths(served: Served) -> None:
    for method in ("BREW", "get", "GETX", "X-Y"):
        assert (await served.request(method, "/mcp")).status == 501
    for method in ("PUT", "PATCH", "OPTIONS", "PROPFIND"):
        answer = await served.request(method, "/mcp")
        assert answer.status == 405
        assert "POST" in (answer.get("Allow") or "")
    for path in ("/", "/mcp//", "/MCP", "/mcp/x", "//mcp", "/nothing"):
        assert (await served.request("POST", path, JSON_FIELDS, b"{}")).status == 404
    here = "The endpoint is /mcp: give its URL to an MCP client.\n"
    for path, text in (("/", here), ("/healthz", "ok\n"), ("/livez", "ok\n"), ("/readyz", "ready\n")):
        answer = await served.request("GET", path)
        assert (answer.status, answer.text, answer.get("Server")) == (200, text, "pegboard")
        head = await served.request("HEAD", path)
        assert (head.status, head.get("Content-Length")) == (200, str(len(text)))


@pytest.mark.requirement("SEC-04")
async def test_a_body_must_be_json_in_utf_8(served: Served) -> None:
    plain = "application/json"
    charsets = [f"{plain}; {more}" for more in ("charset=utf-16", "charset=latin-1", "x=y; charset=utf-16")]
    for media in (None, "text/plain", "multipart/form-data; boundary=x", f"{plain}-rpc", *charsets):
        assert (await ask(served, LIST, Content_Type=media)).status == 415, media
    for media in (plain, 'Application/JSON;charset="UTF-8"', f"{plain}; charset=utf8", f"{plain}; x=y"):
        assert (await ask(served, LIST, Content_Type=media)).status == 200, media
    fields = [("Content-Type", plain), ("Content-Type", "text/plain")]
    assert (await served.request("POST", "/mcp", fields, b"{}")).status in {400, 415}


ACCEPTED = [ACCEPT, None, "*/*", "application/json", "application/*;q=0.5", "text/event-stream", "", "*/*;q=0.001"]
NOT_ACCEPTED = ["text/html", "application/json;q=0", "*/*;q=0.000", "image/png, text/plain"]


@pytest.mark.requirement("HTTP-06")
async def test_a_client_must_accept_json_or_a_stream(served: Served) -> None:
    for accept, status in [
        *((media_range, 200) for media_range in ACCEPTED),
        *((media_range, 406) for media_range in NOT_ACCEPTED),
    ]:
        assert (await ask(served, LIST, Accept=accept)).status == status, accept
    async with await served.connect() as line:  # several fields are one list
        for accepted, status in (("application/json", 200), ("image/png", 406)):
            await send(line, LIST, ("Accept", accepted), Accept="text/html")
            assert (await line.answer()).status == status


@pytest.mark.requirement("HTTP-10")
async def test_a_client_gets_the_form_that_it_accepts(served: Served, session: Session) -> None:
    """Progress is left out for one that accepts no stream. A call without other messages is answered with JSON."""
    for accept, streamed, messages in (
        ("application/json", False, 1),
        ("text/event-stream", True, 4),
        (ACCEPT, True, 4),
    ):
        request = call("fixture_count", token="p")
        for done in (await ask(served, request, Accept=accept), await session.post(request, ("Accept", accept))):
            assert (done.streamed, len(done.messages)) == (streamed, messages)
            assert done.result["content"][0]["text"] == "counted"
    for token in (None, 0):
        request = call("fixture_echo", {"text": "x"}, token=token)
        for done in (await ask(served, request), await session.post(request)):
            assert (done.streamed, done.answer.get("Content-Length")) == (False, str(len(done.answer.body)))
