"""The worker protocol as its callers use it: tools found, called, refused; resources; every status."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.worker.conftest import METHODS, QUIET, SECRET, Engine, reference, token
from tests.support.http import LEAKS, Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    "tool",
    [
        reference("Add"),
        reference("add", "demokit"),
        reference("ADD", "DEMOKIT", version=None),
        reference("Add", version="1.2.3"),
    ],
)
async def test_names_are_matched_in_any_case_and_versions_exactly(engine: Engine, tool: Any) -> None:
    reply = await engine.ask("POST", "tools/invoke", {"tool": tool, "inputs": {"a": 1, "b": 2}})
    assert reply.body["output"]["value"] == 3


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (reference("Subtract"), "DemoKit.Subtract"),
        (reference("Add", "Other"), "Other.Add"),
        (reference("Add", version="9.9.9"), "DemoKit.Add in version 9.9.9"),
        (reference("DemoKit_Add"), "DemoKit.DemoKit_Add"),
    ],
)
async def test_what_is_not_there_is_404(engine: Engine, tool: Any, told: str) -> None:
    reply = await engine.ask("POST", "tools/invoke", {"tool": tool, "inputs": {}})
    assert (reply.status, reply.body) == (404, {"code": -32602, "message": f"Unknown tool: {told}"})


@pytest.mark.parametrize("path", ["tools/invoke", "resources/list", "resources/read"])
@pytest.mark.parametrize("body", [b"", b"x", b"[]", b'"x"', b"null", b'{"a":1,"a":2', b'{"tool": NaN}'])
async def test_a_body_that_is_no_object_is_400(engine: Engine, path: str, body: bytes) -> None:
    reply = await engine.ask("POST", path, body)
    assert (reply.status, reply.body) == (400, {"code": -32602, "message": "Invalid params: malformed request body"})


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("tools/invoke", {}, 1),
        ("tools/invoke", {"tool": {}}, 2),
        ("tools/invoke", {"tool": reference("Add"), "inputs": []}, 1),
        ("tools/invoke", {"tool": reference("Add"), "context": {"secrets": {"A": "b"}}}, 1),
        ("resources/read", {}, 1),
        ("resources/list", {"cursor": 7}, 1),
    ],
)
async def test_a_body_that_is_none_of_the_kind_is_400(engine: Engine, path: str, body: Any, count: int) -> None:
    reply = await engine.ask("POST", path, body)
    assert (reply.status, reply.body) == (400, {"code": -32602, "message": f"Invalid params: {count} error(s)"})


@pytest.mark.parametrize("path", METHODS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
async def test_a_wrong_method_is_405_whoever_asks(engine: Engine, path: str, method: str) -> None:
    if METHODS[path] == method:
        return
    for bearer in ("", None):
        reply = await engine.ask(method, path, bearer=bearer)
        assert (reply.status, reply.body) == (405, {"detail": "Method Not Allowed"})
        assert (reply.headers["allow"], reply.headers["content-type"]) == (METHODS[path], "application/json")


@pytest.mark.parametrize(
    "path", ["", "nothing", "tools/", "tools/invoke/Add", "Health", "../worker/nothing", "health%2f"]
)
async def test_other_paths_are_404_with_a_token_and_without(engine: Engine, path: str) -> None:
    assert (await engine.ask("GET", path)).status == (await engine.ask("POST", path, bearer=None)).status == 404


@pytest.mark.parametrize("key", ["func", "context", "definition", "input_model", "output_model"])
async def test_no_name_of_an_input_breaks_the_call(engine: Engine, key: str) -> None:
    error = (await engine.invoke("Add", {"a": 1, key: 2}))["output"]["error"]
    assert error["kind"] == "TOOL_RUNTIME_BAD_INPUT_VALUE"
    assert key in error["message"]


async def test_unknown_members_are_ignored_and_ids_come_back(engine: Engine) -> None:
    done = await engine.invoke("RetBool", None, execution_id="e-1", run_id="r", created_at="now", more={"x": 1})
    assert (done["execution_id"], done["success"], done["output"]["value"]) == ("e-1", True, False)
    assert abs((datetime.fromisoformat(done["finished_at"]) - datetime.now(UTC)).total_seconds()) < 3600


@pytest.mark.parametrize(
    ("tool", "inputs", "value"),
    [
        ("RetNone", {}, {}),
        ("RetOptional", {"give": False}, None),
        ("RetOptional", {"give": True}, "given"),
        ("RetPydantic", {}, {"a": 1, "b": "x", "c": None, "nested": None}),
        ("RetListTd", {}, []),
    ],
)
async def test_values(engine: Engine, tool: str, inputs: Any, value: Any) -> None:
    done = await engine.invoke(tool, inputs)
    assert (done["success"], done["output"]["value"], done["output"]["error"]) == (True, value, None)


async def test_a_tool_uses_what_the_request_brings_and_only_what_it_declares(engine: Engine) -> None:
    context: Any = {
        "authorization": {"token": "tok", "user_info": {"sub": "u"}},
        "secrets": [{"key": "my_secret", "value": "v"}],
        "metadata": [{"key": "Client_ID", "value": "c"}],
        "user_id": "ada",
    }
    assert (await engine.invoke("NeedsSecret", context=context))["output"]["value"] == "secret=v"
    assert (await engine.invoke("NeedsAuth", context=context))["output"]["value"] == "token=tok"
    custom = (await engine.invoke("NeedsCustomAuth", context=context))["output"]
    assert "coordinator_url" in custom["error"]["message"]
    context["metadata"].append({"key": "coordinator_url", "value": "https://x.example"})
    custom = (await engine.invoke("NeedsCustomAuth", context=context))["output"]
    assert custom["value"] == {"client": "c", "user": "ada"}
    assert (await engine.invoke("Talk", context=context))["output"]["value"] == "ada"
    assert (await engine.invoke("Talk"))["output"]["value"] == "None"


async def test_what_a_tool_requires_is_asked_for(engine: Engine) -> None:
    secret = (await engine.invoke("NeedsSecret"))["output"]
    assert "MY_SECRET" in secret["error"]["message"]
    wanted = (await engine.invoke("NeedsAuth"))["output"]
    assert wanted["error"]["kind"] == "TOOL_RUNTIME_CONTEXT_REQUIRED"
    assert wanted["requires_authorization"] == {
        "authorization_url": None,
        "authorization_id": None,
        "scopes": ["https://www.googleapis.com/auth/gmail.readonly"],
        "status": "not_started",
    }


async def test_what_it_says_while_it_runs_is_in_the_logs(engine: Engine) -> None:
    assert (await engine.invoke("Talk"))["output"]["logs"] == [
        {"message": "looking", "level": "debug", "subtype": None},
        {"message": '{"found":1}', "level": "error", "subtype": None},
        {"message": "half", "level": "info", "subtype": None},
    ]


async def test_there_is_nobody_to_ask(engine: Engine) -> None:
    error = (await engine.invoke("Ask"))["output"]["error"]
    assert "InteractionError during execution of tool 'ask'" in error["message"]


async def test_nothing_of_the_inside_comes_out(engine: Engine) -> None:
    error = (await engine.invoke("RaiseErr", {"which": "unhandled"}))["output"]["error"]
    assert (error["developer_message"], error["stacktrace"]) == (None, None)
    text = json.dumps(error)
    assert "hunter2" not in text
    assert not [leak for leak in LEAKS if leak in text]


async def test_resources(engine: Engine) -> None:
    listed = (await engine.ask("POST", "resources/list", {})).body
    assert [one["uri"] for one in listed["resources"]] == [
        "demo://data",
        "demo://text",
        "more://list",
        "ui://more/face",
    ]
    assert listed["resources"][1] == {
        "uri": "demo://text",
        "name": "text",
        "description": "A text.",
        "mimeType": "text/plain",
    }
    read = await engine.ask("POST", "resources/read", {"uri": "demo://text"})
    assert read.body == {"contents": [{"uri": "demo://text", "mimeType": "text/plain", "text": "read"}]}
    blob = (await engine.ask("POST", "resources/read", {"uri": "demo://data"})).body["contents"][0]
    assert blob == {"uri": "demo://data", "mimeType": "application/octet-stream", "blob": "AP8="}
    gone = await engine.ask("POST", "resources/read", {"uri": "demo://gone"})
    assert (gone.status, gone.body) == (404, {"code": -32002, "message": "Resource not found: demo://gone"})
    lost = await engine.ask("POST", "resources/list", {"cursor": "nonsense"})
    assert (lost.status, lost.body) == (400, {"code": -32602, "message": "Invalid cursor"})


async def test_it_serves_without_mcp(site: Path) -> None:
    config = QUIET.replace("[host]", '[host]\ndisabled_plugins = ["mcp"]')
    async with Served(site, f"{config}\n[plugins.http]\nport = 0\n", env={"ARCADE_WORKER_SECRET": SECRET}) as served:
        assert served.url.endswith(f":{served.port}")  # and is no address for clients of MCP
        assert (await Engine(served, f"Bearer {token()}").invoke("RetBool"))["success"] is True
        assert (await served.request("POST", "/mcp", body=b"{}")).status == 404


async def test_without_a_secret_there_is_no_worker(site: Any) -> None:
    async with Served(site, f"{QUIET}\n[plugins.http]\nport = 0\n") as served:
        for path, method in METHODS.items():
            assert (await served.request(method, f"/worker/{path}")).status == 404
