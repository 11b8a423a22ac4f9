"""Resources and prompts of fixed content: sections 2.1, 2.5 and 8 of the requirements, trap 40."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.support.fixture_kit import CANARY
from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("RES-13")
async def test_a_text_is_read(every: Wire) -> None:
    result = await every.result("resources/read", {"uri": "fixture://text"})
    assert result["contents"] == [{"uri": "fixture://text", "mimeType": "text/markdown", "text": "# A text\n"}]


@pytest.mark.requirement("RES-09", "RES-13")
async def test_bytes_are_read_as_base64(every: Wire) -> None:
    (content,) = (await every.result("resources/read", {"uri": "fixture://bytes"}))["contents"]
    assert base64.b64decode(content["blob"], validate=True) == bytes(range(256))
    assert content["mimeType"] == "application/x-thing"
    assert "text" not in content


async def test_an_empty_text_is_a_text(every: Wire) -> None:
    (content,) = (await every.result("resources/read", {"uri": "fixture://empty"}))["contents"]
    assert content["text"] == ""


async def test_resources_are_listed_with_what_they_say_of_themselves(pool: Pool) -> None:
    wire = await pool.get("2025-11-25")
    listed = {item["uri"]: item for item in (await wire.result("resources/list"))["resources"]}
    assert listed["fixture://text"] == {
        "uri": "fixture://text",
        "name": "text",
        "title": "Text",
        "description": "A text.",
        "mimeType": "text/markdown",
    }
    assert listed["fixture://bytes"]["name"] == "some-bytes"


@pytest.mark.requirement("RES-01", "RES-02", "RES-04")
@pytest.mark.parametrize("uri", ["fixture://missing", "fixture://TEXT", "fixture://text/", "fixture://text#x", "", "x"])
async def test_a_missing_resource_is_an_error_with_its_uri(every: Wire, uri: str) -> None:
    """Section 8 and trap 40: never empty contents; -32002 in a session, -32602 since 2026-07-28."""
    error = await every.error("resources/read", {"uri": uri})
    assert error["code"] == (-32602 if every.modern else -32002)
    assert error["data"] == {"uri": uri}


@pytest.mark.requirement("RES-06")
@pytest.mark.parametrize("params", [{}, {"uri": 5}, {"uri": None}, {"uri": ["fixture://text"]}])
async def test_a_malformed_read_is_refused(every: Wire, params: dict[str, Any]) -> None:
    assert (await every.error("resources/read", params))["code"] == -32602


async def test_a_prompt_of_one_text_is_a_message_of_the_user(every: Wire) -> None:
    result = await every.result("prompts/get", {"name": "fixture_review"})
    assert result["description"] == "Ask for a review."
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": "Please review this."}}]


async def test_a_prompt_of_several_messages(every: Wire) -> None:
    result = await every.result("prompts/get", {"name": "fixture_exchange", "arguments": {}})
    assert [(message["role"], message["content"]["text"]) for message in result["messages"]] == [
        ("user", "What is it?"),
        ("assistant", "A pegboard."),
    ]


async def test_prompts_are_listed_with_what_they_say_of_themselves(pool: Pool) -> None:
    wire = await pool.get("2025-11-25")
    listed = {item["name"]: item for item in (await wire.result("prompts/list"))["prompts"]}
    assert listed["fixture_review"] == {
        "name": "fixture_review",
        "title": "Review",
        "description": "Ask for a review.",
    }


@pytest.mark.requirement("PROMPT-01")
@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None}, {"name": "fixture_missing"}, {"name": ""}])
async def test_an_unknown_prompt_is_refused(every: Wire, params: dict[str, Any]) -> None:
    assert (await every.error("prompts/get", params))["code"] == -32602


@pytest.mark.requirement("PROMPT-02")
@pytest.mark.parametrize("arguments", [[], "x", 5])
async def test_malformed_arguments_of_a_prompt_are_refused(every: Wire, arguments: Any) -> None:
    params = {"name": "fixture_review", "arguments": arguments}
    assert (await every.error("prompts/get", params))["code"] == -32602


@pytest.mark.requirement("PROMPT-03", "RES-05")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {"uri": "fixture://broken"}),
        ("prompts/get", {"name": "fixture_broken_prompt"}),
        ("prompts/get", {"name": "hostile_odd_role"}),
        ("prompts/get", {"name": "hostile_odd_text"}),
        ("prompts/get", {"name": "hostile_odd_messages"}),
    ],
)
async def test_content_that_fails_is_an_internal_error_and_tells_nothing(
    every: Wire, method: str, params: dict[str, Any]
) -> None:
    """Section 8: -32603 never leaks internals."""
    error = await every.error(method, params)
    assert error["code"] == -32603
    assert CANARY not in json.dumps(error)
