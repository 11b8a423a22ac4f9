"""HTTP servers that expire, break off, redirect, and send garbage."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any, ClassVar

import pytest

from pegboard.plugin import ProtocolError, TransportError
from pegboard_client import Client, ClientLimits, Endpoint, LoginRequiredError
from pegboard_client.http_session import SessionHttp
from tests.host.hosting import WAIT, until
from tests.pegboard_client.scripted import (
    ACCEPTED,
    DISCOVERED,
    INITIALIZED,
    NOT_FOUND,
    NOT_OFFERED,
    REVISION,
    STREAM,
    Got,
    Respond,
    Tokens,
    acknowledged,
    as_json,
    assert_refused,
    connected,
    event,
    guarded,
    scripted_http,
    session,
    whole,
)

PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 0, "progress": 1}}
OK: dict[str, Any] = {"content": []}
BROKEN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{"


def stateless(respond: Respond) -> Respond:
    return lambda got: got.result(DISCOVERED) if got.method == "server/discover" else respond(got)


@pytest.mark.parametrize(
    "refusal",
    [
        whole(400, b"bad request"),
        whole(404, b""),
        whole(405, b""),
        whole(500, b"", "Content-Type: text/html"),
        as_json({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no session"}}, status=400),
        as_json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "unknown"}}),
        as_json(
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "m", "data": {"supported": [REVISION]}}}
        ),
        as_json({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
    ],
)
async def test_a_server_that_does_not_know_discovery_gets_a_session(refusal: bytes) -> None:
    handshake = session(lambda got: got.result(OK))
    async with connected(lambda got: refusal if got.method == "server/discover" else handshake(got)) as (client, got):
        assert (client.revision, client.server.name) == (REVISION, "s")
        assert await client.call("x") == OK
    assert [request.method for request in got][1:] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
        "DELETE",
    ]
    assert {request.headers.get("mcp-session-id") for request in got[2:]} == {"s1"}
    assert {request.headers.get("mcp-protocol-version") for request in got[2:]} == {REVISION}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            {"code": -32022, "message": "m", "data": {"supported": ["2030-01-01"]}},
            r"only the revisions \['2030-01-01'\]",
        ),
        ({"code": -32021, "message": "needs sampling"}, "needs sampling"),
    ],
)
async def test_a_server_of_the_new_era_without_common_revision_is_refused(error: Any, message: str) -> None:
    refusal = as_json({"jsonrpc": "2.0", "id": 1, "error": error}, status=400)
    async with scripted_http(lambda _: refusal) as (url, got):
        with pytest.raises((TransportError, ProtocolError), match=message):
            async with Client(url):
                pass
    assert len(got) == 1


async def test_a_session_of_an_unknown_revision_is_refused() -> None:
    async with scripted_http(lambda got: got.result({**INITIALIZED, "protocolVersion": "1999-01-01"})) as (url, _):
        await assert_refused(url, "selected the revision '1999-01-01'", revision=REVISION)


def test_a_revision_that_the_client_does_not_speak_is_refused() -> None:
    with pytest.raises(ValueError, match="does not speak '2020-01-01'; use 2026-07-28, 2025-11-25"):
        Client("http://localhost/mcp", revision="2020-01-01")


NO_SESSION = "Bad Request: No valid session ID provided"


@pytest.mark.parametrize(
    "unknown",
    [
        NOT_FOUND,
        whole(400, NO_SESSION.encode()),
        as_json({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": NO_SESSION}}, status=400),
    ],
)
async def test_an_expired_session_is_renewed_once_and_the_requests_are_repeated(unknown: bytes) -> None:
    opened: list[str] = []
    methods: list[str] = []

    def respond(got: Got) -> bytes:
        if got.method == "initialize":
            opened.append(f"s{len(opened) + 1}")
            return got.result(INITIALIZED, f"Mcp-Session-Id: {opened[-1]}")
        if got.verb == "GET":
            return NOT_OFFERED
        if "method" in (got.message or {}) and got.method.startswith("notifications/"):
            return ACCEPTED
        if got.verb == "POST" and got.headers["mcp-session-id"] == "s1":
            return unknown
        return got.result(OK) if got.verb == "POST" else ACCEPTED

    async with connected(respond, revision=REVISION, on_notification=lambda method, _: methods.append(method)) as (
        client,
        got,
    ):
        assert await asyncio.gather(*(client.call("x") for _ in range(5))) == [OK] * 5
    assert opened == ["s1", "s2"]
    assert sum(request.method == "tools/call" and request.headers["mcp-session-id"] == "s2" for request in got) == 5
    assert methods == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("turns", range(5))
async def test_a_cancellation_is_not_lost_when_a_session_ends(turns: int) -> None:
    unused: Any = None
    closing = asyncio.ensure_future(SessionHttp(unused, unused, unused, unused).close())
    for _ in range(turns):
        await asyncio.sleep(0)
    if closing.cancel():
        with pytest.raises(asyncio.CancelledError):
            await closing


async def test_a_failed_renewal_is_tried_again_with_the_next_request() -> None:
    handshakes = iter([True, False, True])
    calls = iter([False, False, True])

    def respond(got: Got) -> bytes:
        if got.method == "initialize":
            return got.result(INITIALIZED, "Mcp-Session-Id: s1") if next(handshakes) else whole(503, b"")
        if got.method == "tools/call":
            return got.result(OK) if next(calls) else NOT_FOUND
        return ACCEPTED

    async with connected(respond, revision=REVISION) as (client, _):
        with pytest.raises(TransportError, match="503"):
            await client.call("x")
        assert await client.call("x") == OK


async def test_a_broken_stream_is_resumed_after_its_last_event() -> None:
    reported: list[Any] = []

    def respond(got: Got) -> bytes:
        if got.method == "tools/call":
            calls.append(got)
            token = got.message["params"]["_meta"]["progressToken"]
            progress = {**PROGRESS, "params": {"progressToken": token, "progress": 1}}
            return STREAM + event(None, "e0", retry=1) + event(progress, "e1")
        if got.verb == "GET" and got.headers["last-event-id"] == "e1":
            return STREAM + event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}, "e2")
        return STREAM + calls[0].event(OK)

    calls: list[Got] = []
    async with connected(session(respond), revision=REVISION) as (client, got):
        assert await client.call("x", progress=reported.append) == OK
    assert [request.headers["last-event-id"] for request in got if request.verb == "GET"] == ["e1", "e2"]
    assert len(calls) == len(reported) == 1


async def test_a_stream_without_ids_that_ends_early_fails_the_request() -> None:
    async with connected(session(lambda _: STREAM + event(PROGRESS)), revision=REVISION) as (client, _):
        with pytest.raises(TransportError, match="the stream ended before the response"):
            await client.call("x")


async def test_the_standalone_stream_is_opened_again_and_changes_may_have_been_missed() -> None:
    methods: list[str] = []
    opened = 0

    def respond(got: Got) -> bytes:
        nonlocal opened
        opened += got.verb == "GET"
        return STREAM + event(None, retry=1)

    async with connected(
        session(respond), revision=REVISION, on_notification=lambda method, _: methods.append(method)
    ) as (client, _):
        await client.listen()
        await until(lambda: opened > 2 and len(methods) > 1)
    assert set(methods) == {"notifications/tools/list_changed"}


async def test_questions_on_the_standalone_stream_belong_to_the_only_request_with_a_function() -> None:
    called, answered = asyncio.Event(), asyncio.Event()
    responses: list[Any] = []

    async def respond(got: Got) -> bytes:
        if got.verb == "GET":
            await called.wait()
            question = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "?"}}
            return STREAM + event({"jsonrpc": "2.0", "id": "p", "method": "ping"}) + event(question)
        if got.message.get("method") == "tools/call":
            called.set()
            await answered.wait()
            return got.result(OK)
        responses.append(got.message)
        if len(responses) == 2:
            answered.set()
        return ACCEPTED

    async def ask(question: Any) -> dict[str, Any]:
        return {"action": "decline"}

    options: dict[str, Any] = {"revision": REVISION, "capabilities": {"elicitation": {}}}
    async with connected(session(respond), **options) as (client, _):
        assert await client.call("x", ask=ask, timeout=WAIT) == OK
    assert {response["id"]: response["result"] for response in responses} == {"p": {}, "q": {"action": "decline"}}


@pytest.mark.usefixtures("reconnects")
async def test_a_lost_subscription_is_repeated_and_changes_may_have_been_missed() -> None:
    changes: list[str] = []
    options = {"on_notification": lambda method, params: changes.append(params.get("uri", method))}
    async with connected(stateless(acknowledged), **options) as (client, got):
        await client.listen()
        await client.subscribe("x://a")
        await until(lambda: "x://a" in changes)
        assert "notifications/tools/list_changed" in changes
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    assert got[1].message["params"]["notifications"] == wanted
    assert got[-1].message["params"]["notifications"] == {**wanted, "resourceSubscriptions": ["x://a"]}


async def test_a_subscription_that_is_refused_later_is_requested_again(reconnects: list[int]) -> None:
    """A server that stops, or is started again, may respond with an error to the next request."""
    changes: list[str] = []

    def respond(got: Got) -> bytes:
        if len(reconnects) in (1, 2):
            error = {"code": -32603, "message": "the server is stopping"}
            return as_json({"jsonrpc": "2.0", "id": got.message["id"], "error": error}, status=503)
        return acknowledged(got)

    options = {"on_notification": lambda method, _: changes.append(method)}
    async with connected(stateless(respond), **options) as (client, _):
        await client.listen()
        await until(lambda: "notifications/tools/list_changed" in changes)
    assert reconnects[:3] == [1, 2, 3]  # a stream that ends at once is a failure too


@pytest.mark.usefixtures("reconnects")
@pytest.mark.parametrize("era", [session, stateless])
async def test_a_lost_stream_that_requires_a_login_is_opened_again_after_an_accepted_request(
    era: Any, caplog: pytest.LogCaptureFixture
) -> None:
    methods: list[str] = []
    opened, tokens = 0, Tokens()

    def respond(got: Got) -> bytes:
        nonlocal opened
        if got.method == "tools/call":
            return got.result(OK)
        opened += 1
        if opened in (2, 3):
            return whole(401, b"")
        if opened > 4:
            return NOT_OFFERED
        return STREAM if got.verb == "GET" else acknowledged(got)

    options: dict[str, Any] = {"on_notification": lambda method, _: methods.append(method)}
    revision = REVISION if era is session else "2026-07-28"
    async with (
        scripted_http(era(respond)) as (url, _),
        Client(Endpoint(url, auth=tokens), revision=revision, **options) as client,
    ):
        await client.listen()
        await until(lambda: "requires a login" in caplog.text)
        assert opened == 2
        async with asyncio.timeout(WAIT):
            while not methods:
                assert await client.call("x") == OK
    assert (caplog.text.count("requires a login"), tokens.statuses) == (1, [])


OTHER_IDS = (1, "2", 2.0, True, None, [2])


@pytest.mark.parametrize("era", [session, stateless])
@pytest.mark.parametrize(
    ("response", "message"),
    [
        (as_json([]), "not a JSON-RPC message"),
        (as_json({"jsonrpc": "2.0", "id": 2}), "neither a result nor an error"),
        (as_json({"jsonrpc": "2.0", "id": 2, "result": "done"}), "neither a result nor an error"),
        (as_json({"jsonrpc": "2.0", "id": 2, "error": {"code": "x"}}), "neither a result nor an error"),
        *((as_json({"jsonrpc": "2.0", "id": wrong, "result": OK}), "id of another request") for wrong in OTHER_IDS),
        (as_json({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}), "id of another request"),
        (STREAM + event({"jsonrpc": "2.0", "id": 1, "result": OK}), "ended before the response"),
        (whole(200, b'{"a": NaN', "Content-Type: application/json"), "not JSON"),
        (whole(200, b"<html>", "Content-Type: text/html"), r"not a JSON-RPC message \(text/html\)"),
        (whole(200, b"x" * 3000, "Content-Type: application/json"), "more than 2000 bytes"),
        (whole(502, b"<html>", "Content-Type: text/html"), "HTTP status 502"),
        (STREAM + b"data: {\n\n", "not JSON"),
        (STREAM + b"data: [1]\n\n", "not a JSON-RPC message"),
        (STREAM + b"data: " + b"x" * 3000, "more than 2000 bytes"),
        (STREAM + b"data: x\n" * 3000, "more than 2000 bytes"),
        (STREAM + b"data\n" * 3000, "more than 2000 bytes"),
        (STREAM + b": only a comment\n\n", "ended before the response"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\nConnection: close\r\n\r\n{",
            "broke off",
        ),
        (b"", "no response"),
        (b"hello\r\n\r\n", "no response"),
        (
            whole(307, b"", "Location: https://elsewhere.example/mcp?token=1"),
            "redirects to https://elsewhere.example/mcp;",
        ),
        (whole(307, b"", "Location: http://["), "redirects to an invalid address"),
    ],
)
async def test_a_faulty_response_is_one_clear_error(era: Any, response: bytes, message: str) -> None:
    limits = ClientLimits(message_bytes=2000)
    revision = REVISION if era is session else None
    async with connected(
        era(lambda got: response if got.method == "tools/call" else got.result(OK)), revision=revision, limits=limits
    ) as (client, _):
        with pytest.raises(TransportError, match=message) as caught:
            await client.call("x")
        assert caught.value.message.startswith("http://127.0.0.1:")
        assert await client.request("ping") == OK  # the client goes on


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_response_with_a_text_that_was_cut_within_a_character_is_read(streamed: bool) -> None:
    def respond(got: Got) -> bytes:
        body = b'{"jsonrpc": "2.0", "id": %d, "result": {"text": "\\ud83d"}}' % got.message["id"]
        return STREAM + b"data: " + body + b"\n\n" if streamed else whole(200, body, "Content-Type: application/json")

    async with connected(stateless(respond)) as (client, _):
        assert await client.call("x") == {"text": "\ufffd"}


@pytest.mark.parametrize(
    ("answered", "code", "status"), [(None, -32600, 400), ("server-error", -32600, 400), (2, -32601, 404)]
)
async def test_a_status_with_an_error_of_the_protocol_is_that_error(answered: Any, code: int, status: int) -> None:
    error = as_json({"jsonrpc": "2.0", "id": answered, "error": {"code": code, "message": "no"}}, status=status)
    async with connected(stateless(lambda _: error)) as (client, _):
        with pytest.raises(ProtocolError, match="no") as caught:
            await client.call("x")
        assert caught.value.code == code


async def test_a_closed_client_says_so() -> None:
    async with connected(lambda got: got.result(DISCOVERED), revision="2026-07-28") as (client, _):
        pass
    with pytest.raises(TransportError, match="the client is closed"):
        await client.call("x")


async def test_a_server_that_is_not_there_is_named() -> None:
    async with scripted_http(lambda _: ACCEPTED) as (url, _):
        pass
    endpoint = Endpoint(url.replace("127", "user:secret@127") + "?key=secret")
    await assert_refused(endpoint, f"{url}: cannot connect: Connection refused$")


@pytest.mark.parametrize(
    "url", ["ftp://user:secret@host/", "http://user:secret@:x/", "host/mcp", "http://", "http://["]
)
async def test_an_address_that_is_not_of_http_is_refused_without_its_secrets(url: str) -> None:
    caught = await assert_refused(Endpoint(url), "not a URL of an HTTP server")
    assert "secret" not in str(caught.value)


async def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_http(lambda got: got.result(DISCOVERED)) as (proxy, got):
        monkeypatch.setenv("http_proxy", proxy)
        async with Client("http://server.invalid/mcp") as client:
            assert client.stateless
        monkeypatch.setenv("no_proxy", "server.invalid")
        await assert_refused("http://server.invalid/mcp", "cannot connect")
    assert [request.headers["host"] for request in got] == ["server.invalid"]


async def test_a_batch_on_a_stream_may_have_the_response() -> None:
    methods: list[str] = []

    def respond(got: Got) -> bytes:
        if got.method != "tools/call":
            return NOT_OFFERED
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
        return STREAM + event([note, {"jsonrpc": "2.0", "id": got.message["id"], "result": OK}])

    options = {"revision": REVISION, "on_notification": lambda method, _: methods.append(method)}
    async with connected(session(respond), **options) as (client, _):
        assert await client.call("x") == OK
    assert methods == ["notifications/message"]


async def test_a_url_without_a_path_gets_an_example() -> None:
    async with scripted_http(lambda _: whole(404, b"")) as (url, _):
        await assert_refused(f"{url.removesuffix('mcp')}", f"is that of an MCP endpoint, such as {url}$")


async def test_a_redirect_to_the_same_origin_is_followed() -> None:
    redirects = iter([whole(307, b"", "Location: /mcp/")])
    async with connected(lambda got: next(redirects, got.result(DISCOVERED))) as (client, got):
        assert client.stateless
    assert len(got) == 2


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (whole(302, b"", "Location: /elsewhere"), "the server redirects to {origin}/elsewhere; if you trust it, use"),
        (whole(404, b""), "HTTP status 404; check that the URL is that of an MCP endpoint$"),
        (whole(429, b""), "HTTP status 429$"),
        (whole(500, b""), "HTTP status 500$"),
        (whole(503, b"Busy,\x1b canary-1.\nMore", "Content-Type: text/plain"), r"HTTP status 503: Busy,\\x1b \.\.\.$"),
        (whole(503, b"<html>", "Content-Type: text/html"), "HTTP status 503$"),
    ],
)
async def test_a_status_without_a_message_is_explained(response: bytes, message: str) -> None:
    async with scripted_http(lambda _: response) as (url, _):
        endpoint = Endpoint(url, headers={"Authorization": "Bearer canary-1."})
        await assert_refused(endpoint, message.format(origin=url.removesuffix("/mcp")))


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_compressed_response_is_refused(kind: str) -> None:
    compressed = whole(200, gzip.compress(b"{}"), f"Content-Type: {kind}", "Content-Encoding: gzip")
    async with connected(stateless(lambda _: compressed)) as (client, _):
        with pytest.raises(TransportError, match=r"the server compressed the response \(gzip\)"):
            await client.call("x")


async def test_a_login_is_performed_when_the_server_asks_for_it() -> None:
    tokens = Tokens()
    async with scripted_http(guarded) as (url, _):
        async with Client(Endpoint(url, auth=tokens)) as client:
            assert client.stateless
        await assert_refused(url, "requires a login", LoginRequiredError)
    assert tokens.statuses == [401]


async def test_a_login_holds_at_the_address_of_a_redirect() -> None:
    class Login(Tokens):
        async def headers(self, url: str) -> dict[str, str]:
            return await super().headers(url) if url in self.urls else {}

        async def challenged(self, url: str, status: int, headers: Any) -> bool:
            self.urls.append(url)
            return await super().challenged(url, status, headers)

        urls: ClassVar[list[str]] = []

    redirects = [whole(307, b"", "Location: /mcp/")]

    def respond(got: Got) -> bytes:
        is_redirected = "authorization" in got.headers and redirects
        return redirects.pop() if is_redirected else guarded(got)

    async with scripted_http(respond) as (url, got), Client(Endpoint(url, auth=Login())) as client:
        assert client.stateless
    assert len(got) == 3


async def test_a_session_whose_login_ends_is_closed_without_an_error() -> None:
    def respond(got: Got) -> bytes:
        if got.method == "initialize":
            return got.result(INITIALIZED, "Mcp-Session-Id: s1")
        return ACCEPTED if got.method.startswith("notifications/") else whole(401, b"")

    async with connected(respond, revision=REVISION) as (client, got):
        with pytest.raises(LoginRequiredError):
            await client.call("x")
    assert got[-1].verb == "DELETE"


@pytest.mark.parametrize("status", [401, 403])
async def test_a_login_is_performed_only_once_per_request(status: int) -> None:
    challenge = whole(status, b"", 'WWW-Authenticate: Bearer error="insufficient_scope"')
    tokens = Tokens()
    async with scripted_http(lambda _: challenge) as (url, got):
        await assert_refused(Endpoint(url, auth=tokens), "requires a login", LoginRequiredError)
    assert len(got) == 2
    assert tokens.statuses == [status]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ({"tools": [], "nextCursor": "again"}, "repeats one"),
        ({"tools": [{}] * 6}, "lists more than 5 tools"),
        ({"tools": {}}, "tools must be a list"),
        ({"tools": ["x"]}, "tools must be a list of objects"),
        ({}, "tools must be a list"),
    ],
)
async def test_lists_are_limited(page: Any, message: str) -> None:
    limits = ClientLimits(list_pages=3, list_items=5)
    async with connected(stateless(lambda got: got.result(page)), limits=limits) as (client, _):
        with pytest.raises(TransportError, match=message):
            await client.tools()


async def test_rounds_and_questions_are_limited() -> None:
    question = {"method": "elicitation/create", "params": {"message": "?"}}
    answered: list[Any] = []

    async def ask(item: Any) -> dict[str, Any]:
        answered.append(item)
        return {"action": "accept"}

    def respond(got: Got) -> bytes:
        many = 1 if got.message["params"]["name"] == "rounds" else 9
        questions = {str(number): question for number in range(many)}
        return got.result({"resultType": "input_required", "inputRequests": questions, "requestState": "s"})

    async with connected(stateless(respond), ask=ask, limits=ClientLimits(rounds=2, questions=3)) as (client, got):
        with pytest.raises(TransportError, match="more than 2 rounds"):
            await client.call("rounds")
        with pytest.raises(TransportError, match="more than 3 questions"):
            await client.call("questions")
    assert [item.key for item in answered] == ["0", "0"]
    assert [request.message["params"].get("requestState") for request in got[1:]] == [None, "s", "s", None]


async def test_headers_of_a_tool_that_is_no_longer_listed_are_forgotten() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    pages = [
        {"tools": [{"name": "a", "inputSchema": schema}], "nextCursor": "2"},
        {"tools": [{"name": "b", "inputSchema": schema}]},
        {"tools": [{"name": "b", "inputSchema": schema}]},
    ]

    def respond(got: Got) -> bytes:
        return got.result(pages.pop(0) if got.method == "tools/list" else OK)

    async with connected(stateless(respond)) as (client, got):
        for _ in range(2):
            await client.tools()
            for name in ("a", "b"):
                await client.call(name, {"region": "x"})
    repeated = ["mcp-param-region" in request.headers for request in got if request.method == "tools/call"]
    assert repeated == [True, True, False, True]


async def test_arguments_are_repeated_in_headers_as_the_tool_demands() -> None:
    properties = {"region": {"type": "string", "x-mcp-header": "Region"}, "deep": {"properties": {}}}
    properties["deep"]["properties"] = {"dry": {"type": "boolean", "x-mcp-header": "Dry"}}  # type: ignore[index]
    good = {"name": "good", "inputSchema": {"type": "object", "properties": properties}}
    bad = {"name": "bad", "inputSchema": {"items": {"x-mcp-header": "Bad"}}}
    mismatch = {"error": {"code": -32020, "message": "a header is missing"}, "jsonrpc": "2.0", "id": None}

    def respond(got: Got) -> bytes:
        if got.method == "tools/list":
            return got.result({"tools": [good, bad]})
        return got.result(OK) if "mcp-param-region" in got.headers else as_json(mismatch, status=400)

    async with connected(stateless(respond)) as (client, got):
        await client.call("good", {"region": " zürich", "deep": {"dry": True}, "other": 1})
        assert await client.tools() == [good]
    headers = got[3].headers
    assert headers["mcp-name"] == "good"
    assert headers["mcp-param-region"] == "=?base64?IHrDvHJpY2g=?="
    assert headers["mcp-param-dry"] == "true"
    assert [request.method for request in got][1:4] == ["tools/call", "tools/list", "tools/call"]
