"""Content of every kind as each revision has it: results, resources, prompts, completion, and options of tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.protocol.conftest import Servers
from tests.support import content_kit
from tests.support.content_kit import CANARY, META
from tests.support.mcp_client import McpClient, McpServer
from tests.support.peer import META as OWN
from tests.support.schemas import LEGACY

GROUP = "content"


@pytest_asyncio.fixture(loop_scope="session")
async def plain(servers: Servers) -> McpClient:
    """A client of a host whose resources and prompts have no parameters."""
    return await (await servers.get("http", "fixture")).shared(LEGACY[-1])  # type: ignore[no-any-return]


def meta(client: McpClient) -> dict[str, Any]:
    return {"_meta": META} if client.since("2025-06-18") else {}


def icons(client: McpClient) -> dict[str, Any]:
    icon = {"src": "https://example.invalid/icon.png", "mimeType": "image/png", "sizes": ["48x48", "any"]}
    return {"icons": [{**icon, "theme": "dark"}]} if client.since("2025-11-25") else {}


def annotated(client: McpClient) -> dict[str, Any]:
    modified = {"lastModified": "2026-07-28T12:00:00+00:00"} if client.since("2025-06-18") else {}
    return {"annotations": {"audience": ["user", "assistant"], "priority": 0.5, **modified}}


KINDS = ("text", "image", "audio", "link", "embedded")


def block(client: McpClient, kind: str) -> dict[str, Any]:
    """Each kind of content in the client's revision."""
    about = {**annotated(client), **meta(client)}
    if kind == "audio" and not client.since("2025-03-26"):
        text = "[Audio of type audio/wav, which this revision of the protocol does not support]"
        return {"type": "text", "text": text, **about}
    if kind == "link" and not client.since("2025-06-18"):
        return {"type": "text", "text": "The y: x://y\nAbout y", **about}
    link = {"uri": "x://y", "name": "y", "title": "The y", "description": "About y", "size": 5}
    resource = {"uri": "x://y", "mimeType": "x/y", "blob": "+//+", **meta(client)}
    known: dict[str, dict[str, Any]] = {
        "text": {"type": "text", "text": "said"},
        "image": {"type": "image", "data": "+//+", "mimeType": "image/png"},
        "audio": {"type": "audio", "data": "+//+", "mimeType": "audio/wav"},
        "link": {"type": "resource_link", "mimeType": "text/plain", **link, **icons(client)},
        "embedded": {"type": "resource", "resource": resource},
    }
    return {**known[kind], **about}


def own_meta(result: dict[str, Any]) -> dict[str, Any]:
    """A result's `_meta` without the server's own member."""
    return {key: value for key, value in result.get("_meta", {}).items() if key != f"{OWN}serverInfo"}


@pytest.mark.requirement("RES-09", "TOOL-20", "TOOL-21")
async def test_each_kind_of_content_has_the_fields_of_its_revision(every: McpClient) -> None:
    for kind in KINDS:
        result = await every.call(kind)
        assert (result["content"], result["isError"]) == ([block(every, kind)], False)
        assert "structuredContent" not in result


@pytest.mark.requirement("TOOL-19")
async def test_a_result_that_the_author_writes_out_is_sent_as_far_as_the_revision_has_it(every: McpClient) -> None:
    structured = every.since("2025-06-18")
    result = await every.call("passed")
    modified = {"lastModified": "2026-07-28T12:00Z"} if structured else {}
    assert result["content"] == [
        {"type": "text", "text": "raw", "annotations": {"audience": ["user"], **modified}},
        {"type": "resource", "resource": {"uri": "x://y", "blob": "+//+", **meta(every)}},
    ]
    assert (result["isError"], own_meta(result)) == (True, META)
    assert result.get("structuredContent") == ({"a": 1} if structured else None)
    image = {"type": "image", "data": "eA==", "mimeType": "image/png"}
    wrapped = [1, 2] if every.modern else {"result": [1, 2]}
    for as_list, value, sent in ((False, {"a": 1}, {"a": 1}), (True, [1, 2], wrapped)):
        result = await every.call("full", as_list=as_list)
        text = {"type": "text", "text": json.dumps(value, separators=(",", ":"))}
        assert result["content"] == ([image, text] if structured else [image])
        assert result.get("structuredContent") == (sent if structured else None)
    failed = await every.call("failed")
    assert (failed["content"], failed["isError"]) == ([{"type": "text", "text": '{"why":"tired"}'}], True)
    assert "structuredContent" not in failed
    data = {"content": [{"type": "text", "text": "data"}]}  # it only looks like a result
    assert json.loads((await every.call("data"))["content"][0]["text"]) == data


async def test_content_is_allowed_among_values_of_any_type(every: McpClient) -> None:
    """A listed schema is kept: lists of any items have none, and the other members of a dict are structured."""
    image = {"type": "image", "data": "+//+", "mimeType": "image/png"}
    result = await every.call("mixed")
    assert [item.get("text", item) for item in result["content"]] == ["said", image, '{"a":"+w=="}', "+w==", "5"]
    assert "structuredContent" not in result
    result = await every.call("members")
    assert result["content"] == [{"type": "text", "text": '{"a":"+//+"}'}, image]
    assert result.get("structuredContent") == ({"a": "+//+"} if every.since("2025-06-18") else None)
    assert (await every.call("members", alone=True))["content"] == [image]
    listed = {tool["name"]: tool for tool in (await every.result("tools/list"))["tools"]}
    assert "outputSchema" not in listed["mixed"]
    assert ("outputSchema" in listed["members"]) == every.since("2025-06-18")


@pytest.mark.requirement("TOOL-11")
async def test_content_that_cannot_be_sent_is_a_failure_that_reveals_nothing(either: McpClient) -> None:
    for kind in content_kit.BROKEN:
        result = await either.call("broken", kind=kind)
        assert result["isError"] is True, kind
        assert result["content"][0]["text"].startswith("The tool returned content that cannot be sent.")
        assert CANARY not in json.dumps(result)


@pytest.mark.requirement("RES-14", "RES-15", "TOOL-21")
async def test_definitions_are_listed_with_the_fields_of_the_revision(every: McpClient) -> None:
    async def listed(method: str, member: str) -> dict[str, Any]:
        return {item["name"]: item for item in (await every.result(method))[member]}

    def title(text: str) -> dict[str, str]:
        return {"title": text} if every.since("2025-06-18") else {}

    rest = {**annotated(every), **icons(every), **meta(every)}
    resources = await listed("resources/list", "resources")
    static = {"uri": "doc://static", "name": "static", "description": "Of one URI.", "mimeType": "text/plain"}
    assert resources["static"] == {**static, "size": 6, **title("Static"), **rest}
    uris = [resource["uri"] for resource in resources.values()]
    assert uris == ["doc://static", "many://all", "nothing://here", "odd://here"]
    templates = await listed("resources/templates/list", "resourceTemplates")
    document = {"uriTemplate": "doc://{name}", "name": "document", "description": "By name.", "mimeType": "text/x"}
    assert templates["document"] == {**document, **title("Documents"), **rest}
    tool = (await listed("tools/list", "tools"))["text"]
    assert {name: tool[name] for name in ("icons", "_meta") if name in tool} == {**icons(every), **meta(every)}
    prompts = await listed("prompts/list", "prompts")
    prompt = prompts["review"]
    assert prompt["arguments"][0] == {"name": "code", "description": "the code", "required": True}
    optional = ["language", "strict", "depth", "tone", "level", "files"]
    assert [(argument["name"], argument["required"]) for argument in prompt["arguments"][1:]] == [
        (name, False) for name in optional
    ]
    assert (prompt.get("icons"), prompt.get("_meta")) == (icons(every).get("icons"), meta(every).get("_meta"))
    assert prompts["raw"].keys() == {"name"}  # a prompt needs no docstring


CONTENTS: dict[str, dict[str, Any]] = {
    "doc://static": {"mimeType": "text/plain", "text": "static"},
    "doc://a%20b": {"mimeType": "text/x", "text": "a b for doc://{name}"},
    "num://42": {"mimeType": "application/json", "text": '{"number":42}'},
    "file:///a/b?line=7": {"mimeType": "text/plain", "text": "a/b:7"},
    "file:///a/b": {"mimeType": "text/plain", "text": "a/b:1"},
    "path://root/x/y": {"mimeType": "application/json", "text": '["x","y"]'},
    "path://root": {"mimeType": "application/json", "text": "[]"},
}
MISSING = """
doc:// doc://a/b doc://a%2Fb doc://.. doc://%2e%2e doc://a%00 doc://{name} doc://gone num://x
file:////etc/passwd file:///a/../b file:///a/%2e%2e/b file:///%2Fetc file:///a?line=x file:///a?line=1&line=2
file:///a?other=1 path://root/.. path://root//x nothing://here x
"""


@pytest.mark.requirement("RES-12", "RES-09", "RES-13")
async def test_a_uri_is_read_as_it_was_requested(every: McpClient) -> None:
    for uri, content in CONTENTS.items():
        assert (await every.result("resources/read", {"uri": uri}))["contents"] == [{"uri": uri, **content}]
    several = await every.result("resources/read", {"uri": "many://all"})
    assert several["contents"] == [
        {"uri": "many://all/1", "mimeType": "text/plain", "text": "one", **meta(every)},
        {"uri": "many://all/2", "blob": "Mg=="},
    ]
    assert own_meta(several) == META


@pytest.mark.requirement("RES-01", "RES-02", "RES-04", "RES-06", "RES-07")
async def test_a_missing_resource_is_an_error_with_its_uri(either: McpClient) -> None:
    """Never empty contents; -32002 in a session, -32602 since 2026-07-28."""
    for uri in (*MISSING.split(), "", "doc://" + "x" * 9000):
        reply = await either.request("resources/read", {"uri": uri})
        assert reply.error["code"] == (-32602 if either.modern else -32002), uri
        assert (reply.error["data"], reply.status) == ({"uri": uri}, 200)
    wrong: tuple[Any, ...] = ({}, {"uri": 5}, {"uri": ["doc://static"]})
    for params in wrong if not either.modern else ():
        assert (await either.error("resources/read", params))["code"] == -32602


@pytest.mark.requirement("COMP-05", "PROMPT-03", "PROMPT-04", "RES-05")
async def test_content_that_fails_is_an_internal_error_that_shows_nothing(either: McpClient, plain: McpClient) -> None:
    failing: dict[str, Any] = {"ref": DOCUMENT, "argument": {"name": "name", "value": "fail"}}
    errors = [
        await either.error("resources/read", {"uri": "odd://here"}),
        await either.error("prompts/get", {"name": "odd_role"}),
        await either.error("completion/complete", failing),
        await plain.error("resources/read", {"uri": "fixture://broken"}),
    ]
    broken = ("fixture_broken_prompt", "hostile_odd_text", "hostile_odd_messages")
    errors += [await plain.error("prompts/get", {"name": name}) for name in broken]
    assert {error["code"] for error in errors} == {-32603}
    assert "canary" not in json.dumps(errors)


@pytest.mark.requirement("PROMPT-05", "PROMPT-06")
async def test_prompts_convert_their_arguments_and_hold_every_kind_of_content(every: McpClient) -> None:
    async def got(name: str, **arguments: str) -> dict[str, Any]:
        return await every.result("prompts/get", {"name": name, "arguments": arguments})

    assert (await got("review", code="x"))["messages"][0]["content"]["text"] == "x|python|False|1|kind|low|[]"
    switches = {"strict": "true", "tone": "blunt", "level": "high"}
    result = await got("review", code="5", language="c", depth="12", files='["a"]', **switches)
    text = {"type": "text", "text": "5|c|True|12|blunt|high|['a']"}
    assert result["messages"] == [{"role": "user", "content": text}]
    result = await got("messages")
    blocks = [block(every, kind) for kind in KINDS]
    assert [message["content"] for message in result["messages"]] == [*blocks, {"type": "text", "text": "plain"}]
    assert {message["role"] for message in result["messages"]} == {"assistant"}
    assert (result["description"], own_meta(result)) == ("of messages", META)


@pytest.mark.requirement("PROMPT-01", "PROMPT-02", "PROMPT-04")
async def test_unknown_prompts_and_invalid_arguments_are_refused_with_the_reason(either: McpClient) -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "code is required"),
        ({"code": "x", "extra": "y"}, "extra is not a parameter of this prompt"),
        ({"code": "x", "depth": "deep"}, "depth: "),
        ({"code": "x", "files": "a"}, "files: it must be JSON"),
        ({"code": 5}, "code: it must be a string"),
        ([], ""),
        ("x", ""),
    ]
    for arguments, message in cases:
        error = await either.error("prompts/get", {"name": "review", "arguments": arguments})
        assert error["code"] == -32602
        assert message in error["message"]
    names: list[Any] = ["missing", ""] + ([] if either.modern else [5, None])
    for name in names:
        assert (await either.error("prompts/get", {"name": name}))["code"] == -32602


REVIEW = {"type": "ref/prompt", "name": "review"}
DOCUMENT = {"type": "ref/resource", "uri": "doc://{name}"}


async def completed(client: McpClient, reference: dict[str, str], name: str, value: str, **context: str) -> Any:
    params: dict[str, Any] = {"ref": reference, "argument": {"name": name, "value": value}}
    if context:
        params["context"] = {"arguments": context}
    return (await client.result("completion/complete", params))["completion"]


@pytest.mark.requirement("COMP-01", "COMP-02", "COMP-06")
async def test_completion(every: McpClient, plain: McpClient) -> None:
    """By a function, which learns the other arguments, or by the type; up to a hundred values."""
    assert ("completions" in (await every.server())["capabilities"]) == every.since("2025-03-26")
    assert (await completed(every, REVIEW, "language", "py"))["values"] == ["py|None|none"]
    chosen = await completed(every, REVIEW, "language", "py", code="x", level="high", depth="3")
    assert chosen == {"values": ["py|x|high"], "total": 1, "hasMore": False}
    names = await completed(every, DOCUMENT, "name", "n")
    assert (names["values"][-1], len(names["values"]), names["total"], names["hasMore"]) == ("n-099", 100, 120, True)
    for name, value, expected in (("tone", "B", ["blunt"]), ("level", "h", ["high"]), ("depth", "1", [])):
        assert (await completed(every, REVIEW, name, value))["values"] == expected
    params = {"ref": {"type": "ref/prompt", "name": "fixture_review"}, "argument": {"name": "a", "value": ""}}
    assert (await plain.error("completion/complete", params))["code"] == -32601  # nothing there can be completed


@pytest.mark.requirement("COMP-03", "COMP-04")
async def test_malformed_completion_is_refused(either: McpClient) -> None:
    code, name = {"name": "code", "value": ""}, {"name": "name", "value": ""}
    wrong: list[dict[str, Any]] = [
        *({}, {"ref": REVIEW}, {"argument": code}, {"ref": "review", "argument": code}),
        *({"ref": REVIEW, "argument": argument} for argument in ({"name": "code"}, {"name": "code", "value": None})),
        {"ref": REVIEW, "argument": {"name": "other", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "other"}, "argument": code},
        {"ref": {"type": "ref/tool", "name": "review"}, "argument": code},
        {"ref": {"type": "ref/resource", "uri": "doc://static"}, "argument": name},
        {"ref": DOCUMENT, "argument": name, "context": {"arguments": {"a": 1}}},
    ]
    for params in wrong:
        assert (await either.error("completion/complete", params))["code"] == -32602, params


async def described(client: McpClient, name: str) -> dict[str, Any]:
    """A tool as the client sees it."""
    (tool,) = [tool for tool in (await client.result("tools/list"))["tools"] if tool["name"] == name]
    assert isinstance(tool, dict)
    return tool


async def test_callers_of_a_deprecated_tool_are_told_each_time_and_the_operator_once(sites: dict[str, Path]) -> None:
    async with McpServer("http", sites["content"]) as server:
        client = await server.client()
        for name in ("deprecated_by_option", "deprecated_by_decorator"):
            text = f"{name} is deprecated: use somewhere instead"
            for modern in (False, True):
                meta = {f"{OWN}logLevel": "warning"} if modern else {}
                reply = await client.request("tools/call", {"name": name, "_meta": meta}, modern=modern)
                warnings = [notice["params"] for notice in reply.told if notice["params"]["data"] == text]
                assert warnings == [{"level": "warning", "logger": name, "data": text}]
            listed = await described(client, name)
            assert listed["description"] == "[DEPRECATED: use somewhere instead] Be old."
            assert server.stderr.count(f"{name} is deprecated") == 1
