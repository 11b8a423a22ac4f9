"""Content of every kind as each revision has it: sections 2.1, 2.4, 2.5, 7 (completion) and 8 of the requirements."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support import content_kit
from tests.support.content_kit import CANARY, META
from tests.support.pool import Pool, make_site
from tests.support.schemas import REVISIONS
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

ICONS = [
    {"src": "https://example.invalid/icon.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}
]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def contents(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    """Hosts with the toolkit `content`."""
    async with Pool(make_site(tmp_path_factory.mktemp("site"), {"content": content_kit})) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="session", params=REVISIONS)
async def wire(contents: Pool, request: pytest.FixtureRequest) -> Wire:
    """Each revision there is."""
    return await contents.get(request.param)


def revision_of(wire: Wire) -> str:
    return "2026-07-28" if wire.modern else str(wire.conversation.revision)


def since(wire: Wire, first: str) -> bool:
    return revision_of(wire) >= first


def annotated(wire: Wire) -> dict[str, Any]:
    modified = {"lastModified": "2026-07-28T12:00:00+00:00"} if since(wire, "2025-06-18") else {}
    return {"annotations": {"audience": ["user", "assistant"], "priority": 0.5, **modified}}


def about(wire: Wire) -> dict[str, Any]:
    return {**annotated(wire), **({"_meta": META} if since(wire, "2025-06-18") else {})}


def block(wire: Wire, kind: str) -> dict[str, Any]:
    """What each kind of content must look like."""
    meta = {"_meta": META} if since(wire, "2025-06-18") else {}
    if kind == "audio" and not since(wire, "2025-03-26"):
        text = "[Audio of type audio/wav, which this revision of the protocol does not support]"
        return {"type": "text", "text": text, **about(wire)}
    if kind == "link" and not since(wire, "2025-06-18"):
        return {"type": "text", "text": "The y: x://y\nAbout y", **about(wire)}
    icons = {"icons": ICONS} if since(wire, "2025-11-25") else {}
    known: dict[str, dict[str, Any]] = {
        "text": {"type": "text", "text": "said"},
        "image": {"type": "image", "data": "+//+", "mimeType": "image/png"},
        "audio": {"type": "audio", "data": "+//+", "mimeType": "audio/wav"},
        "link": {
            "type": "resource_link", "uri": "x://y", "name": "y", "title": "The y", "description": "About y",
            "mimeType": "text/plain", "size": 5, **icons,
        },
        "embedded": {"type": "resource", "resource": {"uri": "x://y", "mimeType": "x/y", "blob": "+//+", **meta}},
    }  # fmt: skip
    return {**known[kind], **about(wire)}


async def called(wire: Wire, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = await wire.result("tools/call", {"name": name, "arguments": arguments})
    return result


def own_meta(result: dict[str, Any]) -> dict[str, Any]:
    """A result's `_meta`, but for what the server writes itself."""
    return {key: value for key, value in result.get("_meta", {}).items() if key != "io.modelcontextprotocol/serverInfo"}


# --- results of tools


@pytest.mark.requirement("RES-09", "TOOL-20", "TOOL-21")
@pytest.mark.parametrize("kind", ["text", "image", "audio", "link", "embedded"])
async def test_a_block_has_the_fields_of_its_revision(wire: Wire, kind: str) -> None:
    result = await called(wire, kind)
    assert result["content"] == [block(wire, kind)]
    assert result["isError"] is False
    assert "structuredContent" not in result


async def test_several_blocks_and_texts_keep_their_order(wire: Wire) -> None:
    assert (await called(wire, "mixed"))["content"] == [
        {"type": "text", "text": "one"},
        {"type": "image", "data": "dHdv", "mimeType": "image/png"},
        {"type": "text", "text": "three"},
    ]


async def test_a_result_written_out_passes_through(wire: Wire) -> None:
    result = await called(wire, "passed")
    modified = {"lastModified": "2026-07-28T12:00Z"} if since(wire, "2025-06-18") else {}
    meta = {"_meta": META} if since(wire, "2025-06-18") else {}
    assert result["content"] == [
        {"type": "text", "text": "raw", "annotations": {"audience": ["user"], **modified}},
        {"type": "resource", "resource": {"uri": "x://y", "blob": "+//+", **meta}},
    ]
    assert result["isError"] is True
    assert own_meta(result) == META
    assert result.get("structuredContent") == ({"a": 1} if since(wire, "2025-06-18") else None)


@pytest.mark.requirement("TOOL-19")
async def test_structured_content_that_is_no_object_is_for_the_newest_alone_and_goes_with_its_text(wire: Wire) -> None:
    result = await called(wire, "passed_list")
    assert result.get("structuredContent") == ([1, 2] if wire.modern else None)
    assert result["content"] == ([{"type": "text", "text": "[1,2]"}] if wire.modern else [])


@pytest.mark.parametrize("as_list", [False, True])
async def test_a_full_result_has_its_own_content(wire: Wire, as_list: bool) -> None:
    result = await called(wire, "full", as_list=as_list)
    value: Any = [1, 2] if as_list else {"a": 1}
    shown = since(wire, "2026-07-28" if as_list else "2025-06-18")
    image = {"type": "image", "data": "eA==", "mimeType": "image/png"}
    text = {"type": "text", "text": json.dumps(value, separators=(",", ":"))}
    assert result["content"] == ([image, text] if shown else [image])
    assert result.get("structuredContent") == (value if shown else None)
    assert own_meta(result) == META


async def test_a_result_may_say_that_it_failed(wire: Wire) -> None:
    result = await called(wire, "failed")
    assert result["content"] == [{"type": "text", "text": '{"why":"tired"}'}]
    assert result["isError"] is True
    assert "structuredContent" not in result


async def test_data_that_only_looks_like_a_result_is_data(wire: Wire) -> None:
    data = {"content": [{"type": "text", "text": "data"}]}
    result = await called(wire, "data")
    assert json.loads(result["content"][0]["text"]) == data
    assert result.get("structuredContent") == (data if since(wire, "2025-06-18") else None)


async def test_a_result_of_a_tool_with_a_schema_passes_through_with_structured_content(wire: Wire) -> None:
    result = await called(wire, "promised")
    assert result["content"] == [{"type": "text", "text": "short"}]
    assert result.get("structuredContent") == ({"long": True} if since(wire, "2025-06-18") else None)


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize("kind", content_kit.BROKEN)
async def test_content_that_cannot_be_sent_is_an_error_and_tells_nothing(wire: Wire, kind: str) -> None:
    result = await called(wire, "broken", kind=kind)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("The tool returned content that cannot be sent.")
    assert CANARY not in json.dumps(result)


# --- lists


async def listed(wire: Wire, method: str, member: str, name: str) -> dict[str, Any]:
    items = (await wire.result(method))[member]
    return next(item for item in items if item["name"] == name)


@pytest.mark.requirement("RES-14", "RES-15", "TOOL-21")
async def test_what_is_listed_has_the_fields_of_its_revision(wire: Wire) -> None:
    meta = {"_meta": META} if since(wire, "2025-06-18") else {}
    icons = {"icons": ICONS} if since(wire, "2025-11-25") else {}

    def title(text: str) -> dict[str, str]:
        return {"title": text} if since(wire, "2025-06-18") else {}

    assert await listed(wire, "resources/list", "resources", "static") == {
        "uri": "doc://static", "name": "static", "description": "Of one URI.", "mimeType": "text/plain", "size": 6,
        **title("Static"), **annotated(wire), **icons, **meta,
    }  # fmt: skip
    assert await listed(wire, "resources/templates/list", "resourceTemplates", "document") == {
        "uriTemplate": "doc://{name}", "name": "document", "description": "By name.", "mimeType": "text/x",
        **title("Documents"), **annotated(wire), **icons, **meta,
    }  # fmt: skip
    tool = await listed(wire, "tools/list", "tools", "text")
    assert {name: tool.get(name) for name in ("icons", "_meta")} == {
        "icons": icons.get("icons"),
        "_meta": meta.get("_meta"),
    }


async def test_templates_and_resources_are_listed_apart(wire: Wire) -> None:
    resources = [one["uri"] for one in (await wire.result("resources/list"))["resources"]]
    templates = [one["uriTemplate"] for one in (await wire.result("resources/templates/list"))["resourceTemplates"]]
    assert resources == ["doc://static", "many://all", "nothing://here", "odd://here"]
    assert templates == ["doc://{name}", "file:///{+path}{?line}", "num://{number}", "path://root{/parts*}"]


async def test_arguments_of_prompts_are_listed(wire: Wire) -> None:
    prompt = await listed(wire, "prompts/list", "prompts", "review")
    assert prompt["arguments"][0] == {"name": "code", "description": "the code", "required": True}
    assert [(one["name"], one["required"]) for one in prompt["arguments"][1:]] == [
        ("language", False), ("strict", False), ("depth", False), ("tone", False), ("level", False), ("files", False),
    ]  # fmt: skip
    assert ("icons" in prompt) == since(wire, "2025-11-25")
    assert prompt.get("_meta") == (META if since(wire, "2025-06-18") else None)
    assert "arguments" not in await listed(wire, "prompts/list", "prompts", "raw")


# --- resources


@pytest.mark.requirement("RES-12")
@pytest.mark.parametrize(
    ("uri", "content"),
    [
        ("doc://static", {"mimeType": "text/plain", "text": "static"}),
        ("doc://a%20b", {"mimeType": "text/x", "text": "a b for doc://{name}"}),
        ("num://42", {"mimeType": "application/json", "text": '{"number":42}'}),
        ("file:///a/b?line=7", {"mimeType": "text/plain", "text": "a/b:7"}),
        ("file:///a/b", {"mimeType": "text/plain", "text": "a/b:1"}),
        ("path://root/x/y", {"mimeType": "application/json", "text": '["x","y"]'}),
        ("path://root", {"mimeType": "application/json", "text": "[]"}),
    ],
)
async def test_a_uri_is_read_as_it_was_asked_for(wire: Wire, uri: str, content: dict[str, Any]) -> None:
    assert (await wire.result("resources/read", {"uri": uri}))["contents"] == [{"uri": uri, **content}]


async def test_a_resource_may_have_several_parts(wire: Wire) -> None:
    result = await wire.result("resources/read", {"uri": "many://all"})
    meta = {"_meta": META} if since(wire, "2025-06-18") else {}
    assert result["contents"] == [
        {"uri": "many://all/1", "mimeType": "text/plain", "text": "one", **meta},
        {"uri": "many://all/2", "blob": "Mg=="},
    ]
    assert own_meta(result) == META


@pytest.mark.requirement("RES-01", "RES-02", "RES-06", "RES-07")
@pytest.mark.parametrize(
    "uri",
    [
        "doc://", "doc://a/b", "doc://a%2Fb", "doc://..", "doc://%2e%2e", "doc://a%00", "doc://{name}", "doc://gone",
        "num://x", "num://", "num://1/2", "file:////etc/passwd", "file:///a/../b", "file:///a/%2e%2e/b",
        "file:///%2Fetc", "file:///a?line=x", "file:///a?line=1&line=2", "file:///a?other=1", "path://root/..",
        "path://root//x", "nothing://here", "doc://" + "x" * 9000,
    ],
)  # fmt: skip
async def test_what_is_not_there_is_not_found_with_its_uri(wire: Wire, uri: str) -> None:
    error = await wire.error("resources/read", {"uri": uri})
    assert error["code"] == (-32602 if wire.modern else -32002)
    assert error["data"] == {"uri": uri}


@pytest.mark.requirement("RES-05")
async def test_a_resource_that_cannot_be_sent_is_an_internal_error(wire: Wire) -> None:
    error = await wire.error("resources/read", {"uri": "odd://here"})
    assert error["code"] == -32603
    assert CANARY not in json.dumps(error)


# --- prompts


async def got(wire: Wire, name: str, arguments: Any = None) -> dict[str, Any]:
    params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    result: dict[str, Any] = await wire.result("prompts/get", params)
    return result


async def test_arguments_are_converted(wire: Wire) -> None:
    result = await got(wire, "review", {"code": "x"})
    assert result["messages"][0]["content"]["text"] == "x|python|False|1|kind|low|[]"
    switches = {"strict": "true", "tone": "blunt", "level": "high"}
    result = await got(wire, "review", {"code": "5", "language": "c", "depth": "12", "files": '["a"]', **switches})
    text = {"type": "text", "text": "5|c|True|12|blunt|high|['a']"}
    assert result["messages"] == [{"role": "user", "content": text}]


@pytest.mark.requirement("PROMPT-02", "PROMPT-04")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (None, "code is required"),
        ({}, "code is required"),
        ({"code": "x", "extra": "y"}, "extra is not a parameter of this prompt"),
        ({"code": "x", "depth": "deep"}, "depth: "),
        ({"code": "x", "tone": "rude"}, "tone: "),
        ({"code": "x", "strict": "perhaps"}, "strict: "),
        ({"code": "x", "files": "a"}, "files: it must be JSON"),
        ({"code": "x", "files": '{"a": 1}'}, "files: "),
        ({"code": 5}, "code: it must be a string"),
        ({"code": None}, "code: it must be a string"),
    ],
)
async def test_wrong_arguments_are_refused_with_the_reason(wire: Wire, arguments: Any, message: str) -> None:
    params = {"name": "review"} | ({} if arguments is None else {"arguments": arguments})
    error = await wire.error("prompts/get", params)
    assert error["code"] == -32602
    assert message in error["message"]


@pytest.mark.requirement("PROMPT-05", "PROMPT-06")
async def test_messages_hold_every_kind_of_content(wire: Wire) -> None:
    result = await got(wire, "messages")
    kinds = [block(wire, kind) for kind in ("text", "image", "audio", "link", "embedded")]
    assert [message["content"] for message in result["messages"]] == [*kinds, {"type": "text", "text": "plain"}]
    assert {message["role"] for message in result["messages"]} == {"assistant"}
    assert result["description"] == "of messages"
    assert own_meta(result) == META


async def test_messages_written_out_pass_through(wire: Wire) -> None:
    result = await got(wire, "raw")
    assert [(message["role"], message["content"]["type"]) for message in result["messages"]] == [
        ("assistant", "text"), ("user", "text"), ("user", "image"),
    ]  # fmt: skip


@pytest.mark.requirement("PROMPT-04")
async def test_a_role_that_there_is_not_is_an_internal_error(wire: Wire) -> None:
    error = await wire.error("prompts/get", {"name": "odd_role"})
    assert error["code"] == -32603
    assert CANARY not in json.dumps(error)


# --- completion


async def completed(wire: Wire, reference: dict[str, str], name: str, value: str, **context: str) -> dict[str, Any]:
    params: dict[str, Any] = {"ref": reference, "argument": {"name": name, "value": value}}
    if context:
        params["context"] = {"arguments": context}
    completion: dict[str, Any] = (await wire.result("completion/complete", params))["completion"]
    return completion


REVIEW = {"type": "ref/prompt", "name": "review"}
DOCUMENT = {"type": "ref/resource", "uri": "doc://{name}"}


async def test_a_function_completes_by_what_is_typed_and_chosen(wire: Wire) -> None:
    assert (await completed(wire, REVIEW, "language", "py"))["values"] == ["py|None|none"]
    chosen = await completed(wire, REVIEW, "language", "py", code="x", level="high", depth="3")
    assert chosen == {"values": ["py|x|high"], "total": 1, "hasMore": False}


@pytest.mark.requirement("COMP-02")
async def test_no_more_than_a_hundred_values_are_given(wire: Wire) -> None:
    codes = await completed(wire, REVIEW, "code", "c")
    assert (codes["values"][0], len(codes["values"]), codes["total"], codes["hasMore"]) == ("c0", 100, 1000, True)
    names = await completed(wire, DOCUMENT, "name", "n")
    assert (names["values"][-1], len(names["values"]), names["total"], names["hasMore"]) == ("n-099", 100, 120, True)


@pytest.mark.requirement("COMP-06")
@pytest.mark.parametrize(
    ("name", "value", "values"),
    [
        ("tone", "", ["kind", "blunt"]), ("tone", "B", ["blunt"]), ("level", "h", ["high"]), ("level", "x", []),
        ("strict", "t", ["true"]), ("depth", "1", []), ("files", "", []),
    ],
)  # fmt: skip
async def test_types_of_few_values_complete_themselves(wire: Wire, name: str, value: str, values: list[str]) -> None:
    assert (await completed(wire, REVIEW, name, value))["values"] == values


@pytest.mark.requirement("COMP-03", "COMP-04")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": REVIEW},
        {"argument": {"name": "code", "value": ""}},
        {"ref": REVIEW, "argument": {"name": "code"}},
        {"ref": REVIEW, "argument": {"name": 5, "value": ""}},
        {"ref": REVIEW, "argument": {"name": "code", "value": None}},
        {"ref": REVIEW, "argument": {"name": "other", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "other"}, "argument": {"name": "code", "value": ""}},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "code", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "review"}, "argument": {"name": "code", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "doc://{other}"}, "argument": {"name": "other", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "doc://static"}, "argument": {"name": "name", "value": ""}},
        {"ref": DOCUMENT, "argument": {"name": "name", "value": ""}, "context": {"arguments": {"a": 1}}},
        {"ref": DOCUMENT, "argument": {"name": "name", "value": ""}, "context": {"arguments": []}},
        {"ref": DOCUMENT, "argument": {"name": "name", "value": ""}, "context": "x"},
        {"ref": "review", "argument": {"name": "code", "value": ""}},
    ],
)
async def test_what_cannot_be_completed_is_refused(wire: Wire, params: dict[str, Any]) -> None:
    assert (await wire.error("completion/complete", params))["code"] == -32602


@pytest.mark.requirement("COMP-05")
async def test_a_completion_that_fails_tells_nothing(wire: Wire) -> None:
    params = {"ref": DOCUMENT, "argument": {"name": "name", "value": "fail"}}
    error = await wire.error("completion/complete", params)
    assert error["code"] == -32603
    assert CANARY not in json.dumps(error)


@pytest.mark.requirement("COMP-01")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_completion_is_advertised_where_there_is_a_word_for_it(contents: Pool, revision: str) -> None:
    async with contents.new() as wire:
        if revision == "2026-07-28":
            capabilities = (await wire.result("server/discover", modern=True))["capabilities"]
        else:
            capabilities = (await wire.initialize(revision))["capabilities"]
    assert ("completions" in capabilities) == (revision != "2024-11-05")


@pytest.mark.requirement("COMP-01")
async def test_completion_is_not_there_where_nothing_can_be_completed(pool: Pool) -> None:
    wire = await pool.get("2025-11-25")
    params = {"ref": {"type": "ref/prompt", "name": "fixture_review"}, "argument": {"name": "a", "value": ""}}
    assert (await wire.error("completion/complete", params))["code"] == -32601
