"""What callers of the existing system count on: kinds of errors, values, what requests bring, the context, HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.worker.conftest import METHODS, SECRET, Engine, reference, serve, token
from tests.support.http import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

BAD_INPUT = "TOOL_RUNTIME_BAD_INPUT_VALUE"
BAD_OUTPUT = "TOOL_RUNTIME_BAD_OUTPUT_VALUE"
FATAL = "TOOL_RUNTIME_FATAL"
UPSTREAM = "UPSTREAM_RUNTIME_"
NETWORK = "NETWORK_TRANSPORT_RUNTIME_"
BROUGHT: Any = {
    "authorization": {"token": "tok", "user_info": {"sub": "u", "more": [1]}},
    "secrets": [{"key": "one", "value": "s1"}, {"key": "TWO", "value": "s2"}, {"key": "three", "value": "s3"}],
    "metadata": [{"key": "TEAM", "value": "t"}],
    "user_id": "ada",
}


async def more(engine: Engine, tool: str, inputs: Any = None, **fields: Any) -> Any:
    """The output of a tool of the second kit."""
    return (await engine.invoke(tool, inputs, toolkit="MoreKit", **fields))["output"]


# --- errors


ERRORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "fatal": ("FatalToolError", "dead", {"kind": FATAL, "status_code": 500}),
    "plain": ("ToolExecutionError", "base exec error", {"kind": FATAL}),
    "empty": ("FatalToolError", "(no details provided)", {"kind": FATAL, "status_code": 500}),
    "unreachable": ("NetworkTransportError", "gone", {"kind": f"{NETWORK}UNREACHABLE"}),
    "302": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}UNMAPPED"}),
    "400": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}BAD_REQUEST"}),
    "401": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}AUTH_ERROR"}),
    "403": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}AUTH_ERROR"}),
    "404": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}NOT_FOUND"}),
    "422": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}BAD_REQUEST"}),
    "429": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}RATE_LIMIT", "can_retry": True}),
    "503": ("UpstreamError", "said no", {"kind": f"{UPSTREAM}SERVER_ERROR", "can_retry": True}),
}


@pytest.mark.parametrize("how", ERRORS)
async def test_each_kind_of_error_has_its_members(engine: Engine, how: str) -> None:
    name, message, said = ERRORS[how]
    error = (await more(engine, "Fail", {"how": how}))["error"]
    wanted = {
        "message": f"[{said['kind']}] {name} during execution of tool 'fail': {message}",
        "developer_message": None,
        "can_retry": False,
        "additional_prompt_content": None,
        "retry_after_ms": None,
        "stacktrace": None,
        "status_code": int(how) if how.isdecimal() else None,
        **said,
    }
    assert {**error, "extra": None} == {**wanted, "extra": None}
    assert error["extra"] is None or list(error["extra"]) == ["error_id"]  # of what its author wrote for the log


RAISED: dict[str, tuple[str, dict[str, Any]]] = {
    "rate": ("slow", {"kind": f"{UPSTREAM}RATE_LIMIT", "can_retry": True, "retry_after_ms": 60000, "status_code": 429}),
    "net": ("timed out", {"kind": f"{NETWORK}TIMEOUT", "can_retry": True, "status_code": None}),
}


@pytest.mark.parametrize("which", RAISED)
async def test_what_can_be_tried_again_says_so_and_when(engine: Engine, which: str) -> None:
    message, said = RAISED[which]
    error = (await engine.invoke("RaiseErr", {"which": which}))["output"]["error"]
    assert error["message"].endswith(f" during execution of tool 'raise_err': {message}")
    assert {name: error[name] for name in said} == said


@pytest.mark.parametrize(
    ("tool", "inputs", "named"),
    [
        ("Add", {}, ["a"]),
        ("Add", {"a": 1, "zz": 2}, ["zz"]),
        ("Add", {"a": "x"}, ["a"]),
        ("Add", {"a": None}, ["a"]),
        (
            "AllParams",
            {
                "s": "",
                "f": 1,
                "flag": True,
                "lst": [],
                "d": {},
                "lit": "z",
                "color": "green",
                "colors": [],
                "td": {"nme": "x"},
                "tds": [],
                "pm": {},
                "bounded": 11,
            },
            ["lit", "color", "td.nme", "pm.a", "bounded"],
        ),
    ],
    ids=["missing", "more than there are", "of another type", "null", "several"],
)
async def test_bad_inputs_are_named_and_their_values_not_repeated(
    engine: Engine, tool: str, inputs: Any, named: list[str]
) -> None:
    error = (await engine.invoke(tool, inputs))["output"]["error"]
    assert (error["kind"], error["status_code"], error["can_retry"]) == (BAD_INPUT, 400, False)
    assert error["message"].startswith(f"[{BAD_INPUT}] ToolInputError during execution of tool '")
    assert [name for name in named if name not in error["message"]] == []


@pytest.mark.parametrize(
    ("toolkit", "tool", "inputs"),
    [
        ("DemoKit", "RetWrongType", {}),
        ("MoreKit", "Number", {"kind": "nan"}),
        ("MoreKit", "Number", {"kind": "infinite"}),
    ],
)
async def test_bad_outputs_are_errors(engine: Engine, toolkit: str, tool: str, inputs: Any) -> None:
    error = (await engine.invoke(tool, inputs, toolkit=toolkit))["output"]["error"]
    assert (error["kind"], error["status_code"], error["can_retry"]) == (BAD_OUTPUT, 500, False)


# --- values


@pytest.mark.parametrize(
    ("inputs", "value"), [({"a": "1", "b": 2.0}, 3), ({"a": 1}, 1), ({"a": -(2**70)}, -(2**70))], ids=str
)
async def test_inputs_are_converted_where_nothing_is_lost(engine: Engine, inputs: Any, value: int) -> None:
    assert (await engine.invoke("Add", inputs))["output"]["value"] == value


async def test_texts_of_every_script_arrive_as_they_are(engine: Engine) -> None:
    text = 'a\u0000b"\\/ é 中 🙂 \u202e'
    assert (await engine.invoke("CustomName", {"param_x": text}))["output"]["value"] == text


async def test_inputs_of_all_sorts_fit_what_is_told_of_them(engine: Engine) -> None:
    inputs = {
        "matrix": [[1, 2], []],
        "either": "x",
        "when": "2026-01-31",
        "counts": {"a": 1},
        "pair": [1, "a"],
        "level": 2,
        "names": ["a", None],
        "empty": {},
        "tree": {"name": "t", "children": [{"name": "u"}]},
        "anything": [None],
        "maybe": None,
    }
    value = (await more(engine, "Types", inputs))["value"]
    assert value == {"matrix": [[1, 2], []], "either": "x", "when": "2026-01-31", "pair": [1, "a"], "tree": "t"}
    told = {one["name"]: one for one in (await definition(engine, "Types"))["input"]["parameters"]}
    types = {
        name: (one["value_schema"]["val_type"], one["value_schema"]["inner_val_type"]) for name, one in told.items()
    }
    assert types == {
        "matrix": ("array", "json"),
        "either": ("json", None),
        "when": ("string", None),
        "counts": ("json", None),
        "pair": ("array", "json"),
        "level": ("integer", None),
        "names": ("array", "json"),
        "empty": ("json", None),
        "tree": ("json", None),
        "anything": ("json", None),
        "maybe": ("number", None),
    }
    assert told["maybe"]["description"] == "maybe one"
    assert told["maybe"]["value_schema"]["nullable"] is True
    assert told["tree"]["value_schema"]["required_keys"] == ["name"]


@pytest.mark.parametrize(("kind", "value"), [("large", 2**70), ("half", 0.5)])
async def test_numbers_arrive_as_they_are(engine: Engine, kind: str, value: float) -> None:
    assert (await more(engine, "Number", {"kind": kind}))["value"] == value


@pytest.mark.parametrize(("of", "value"), [("list", '["a",1]'), ("number", "5"), ("nothing", ""), ("text", "x")])
async def test_what_is_said_to_be_text_is_text(engine: Engine, of: str, value: str) -> None:
    assert (await more(engine, "Text", {"of": of}))["value"] == value
    assert (await definition(engine, "Text"))["output"]["value_schema"]["val_type"] == "string"


@pytest.mark.parametrize(
    ("of", "value"),
    [
        ("texts", "a\nb"),
        (
            "picture",
            [{"type": "text", "text": "a picture"}, {"type": "image", "data": "AP8=", "mimeType": "image/png"}],
        ),
        (
            "links",
            [
                {"type": "resource_link", "uri": "more://list", "name": "listed", "size": 4},
                {"type": "resource", "resource": {"uri": "more://page", "mimeType": "text/plain", "text": "p"}},
                {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"},
            ],
        ),
    ],
)
async def test_content_arrives_whole(engine: Engine, of: str, value: Any) -> None:
    assert (await more(engine, "Content", {"of": of}))["value"] == value


async def test_a_result_that_is_an_error_is_one(engine: Engine) -> None:
    error = (await more(engine, "Failed"))["error"]
    assert (error["kind"], error["can_retry"]) == (FATAL, False)
    assert error["message"] == (
        f"[{FATAL}] ToolExecutionError during execution of tool 'failed': it is closed\ncome tomorrow"
    )


async def definition(engine: Engine, name: str) -> Any:
    """The definition of a tool."""
    return next(one for one in (await engine.ask("GET", "tools")).body if one["name"] == name)


async def test_what_a_tool_requires_is_listed_once_and_in_its_first_spelling(engine: Engine) -> None:
    told = await definition(engine, "Everything")
    assert told["requirements"] == {
        "authorization": {
            "provider_id": "google",
            "provider_type": "oauth2",
            "id": None,
            "oauth2": {"scopes": ["a"]},
        },
        "secrets": [{"key": "One"}, {"key": "two"}],
        "metadata": [{"key": "team"}],
    }


async def test_interfaces_and_metadata_are_told(engine: Engine) -> None:
    assert (await definition(engine, "Shown"))["_meta"]["ui"]["resourceUri"] == "ui://more/face"
    told = (await definition(engine, "OddMetadata"))["metadata"]
    assert told == {"classification": None, "behavior": None, "extras": {"a": [1]}}


@pytest.mark.parametrize("version", ["2.0.0-RC1", "2.0.0-rc1", None])
async def test_versions_are_matched_in_any_case(engine: Engine, version: str | None) -> None:
    tool = reference("number", "MOREKIT", version=version)
    reply = await engine.ask("POST", "tools/invoke", {"tool": tool, "inputs": {"kind": "half"}})
    assert reply.body["output"]["value"] == 0.5
    assert (await engine.ask("POST", "tools/invoke", {"tool": {**tool, "version": "2.0.0"}})).status == 404


async def test_every_tool_is_in_the_one_list_however_long_the_pages_of_others_are(site: Path) -> None:
    async with serve(site, host="page_size = 2") as served:
        engine = Engine(served, f"Bearer {token()}")
        names = [one["fully_qualified_name"] for one in (await engine.ask("GET", "tools")).body]
        assert len(names) == len(set(names)) == int((await engine.ask("GET", "health")).body["tool_count"]) > 20
        found: list[str] = []
        asked: Any = {}
        while asked is not None:
            page = (await engine.ask("POST", "resources/list", asked)).body
            assert len(page["resources"]) <= 2
            found += [one["uri"] for one in page["resources"]]
            asked = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        assert found == ["demo://data", "demo://text", "more://list", "ui://more/face"]


# --- what a request brings


async def test_a_tool_is_given_all_that_a_request_brings(engine: Engine) -> None:
    done = await engine.invoke("Everything", None, toolkit="MoreKit", context=BROUGHT, execution_id="e-9")
    assert done["execution_id"] == "e-9"
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


@pytest.mark.parametrize(
    "context",
    [
        {"authorization": None, "secrets": None, "metadata": None, "user_id": None},
        {"authorization": {}, "secrets": [], "metadata": []},
        {"authorization": {"token": None, "user_info": {}}},
        {},
    ],
    ids=str,
)
async def test_a_request_may_bring_nothing(engine: Engine, context: Any) -> None:
    assert (await engine.invoke("RetBool", None, context=context))["success"] is True
    wanted = (await engine.invoke("NeedsAuth", None, context=context))["output"]
    assert wanted["requires_authorization"]["status"] == "not_started"


@pytest.mark.parametrize(
    "context",
    [
        None,
        [],
        {"user_id": 5},
        {"authorization": "tok"},
        {"authorization": {"token": 5}},
        {"authorization": {"token": "tok", "user_info": None}},
        {"secrets": [{"key": "a"}]},
        {"metadata": [{"key": "a", "value": None}]},
    ],
    ids=str,
)
async def test_what_it_brings_in_another_form_is_400(engine: Engine, context: Any) -> None:
    reply = await engine.ask("POST", "tools/invoke", {"tool": reference("RetBool"), "context": context})
    assert (reply.status, reply.body) == (400, {"code": -32602, "message": "Invalid params: 1 error(s)"})


async def test_a_secret_that_was_not_declared_is_not_to_be_had(engine: Engine) -> None:
    """Row D-6."""
    error = (await more(engine, "Greedy", context=BROUGHT))["error"]
    assert (error["kind"], "s2" in str(error)) == (FATAL, False)


@pytest.mark.parametrize("value", ["", None])
async def test_an_empty_secret_is_a_missing_one(engine: Engine, value: str | None) -> None:
    """Row D-5."""
    secrets = [] if value is None else [{"key": "MY_SECRET", "value": value}]
    error = (await engine.invoke("NeedsSecret", None, context={"secrets": secrets}))["output"]["error"]
    assert "MY_SECRET" in error["message"]


async def test_an_empty_secret_is_told_when_the_host_starts(site: Path) -> None:
    """Row D-5."""
    async with serve(site, env={"ARCADE_WORKER_SECRET": SECRET, "MY_SECRET": ""}) as served:
        assert "the secret MY_SECRET is not set" in served.stderr
        assert "it is needed by 'demo_kit_needs_secret'" in served.stderr


async def test_one_request_knows_nothing_of_what_another_brought(engine: Engine) -> None:
    def brought(number: int) -> Any:
        return {**BROUGHT, "user_id": f"u{number}", "authorization": {"token": f"t{number}"}}

    done = await asyncio.gather(*(more(engine, "Everything", context=brought(number)) for number in range(20)))
    assert [(one["value"]["user"], one["value"]["token"]) for one in done] == [(f"u{n}", f"t{n}") for n in range(20)]
    assert "MY_SECRET" in str((await engine.invoke("NeedsSecret"))["output"]["error"])


# --- the context


@pytest.mark.parametrize(
    "feature", ["ask", "create_message", "elicit", "elicit_url", "list_roots", "send_request", "sync"]
)
async def test_there_is_nobody_to_ask(engine: Engine, feature: str) -> None:
    tool, inputs = ("SyncAsk", {}) if feature == "sync" else ("ContextFeature", {"name": feature})
    error = (await more(engine, tool, inputs))["error"]
    assert error["message"].startswith(f"[{FATAL}] InteractionError during execution of tool '")
    assert (error["kind"], error["can_retry"], error["status_code"]) == (FATAL, False, 500)


@pytest.mark.parametrize(
    ("feature", "part"),
    [
        ("call", "0.5"),
        ("tools", "more_kit_number"),
        ("resources", "more://list"),
        ("read", "content='list'"),
        ("prompts", "more_kit_greet"),
        ("prompt", "Hello."),
        ("once", "5"),
        ("meta", "{}"),
        ("progress", "None"),
    ],
)
async def test_what_needs_no_client_works(engine: Engine, feature: str, part: str) -> None:
    assert part in (await more(engine, "ContextFeature", {"name": feature}))["value"]


async def test_what_a_tool_says_is_in_the_logs_at_one_of_four_levels(engine: Engine) -> None:
    done = await more(engine, "TalkMuch")
    assert [(one["level"], one["message"]) for one in done["logs"]] == [
        ("debug", "debug"),
        ("info", "info"),
        ("info", "notice"),
        ("warning", "warning"),
        ("error", "error"),
        ("error", "critical"),
        ("error", "alert"),
        ("error", "emergency"),
        ("info", '{"message":"with more","a":1}'),
        ("info", "two thirds"),
    ]
    assert {one["subtype"] for one in done["logs"]} == {None}
    assert (await more(engine, "ContextFeature", {"name": "send_notification"}))["logs"][0]["message"] == "x"


async def test_a_tool_that_fails_has_said_what_it_said(engine: Engine) -> None:
    done = (await engine.invoke("OldAdd", {"a": "x"}))["output"]
    assert done["error"]["kind"] == BAD_INPUT
    assert done["logs"] == [{"message": "use add", "level": "warning", "subtype": "deprecation"}]


# --- resources


async def test_a_resource_is_listed_with_all_it_has(engine: Engine) -> None:
    listed = (await engine.ask("POST", "resources/list", {"cursor": None})).body["resources"]
    assert listed[2] == {
        "uri": "more://list",
        "name": "listed",
        "title": "List",
        "description": "Listed with all it has.",
        "size": 4,
        "_meta": {"com.example/a": 1},
    }


@pytest.mark.parametrize(
    ("uri", "status", "said"),
    [
        ("more://template/x", 200, [{"uri": "more://template/x", "mimeType": "text/plain", "text": "x"}]),
        ("more://template/missing", 500, {"code": -32603, "message": "There is nothing of that name."}),
        ("more://template/broken", 500, {"code": -32603, "message": "It failed unexpectedly."}),
        ("more://template/../x", 404, {"code": -32002, "message": "Resource not found: more://template/../x"}),
        ("nonsense", 404, {"code": -32002, "message": "Resource not found: nonsense"}),
        ("", 404, {"code": -32002, "message": "Resource not found: "}),
    ],
)
async def test_resources_are_read_or_it_is_said_why_not(engine: Engine, uri: str, status: int, said: Any) -> None:
    reply = await engine.ask("POST", "resources/read", {"uri": uri})
    assert (reply.status, reply.body) == (status, {"contents": said} if status == 200 else said)


# --- HTTP


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/json; charset=utf-8", "application/x-www-form-urlencoded"]
)
async def test_a_body_is_json_whatever_it_is_called(served: Served, kind: str | None) -> None:
    fields = [("Authorization", f"Bearer {token()}"), *([("Content-Type", kind)] if kind else [])]
    body = json.dumps({"tool": reference("RetBool")}).encode()
    answer = await served.request("POST", "/worker/tools/invoke", fields, body)
    assert (answer.status, answer.json["output"]["value"]) == (200, False)


@pytest.mark.parametrize(
    "field", [("Origin", "http://evil.example"), ("Origin", "null"), ("Host", "evil.example")], ids=str
)
@pytest.mark.parametrize("path", METHODS)
async def test_pages_of_others_reach_nothing(served: Served, path: str, field: tuple[str, str]) -> None:
    fields = [field, ("Authorization", f"Bearer {token()}")]
    answer = await served.request(METHODS[path], f"/worker/{path}", fields, b"{}" if METHODS[path] == "POST" else b"")
    assert answer.status == (421 if field[0] == "Host" else 403)


async def test_six_megabytes_are_served_by_default(engine: Engine) -> None:
    done = await more(engine, "Length", {"text": "x" * 8 * 2**20})
    assert done["value"] == 8 * 2**20


async def test_bodies_have_a_limit(site: Path) -> None:
    async with serve(site, http="port = 0\nmax_body_bytes = 2000") as served:
        for size, status in ((2000, 200), (2001, 413)):
            body = json.dumps({"tool": reference("RetBool")}).encode().ljust(size)
            fields = [("Authorization", f"Bearer {token()}")]
            assert (await served.request("POST", "/worker/tools/invoke", fields, body)).status == status


async def test_a_body_that_is_nested_without_end_is_400(engine: Engine) -> None:
    reply = await engine.ask("POST", "tools/invoke", b'{"inputs":' * 10_000)
    assert (reply.status, reply.body["message"]) == (400, "Invalid params: malformed request body")


async def test_many_are_answered_at_once(engine: Engine) -> None:
    done = await asyncio.gather(*(more(engine, "Meet", {"people": 8}) for _ in range(8)))
    assert [one["value"] for one in done] == [8] * 8


async def test_requests_on_one_connection_are_answered_in_order(served: Served) -> None:
    fields = [("Authorization", f"Bearer {token()}")]
    async with await served.connect() as line:
        for number in range(5):
            body = json.dumps({"tool": reference("Add"), "inputs": {"a": number}}).encode()
            await line.ask("POST", "/worker/tools/invoke", fields, body)
        assert [(await line.answer()).json["output"]["value"] for _ in range(5)] == [0, 1, 2, 3, 4]


async def test_a_tool_is_cancelled_when_its_caller_hangs_up(served: Served) -> None:
    body = json.dumps({"tool": reference("Wait", "MoreKit"), "inputs": {"name": "Ada"}}).encode()
    async with await served.connect() as line:
        await line.ask("POST", "/worker/tools/invoke", [("Authorization", f"Bearer {token()}")], body)
        await served.said("'Ada', 'has begun'")
        assert "has ended" not in served.stderr
    await served.said("'Ada', 'has ended'")


async def test_a_body_that_never_comes_harms_nobody(served: Served, engine: Engine) -> None:
    async with await served.connect() as line:
        head = f"POST /worker/tools/invoke HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token()}\r\n"
        await line.send(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert (await engine.invoke("RetBool"))["success"] is True


async def test_how_often_is_counted_for_each_user(site: Path) -> None:
    limit = "[plugins.rate_limit]\ncalls_per_minute = 0.01\nburst = 1\n"
    async with serve(site, more=limit) as served:
        engine = Engine(served, f"Bearer {token()}")
        for user in ("ada", "ben"):
            first = await engine.invoke("RetBool", None, context={"user_id": user})
            again = (await engine.invoke("RetBool", None, context={"user_id": user}))["output"]["error"]
            assert (first["success"], again["kind"], again["status_code"]) == (True, "TOOL_RUNTIME_RETRY", 429)
            assert again["can_retry"] is True
            assert 0 < again["retry_after_ms"] <= 6_000_000


# --- secrecy (rows D-1, D-4)


CANARIES: Any = {
    "authorization": {"token": "canary-of-the-token"},
    "secrets": [{"key": "VAULT_KEY", "value": "canary-of-the-vault"}],
}


@pytest.mark.parametrize("how", ["raise", "cause", "typed", "invalid", "exit", "say"])
async def test_what_a_request_brings_is_told_nobody(site: Path, how: str) -> None:
    for internals in ("", "expose_internals = true"):
        async with serve(site, internals, host='log_level = "debug"') as served:
            bearer = token(jti="canary")
            reply = await Engine(served, f"Bearer {bearer}").ask(
                "POST",
                "tools/invoke",
                {"tool": reference("Leak", "MoreKit"), "inputs": {"how": how}, "context": CANARIES},
            )
            for told in (json.dumps(reply.body), served.stderr):
                assert not [one for one in ("canary-of", bearer, bearer.rpartition(".")[2]) if one in told]
            if not internals:
                text = json.dumps(reply.body)
                assert not [leak for leak in (".py", "/", "pydantic", "Traceback", "File") if leak in text]
