"""Which era a request over HTTP belongs to (section 1.2), and what is answered outside of both (section 3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import ACCEPT, JSON_FIELDS, Session, call, exchange, message, mirrored, modern
from tests.support.peer import modern_meta
from tests.support.schemas import LEGACY, MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
PV = "MCP-Protocol-Version"


async def post(served: Served, one: Any, *fields: tuple[str, str]) -> Any:
    async with await served.connect() as line:
        return await exchange(line, json.dumps(one).encode(), [*JSON_FIELDS, *fields])


# --- POST


@pytest.mark.requirement("SESS-01", "SESS-02")
@pytest.mark.parametrize("header", [None, *LEGACY])
async def test_initialize_opens_a_session_whatever_the_header_says(served: Served, header: str | None) -> None:
    """Rows 2 and 3; the suite sends the header on initialize both ways (section 1.4)."""
    done = await post(served, message("initialize", INITIALIZE), *([(PV, header)] if header else []))
    assert done.result["protocolVersion"] == "2025-11-25"
    session = done.answer.get("Mcp-Session-Id")
    assert len(session) >= 32
    assert all("\x21" <= character <= "\x7e" for character in session)


@pytest.mark.requirement("ERA-02", "ERA-03")
@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01", "1.0"])
async def test_no_session_speaks_another_revision(served: Served, version: str) -> None:
    done = await post(served, message("initialize", {**INITIALIZE, "protocolVersion": version}))
    assert done.result["protocolVersion"] == "2025-11-25"


@pytest.mark.requirement("ERA-04", "HEAD-03")
async def test_without_a_session_there_are_only_two_openings(served: Served) -> None:
    done = await post(served, message("tools/list"))
    assert done.refused == (400, -32600)
    assert MODERN[-1] in done.last["error"]["data"]["supported"]


@pytest.mark.requirement("ERA-11", "HEAD-04")
@pytest.mark.parametrize("header", [MODERN[-1], "2099-01-01", "nonsense"])
async def test_a_header_that_is_not_of_the_older_era_makes_a_request_modern(served: Served, header: str) -> None:
    """Row 4: it then lacks its `_meta`; in a session too."""
    done = await post(served, message("tools/list", {}), (PV, header))
    assert done.refused == (400, -32602)
    error = done.last["error"]
    assert error["data"]["supported"] == [MODERN[-1], *reversed(LEGACY)]  # B-7
    assert all(one in error["message"] for one in LEGACY) == (header != MODERN[-1])
    session = Session(served)
    await session.open()
    assert (await session.post(message("tools/list", {}), (PV, header))).refused == (400, -32602)


@pytest.mark.requirement("HEAD-04")
async def test_a_header_that_is_given_twice_names_no_revision_of_a_session(served: Served) -> None:
    """Some intermediary may have read the one, and some the other."""
    session = Session(served)
    await session.open()
    for first, second in (("2025-11-25", "2025-11-25"), ("2025-11-25", "2025-06-18"), ("2025-11-25", MODERN[-1])):
        fields = [*session.fields((PV, first)), (PV, second)]
        async with await served.connect() as line:
            done = await exchange(line, json.dumps(message("tools/list", {})).encode(), fields)
        assert done.refused == (400, -32602)
    assert (await session.post(message("tools/list", {}), (PV, "2025-11-25 "))).status == 200


@pytest.mark.requirement("ERA-11", "ERA-21")
async def test_only_a_version_in_meta_makes_a_body_modern(served: Served) -> None:
    """Not any `_meta`: requests of the older era carry their progress token there."""
    session = Session(served)
    await session.open()
    assert (await session.post(message("tools/list", {"_meta": {"progressToken": 1}}))).status == 200
    half = {"_meta": {key: value for key, value in modern_meta().items() if key.endswith("Version")}}
    assert (await session.post(message("tools/list", half))).refused == (400, -32602)


@pytest.mark.requirement("HEAD-01")
async def test_the_header_of_the_older_era_on_a_modern_body(served: Served) -> None:
    """Row 5."""
    async with await served.connect() as line:
        one = modern(message("tools/list"))
        fields = mirrored(one, MCP_Protocol_Version="2025-11-25")
        assert (await exchange(line, json.dumps(one).encode(), fields)).refused == (400, -32020)


@pytest.mark.requirement("HTTP-07", "HTTP-08", "UTIL-08")
async def test_a_modern_notification_is_taken_and_dropped(served: Served) -> None:
    """Row 7: cancelling is done by closing the connection, never by id (trap 25)."""
    session = Session(served)
    await session.open()
    streaming = await session.begin(call("fixture_wait", {"label": "modern-cancel"}, token="t", id=77))
    one = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}
    for fields in ([(PV, MODERN[-1])], [(PV, MODERN[-1]), ("Mcp-Session-Id", session.id)]):
        done = await post(served, one, *fields)
        assert done.status == 202
        assert done.answer.body == b""
    in_meta = {**one, "params": {"requestId": 77, "_meta": modern_meta()}}
    assert (await post(served, in_meta, ("Mcp-Session-Id", session.id))).status == 202
    assert (await post(served, one, (PV, "2099-01-01"))).refused == (400, -32600)
    await session.post(call("fixture_release"))
    assert (await streaming.next())["result"]["content"][0]["text"] == "released"


@pytest.mark.requirement("HTTP-08", "HTTP-09")
async def test_clients_send_no_responses_in_the_modern_era(served: Served) -> None:
    """Row 8."""
    one = {"jsonrpc": "2.0", "id": 5, "result": {}}
    done = await post(served, one, (PV, MODERN[-1]))
    assert done.refused == (400, -32600)
    assert done.last.get("id") is None


@pytest.mark.requirement("MSG-17")
@pytest.mark.parametrize("fields", [[], [(PV, "2025-11-25")], [(PV, "2026-07-28")], [(PV, "2025-03-26")]])
@pytest.mark.parametrize("body", [[], [modern(message("tools/list"))], [message("initialize", INITIALIZE)]])
async def test_no_batch_outside_of_a_session(served: Served, fields: list[tuple[str, str]], body: list[Any]) -> None:
    """Row 9."""
    assert (await post(served, body, *fields)).refused == (400, -32600)


# --- GET, DELETE and the others


@pytest.mark.requirement("HTTP-05", "HTTP-22")
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_the_modern_era_has_only_post(served: Served, method: str) -> None:
    """Row 10."""
    session = Session(served)
    await session.open()
    answer = await served.request(method, "/mcp", [(PV, MODERN[-1]), ("Mcp-Session-Id", session.id)])
    assert answer.status == 405
    assert answer.get("Allow") == "POST"
    assert (await session.post(message("ping"))).status == 200


@pytest.mark.requirement("HEAD-04", "HTTP-01", "SESS-03", "SESS-06")
async def test_a_stream_is_there_to_get(served: Served) -> None:
    """Rows 10 to 12; without demanding anything of what clients leave out (clients.md 8)."""
    session = Session(served)
    await session.open()
    sid = ("Mcp-Session-Id", session.id)
    takes = ("Accept", "text/event-stream")
    for fields in ([sid], [sid, takes, ("Content-Type", "application/json")], [sid, ("Accept", "*/*")]):
        async with await served.connect() as line:
            await line.ask("GET", "/mcp", fields)
            head = await line.head()
            assert (head.status, head.get("Content-Type")) == (200, "text/event-stream")
    assert (await served.request("GET", "/mcp", [sid, ("Accept", "application/json")])).status == 406
    assert (await served.request("GET", "/mcp", [takes])).status == 400
    assert (await served.request("GET", "/mcp", [("Mcp-Session-Id", "unknown"), takes])).status == 404
    unknown = await served.request("GET", "/mcp", [sid, takes, (PV, "2099-01-01")])
    assert unknown.status == 400
    assert all(one in unknown.json["error"]["message"] for one in (*LEGACY, *MODERN))
    modern_get = await served.request("GET", "/mcp", [sid, takes, (PV, "2026-07-28")])
    assert (modern_get.status, modern_get.get("Allow")) == (405, "POST")


@pytest.mark.requirement("HEAD-04", "SESS-03", "SESS-04", "SESS-05")
async def test_delete_ends_a_session(served: Served) -> None:
    session = Session(served)
    await session.open()
    sid = ("Mcp-Session-Id", session.id)
    assert (await served.request("DELETE", "/mcp", [sid, ("Accept", "*/*")])).status == 204
    assert (await session.post(message("ping"))).refused == (404, -32600)
    assert (await served.request("DELETE", "/mcp", [sid])).status == 404
    assert (await served.request("DELETE", "/mcp")).status == 400
    assert (await served.request("DELETE", "/mcp", [sid, (PV, "2099-01-01")])).status == 400


@pytest.mark.requirement("SESS-05")
async def test_delete_cancels_what_runs_in_the_session(served: Served) -> None:
    session, other = Session(served), Session(served)
    await session.open()
    await other.open()
    streaming = await session.begin(call("fixture_wait", {"label": "deleted"}, token=1))
    await served.request("DELETE", "/mcp", [("Mcp-Session-Id", session.id)])
    assert (await streaming.next())["error"]["message"] == "The session was deleted."
    assert await streaming.next() is None
    assert "deleted" in (await other.post(call("fixture_cancelled"))).result["content"][0]["text"]


async def test_a_call_whose_session_is_deleted_gets_an_error(served: Served) -> None:
    session, other = Session(served), Session(served)
    await session.open()
    await other.open()
    async with await served.connect() as line:
        one = call("fixture_wait", {"label": "unanswered"}, id="w")
        await line.ask("POST", "/mcp", session.fields(), json.dumps(one).encode())
        while await busy(session, "w"):
            pass
        await served.request("DELETE", "/mcp", session.fields())
        answer = await line.answer()
        assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (404, "w", -32600)


async def busy(session: Session, request_id: str) -> bool:
    """Whether no request of that id has come so far."""
    return "result" in (await session.post(message("ping", id=request_id))).last


@pytest.mark.requirement("HTTP-05")
@pytest.mark.parametrize("method", ["BREW", "get", "GETX", "X-Y"])
async def test_methods_that_are_not_known(served: Served, method: str) -> None:
    assert (await served.request(method, "/mcp")).status == 501


@pytest.mark.requirement("HTTP-05")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "PROPFIND"])
async def test_other_methods(served: Served, method: str) -> None:
    answer = await served.request(method, "/mcp")
    assert answer.status == 405
    assert "POST" in (answer.get("Allow") or "")


@pytest.mark.requirement("HTTP-01")
@pytest.mark.parametrize("path", ["/", "/mcp//", "/MCP", "/mcp/x", "//mcp", "/nothing"])
async def test_other_paths(served: Served, path: str) -> None:
    assert (await served.request("POST", path, JSON_FIELDS, b"{}")).status == 404


async def test_the_path_may_end_with_a_slash(served: Served) -> None:
    session = Session(served)
    await session.open()
    body = json.dumps(message("ping", id="slash")).encode()
    assert (await served.request("POST", "/mcp/", session.fields(), body)).json["id"] == "slash"
    assert (await served.request("DELETE", "/mcp/", session.fields())).status == 204


@pytest.mark.parametrize("path", ["/", "/tools/mcp/"])
async def test_a_path_that_ends_with_a_slash(fixture_site: Path, path: str) -> None:
    async with Served(fixture_site, http_config(more=f'[plugins.mcp]\npath = "{path}"')) as served:
        body = json.dumps(message("initialize", INITIALIZE)).encode()
        for one in {path, path.rstrip("/") or "/"}:
            assert (await served.request("POST", one, JSON_FIELDS, body)).status == 200


async def test_head_opens_no_stream(served: Served) -> None:
    session = Session(served)
    await session.open()
    async with await served.connect() as line:
        answer = await line.request("HEAD", "/mcp", session.fields())
        assert (answer.status, answer.get("Allow")) == (405, "DELETE, GET, POST")
        assert (await line.request("GET", "/healthz")).text == "ok\n"  # nothing else is on the connection


async def test_health(served: Served) -> None:
    for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        answer = await served.request("GET", path)
        assert (answer.status, answer.text) == (200, text)
        head = await served.request("HEAD", path)
        assert (head.status, head.get("Content-Length")) == (200, str(len(text)))


# --- media types


@pytest.mark.requirement("SEC-04")
@pytest.mark.parametrize(
    ("media", "status"),
    [
        (None, 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json; charset=utf-16", 415),
        ("application/json; charset=latin-1", 415),
        ("application/json-rpc", 415),
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ('Application/JSON;charset="UTF-8"', 200),
        ("application/json; charset=utf8", 200),
        ("application/json; x=y", 200),
        ("application/json; x=y; charset=utf-16", 415),
    ],
)
async def test_a_body_is_json_in_utf_8(served: Served, media: str | None, status: int) -> None:
    """A-19."""
    one = modern(message("tools/list"))
    async with await served.connect() as line:
        answer = await line.request("POST", "/mcp", mirrored(one, Content_Type=media), json.dumps(one).encode())
        assert answer.status == status


@pytest.mark.requirement("SEC-04")
async def test_two_media_types_are_none(served: Served) -> None:
    fields = [("Content-Type", "application/json"), ("Content-Type", "text/plain")]
    assert (await served.request("POST", "/mcp", fields, b"{}")).status in {400, 415}


@pytest.mark.requirement("HTTP-06")
@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (ACCEPT, 200),
        (None, 200),
        ("*/*", 200),
        ("application/json", 200),
        ("application/*;q=0.5", 200),
        ("text/event-stream", 200),
        ("text/html", 406),
        ("", 200),
        ("application/json;q=0", 406),
        ("application/json; q=0.0, text/event-stream; Q=0.00", 406),
        ("*/*;q=0.000", 406),
        ("*/*;q=0.001", 200),
        ("text/*", 200),
        ("image/png, text/plain", 406),
    ],
)
async def test_a_client_must_take_one_of_our_media_types(served: Served, accept: str | None, status: int) -> None:
    one = modern(message("tools/list"))
    async with await served.connect() as line:
        fields = [field for field in mirrored(one) if field[0] != "Accept"]
        if accept is not None:
            fields.append(("Accept", accept))
        answer = await line.request("POST", "/mcp", fields, json.dumps(one).encode())
        assert answer.status == status


async def test_several_fields_of_accept_are_one_list(served: Served) -> None:
    one = modern(message("tools/list"))
    async with await served.connect() as line:
        for accepted, status in (("application/json", 200), ("image/png", 406)):
            fields = [*mirrored(one, Accept="text/html"), ("Accept", accepted)]
            assert (await line.request("POST", "/mcp", fields, json.dumps(one).encode())).status == status


@pytest.mark.requirement("HTTP-10")
async def test_a_client_that_does_not_say_gets_either(served: Served) -> None:
    for token, streamed in (("p", True), (None, False)):
        one = modern(call("fixture_count", token=token))
        async with await served.connect() as line:
            done = await exchange(line, json.dumps(one).encode(), mirrored(one, Accept=None))
        assert done.streamed == streamed


@pytest.mark.requirement("HTTP-10")
@pytest.mark.parametrize("in_session", [False, True])
async def test_a_client_gets_what_it_takes(served: Served, in_session: bool) -> None:
    """Progress is left out for one that takes no stream; the answer is a stream for one that takes nothing else."""
    session = Session(served)
    await session.open()
    one = call("fixture_count", token="p")
    for accept, streamed, messages in (
        ("application/json", False, 1),
        ("text/event-stream", True, 4),
        (ACCEPT, True, 4),
    ):
        if in_session:
            done = await session.post({**one, "id": accept}, ("Accept", accept))
        else:
            async with await served.connect() as line:
                sent = modern(one)
                done = await exchange(line, json.dumps(sent).encode(), mirrored(sent, Accept=accept))
        assert (done.streamed, len(done.messages)) == (streamed, messages)
        assert done.result["content"][0]["text"] == "counted"
    quiet = call("fixture_echo", {"text": "x"}, id="quiet")
    assert (await session.post(quiet, ("Accept", "text/event-stream"))).streamed
