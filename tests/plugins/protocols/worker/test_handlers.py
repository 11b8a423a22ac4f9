"""Calls, lists and resources of the worker protocol."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.protocols.worker.conftest import METHODS, QUIET, SECRET, Engine, reference, serve, token
from tests.support.http import LEAKS, Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

BAD_INPUT = "TOOL_RUNTIME_BAD_INPUT_VALUE"
FATAL = "TOOL_RUNTIME_FATAL"
MALFORMED = "Invalid params: malformed request body"
CONTEXT: Any = {
    "authorization": {"token": "tok", "user_info": {"sub": "u", "more": [1]}},
    "secrets": [{"key": "one", "value": "s1"}, {"key": "TWO", "value": "s2"}, {"key": "my_secret", "value": "v"}],
    "metadata": [{"key": "TEAM", "value": "t"}, {"key": "Client_ID", "value": "c"}],
    "user_id": "ada",
}


async def output(engine: Engine, tool: str, inputs: Any = None, toolkit: str = "MoreKit", **fields: Any) -> Any:
    return (await engine.invoke(tool, inputs, toolkit=toolkit, **fields))["output"]


# --- requests


async def test_names_and_versions_match_in_any_case(engine: Engine) -> None:
    for tool in (reference("nUMBER", "MOREKIT", version=None), reference("number", "morekit", version="2.0.0-rc1")):
        reply = await engine.ask("POST", "tools/invoke", {"tool": tool, "inputs": {"kind": "half"}})
        assert reply.body["output"]["value"] == 0.5
    for tool, named in (
        (reference("number", "morekit", version="v2.0.0-rc1"), "morekit.number in version v2.0.0-rc1"),
        (reference("Number", "Other"), "Other.Number"),
        (reference("MoreKit_Number", "MoreKit"), "MoreKit.MoreKit_Number"),
    ):
        reply = await engine.ask("POST", "tools/invoke", {"tool": tool})
        assert (reply.status, reply.body) == (404, {"code": -32602, "message": f"Unknown tool: {named}"})


@pytest.mark.parametrize("path", ["tools/invoke", "resources/list", "resources/read"])
async def test_a_body_must_be_a_json_object(engine: Engine, path: str) -> None:
    invalid = [b"", b"[]", b"null", b'{"a":1,"a":2', b'{"tool": NaN}', b'{"inputs":' * 10_000]
    repeated = [b'{"uri":"a","uri":"b"}', b'{"x":[{"a:":1,"\\u0061:":2}]}']
    for body in (*invalid, *repeated):
        reply = await engine.ask("POST", path, body)
        assert (reply.status, reply.body) == (400, {"code": -32602, "message": MALFORMED})


async def test_members_of_a_body_must_be_of_their_type(engine: Engine) -> None:
    call = {"tool": reference("RetBool")}
    bodies: list[tuple[str, Any, int]] = [
        ("tools/invoke", {"tool": {}}, 2),
        ("tools/invoke", {**call, "context": None}, 1),
        ("tools/invoke", {**call, "context": {"authorization": {"token": "tok", "user_info": None}}}, 1),
        ("tools/invoke", {**call, "context": {"metadata": [{"key": "a", "value": None}]}}, 1),
        ("resources/read", {}, 1),
        ("resources/list", {"cursor": 7}, 1),
    ]
    for path, body, count in bodies:
        reply = await engine.ask("POST", path, body)
        assert (reply.status, reply.body) == (400, {"code": -32602, "message": f"Invalid params: {count} error(s)"})


async def test_other_methods_are_405_and_other_paths_404_with_and_without_a_token(engine: Engine) -> None:
    for bearer in ("", None):
        for path, own in METHODS.items():
            for method in {"GET", "POST", "PUT", "DELETE", "OPTIONS", "PURGE"} - {own}:
                reply = await engine.ask(method, path, bearer=bearer)
                assert (reply.status, reply.body) == (405, {"detail": "Method Not Allowed"})
                assert (reply.headers["allow"], reply.headers["content-type"]) == (own, "application/json")
        for path in ("", "tools/", "tools/invoke/Add", "Health", "../worker/nothing", "health%2f"):
            assert (await engine.ask("GET", path, bearer=bearer)).status == 404


async def test_unknown_members_are_ignored_and_the_execution_id_is_returned(engine: Engine) -> None:
    done = await engine.invoke("RetBool", None, execution_id="e-1", run_id="r", created_at="now", more={"x": 1})
    assert (done["execution_id"], done["success"], done["output"]["value"]) == ("e-1", True, False)
    assert abs((datetime.fromisoformat(done["finished_at"]) - datetime.now(UTC)).total_seconds()) < 3600


# --- errors


SEVERAL = {"s": "", "f": 1, "flag": True, "lst": [], "d": {}, "lit": "z", "color": "green", "colors": []}
SEVERAL |= {"td": {"nme": "x"}, "tds": [], "pm": {}, "bounded": 11}


@pytest.mark.parametrize(
    ("tool", "inputs", "named"),
    [
        ("Add", {"a": None}, ["a"]),
        *(("Add", {"a": 1, name: 2}, [name]) for name in ("zz", "context")),
        ("AllParams", SEVERAL, ["lit", "color", "td.nme", "pm.a", "bounded"]),
    ],
    ids=str,
)
async def test_invalid_inputs_are_named(engine: Engine, tool: str, inputs: Any, named: list[str]) -> None:
    error = (await output(engine, tool, inputs, "DemoKit"))["error"]
    assert (error["kind"], error["status_code"], error["can_retry"]) == (BAD_INPUT, 400, False)
    assert error["message"].startswith(f"[{BAD_INPUT}] ToolInputError during execution of tool '")
    assert [name for name in named if name not in error["message"]] == []


async def test_invalid_results_and_results_that_are_errors_are_errors(engine: Engine) -> None:
    for toolkit, tool, inputs in (
        ("DemoKit", "RetWrongType", {}),
        ("MoreKit", "Number", {"kind": "nan"}),
        ("MoreKit", "Text", {"of": "nothing"}),
    ):
        error = (await output(engine, tool, inputs, toolkit))["error"]
        assert (error["kind"], error["status_code"]) == ("TOOL_RUNTIME_BAD_OUTPUT_VALUE", 500)
    error = (await output(engine, "Failed"))["error"]
    prefix = f"[{FATAL}] ToolExecutionError during execution of tool 'failed': "
    assert (error["kind"], error["message"]) == (FATAL, f"{prefix}it is closed\ncome tomorrow")


STRANGE = 'a\u0000b"\\/ é 中 🙂 \u202e'
LINKS = [
    {"type": "image", "data": "AP8=", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "more://list", "name": "listed", "size": 4},
    {"type": "resource", "resource": {"uri": "more://page", "mimeType": "text/plain", "text": "p"}},
    {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"},
]


@pytest.mark.parametrize(
    ("tool", "inputs", "value"),
    [
        ("RetNone", {}, {}),
        ("RetOptional", {"give": True}, "given"),
        ("RetPydantic", {}, {"a": 1, "b": "x", "c": None, "nested": None}),
        ("Add", {"a": "1", "b": 2.0}, 3),
        ("CustomName", {"param_x": STRANGE}, STRANGE),
        ("MoreKit.Number", {"kind": "large"}, 2**70),
        ("MoreKit.Text", {"of": "list"}, '["a",1]'),
        ("MoreKit.Content", {"of": "texts"}, "a\nb"),
        ("MoreKit.Content", {"of": "links"}, LINKS),
    ],
    ids=str,
)
async def test_values(engine: Engine, tool: str, inputs: Any, value: Any) -> None:
    toolkit, _, name = tool.rpartition(".")
    assert (await output(engine, name, inputs, toolkit or "DemoKit"))["value"] == value


async def test_definitions_have_requirements_interfaces_and_metadata(engine: Engine) -> None:
    listed = {tool["name"]: tool for tool in (await engine.ask("GET", "tools")).body}
    google = {"provider_id": "google", "provider_type": "oauth2", "id": None, "oauth2": {"scopes": ["a"]}}
    secrets, metadata = [{"key": "One"}, {"key": "two"}], [{"key": "team"}]  # each once, in its first spelling
    requirements = {"authorization": google, "secrets": secrets, "metadata": metadata}
    assert listed["Everything"]["requirements"] == requirements
    assert listed["Shown"]["_meta"]["ui"]["resourceUri"] == "ui://more/face"
    assert listed["OddMetadata"]["metadata"] == {"classification": None, "behavior": None, "extras": {"a": [1]}}


# --- context of a request


async def test_a_tool_gets_the_context_of_its_request(engine: Engine) -> None:
    done = await engine.invoke("Everything", None, toolkit="MoreKit", context=CONTEXT, execution_id="e-9")
    assert done["output"]["value"] == {
        "token": "tok",
        "user_info": {"sub": "u", "more": [1]},
        "secrets": ["s1", "s2"],
        "metadata": "t",
        "user": "ada",
        "request": "e-9",
        "session": None,
        "client": "worker",
        "caller": "worker",
        "host": "localhost",
    }
    error = (await output(engine, "Greedy", context=CONTEXT))["error"]  # it asks for an undeclared secret
    assert (error["kind"], "s2" in str(error)) == (FATAL, False)


async def test_a_tool_without_its_requirements_is_not_called(engine: Engine) -> None:
    scopes = ["https://www.googleapis.com/auth/gmail.readonly"]
    wanted = {"authorization_url": None, "authorization_id": None, "scopes": scopes, "status": "not_started"}
    nothing: list[Any] = [{}, {"authorization": {"token": None}, "secrets": None, "metadata": [], "user_id": None}]
    for context in nothing:
        refused = await output(engine, "NeedsAuth", None, "DemoKit", context=context)
        assert refused["error"]["kind"] == "TOOL_RUNTIME_CONTEXT_REQUIRED"
        assert refused["requires_authorization"] == wanted
    for secrets in ([], [{"key": "MY_SECRET", "value": ""}]):
        refused = await output(engine, "NeedsSecret", None, "DemoKit", context={"secrets": secrets})
        assert "MY_SECRET" in refused["error"]["message"]
    refused = await output(engine, "NeedsCustomAuth", None, "DemoKit", context=CONTEXT)
    assert "coordinator_url" in refused["error"]["message"]


async def test_requests_share_no_context(engine: Engine) -> None:
    def context(number: int) -> Any:
        return {**CONTEXT, "user_id": f"u{number}", "authorization": {"token": f"t{number}"}}

    done = await asyncio.gather(*(output(engine, "Everything", context=context(number)) for number in range(20)))
    values = [result["value"] for result in done]
    assert [(value["user"], value["token"]) for value in values] == [(f"u{n}", f"t{n}") for n in range(20)]
    assert "MY_SECRET" in str(await output(engine, "NeedsSecret", None, "DemoKit"))


async def test_the_context_works_but_for_sessions_and_requests_to_the_client(engine: Engine) -> None:
    for name, part in (("call", "0.5"), ("read", "content='list'"), ("prompt", "Hello."), ("once", "5")):
        assert part in (await output(engine, "ContextFeature", {"name": name}))["value"]
    for name in ("ask", "create_message", "elicit", "elicit_url", "list_roots", "send_request"):
        error = (await output(engine, "ContextFeature", {"name": name}))["error"]
        assert error["message"].startswith(f"[{FATAL}] InteractionError during execution of tool '")
        assert (error["can_retry"], error["status_code"]) == (False, 500)
    assert "the worker protocol have no sessions" in (await output(engine, "Remember"))["error"]["message"]


async def test_log_messages_and_progress_are_logs_of_one_of_four_levels(engine: Engine) -> None:
    done = await output(engine, "TalkMuch")
    assert [(log["level"], log["message"]) for log in done["logs"]] == [
        ("debug", "debug"),
        ("info", "info"),
        ("info", "notice"),
        ("warning", "warning"),
        *(("error", level) for level in ("error", "critical", "alert", "emergency")),
        ("info", '{"message":"with more","a":1}'),
        ("info", "two thirds"),
    ]
    failed = await output(engine, "OldAdd", {"a": "x"}, "DemoKit")
    assert failed["error"]["kind"] == BAD_INPUT
    assert failed["logs"] == [{"message": "use add", "level": "warning", "subtype": "deprecation"}]


# --- resources


async def test_resources_are_listed(engine: Engine) -> None:
    listed = (await engine.ask("POST", "resources/list", {"cursor": None})).body["resources"]
    text = {"uri": "demo://text", "name": "text", "description": "A text.", "mimeType": "text/plain"}
    whole = {"uri": "more://list", "name": "listed", "title": "List", "description": "Listed with all it has."}
    assert listed[1:3] == [text, whole | {"size": 4, "_meta": {"com.example/a": 1}}]
    lost = await engine.ask("POST", "resources/list", {"cursor": "nonsense"})
    assert (lost.status, lost.body) == (400, {"code": -32602, "message": "Invalid cursor"})


@pytest.mark.parametrize(
    ("uri", "status", "body"),
    [
        ("demo://data", 200, {"mimeType": "application/octet-stream", "blob": "AP8="}),
        ("more://template/x", 200, {"mimeType": "text/plain", "text": "x"}),
        ("more://template/missing", 500, {"code": -32603, "message": "There is nothing of that name."}),
        ("more://template/broken", 500, {"code": -32603, "message": "It failed unexpectedly."}),
        *(
            (uri, 404, {"code": -32002, "message": f"Resource not found: {uri}"})
            for uri in ("demo://gone", "more://template/../x", "nonsense", "")
        ),
    ],
)
async def test_resources_are_read(engine: Engine, uri: str, status: int, body: Any) -> None:
    reply = await engine.ask("POST", "resources/read", {"uri": uri})
    assert (reply.status, reply.body) == (status, {"contents": [{"uri": uri, **body}]} if status == 200 else body)


# --- HTTP


async def test_a_call_is_cancelled_when_its_caller_disconnects(served: Served, engine: Engine) -> None:
    body = json.dumps({"tool": reference("Wait", "MoreKit"), "inputs": {"name": "Ada"}}).encode()
    async with await served.connect() as line:
        await line.ask("POST", "/worker/tools/invoke", [("Authorization", f"Bearer {token()}")], body)
        await served.wait_for_stderr("'Ada', 'has begun'")
        assert "has ended" not in served.stderr
    await served.wait_for_stderr("'Ada', 'has ended'")
    async with await served.connect() as line:  # and one that never sends its body harms no other
        head = f"POST /worker/tools/invoke HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token()}\r\n"
        await line.send(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert (await engine.invoke("RetBool"))["success"] is True


async def test_it_serves_without_mcp(site: Path) -> None:
    config = QUIET.replace("[host]", '[host]\ndisabled_plugins = ["mcp"]')
    async with Served(site, f"{config}\n[plugins.http]\nport = 0\n", env={"ARCADE_WORKER_SECRET": SECRET}) as served:
        assert served.url.endswith(f":{served.port}")  # the log names no endpoint of MCP
        assert (await Engine(served, f"Bearer {token()}").invoke("RetBool"))["success"] is True
        assert (await served.request("POST", "/mcp", body=b"{}")).status == 404


CANARIES: Any = {
    "authorization": {"token": "canary-of-the-token"},
    "secrets": [{"key": "VAULT_KEY", "value": "canary-of-the-vault"}],
}


@pytest.mark.parametrize("internals", ["", "expose_internals = true"])
async def test_credentials_of_a_request_reach_neither_log_nor_response(site: Path, internals: str) -> None:
    async with serve(site, internals, host='log_level = "debug"') as served:
        bearer = token(jti="canary")
        for how in ("raise", "cause", "typed", "invalid", "exit", "say"):
            body = {"tool": reference("Leak", "MoreKit"), "inputs": {"how": how}, "context": CANARIES}
            reply = await Engine(served, f"Bearer {bearer}").ask("POST", "tools/invoke", body)
            text = json.dumps(reply.body)
            for place in (text, served.stderr):
                assert not [canary for canary in ("canary-of", bearer, bearer.rpartition(".")[2]) if canary in place]
            if not internals:
                assert not [leak for leak in (*LEAKS, "/", "pydantic", "Traceback", "File") if leak in text]
