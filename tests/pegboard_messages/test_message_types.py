"""Typed messages: generated from the official schemas, and examples written with them are valid messages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pegboard_messages import v2025_11_25, v2026_07_28
from tests.support.schemas import REVISIONS, check, definitions
from tools.message_types import module_of, path_of

INITIALIZE: v2025_11_25.InitializeRequestParams = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {"url": {}}},
    "clientInfo": {"name": "client", "version": "1"},
    "_meta": {"com.example/trace": "1"},
}
META: v2026_07_28.RequestMetaObject = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST: v2026_07_28.ListToolsRequest = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
TOOL: v2026_07_28.Tool = {"name": "add", "inputSchema": {"type": "object", "additionalProperties": False}}
TOOLS: v2026_07_28.ListToolsResult = {
    "tools": [TOOL],
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}
VALUE: v2026_07_28.JSONValue = [None, 1.5, {"deep": [True]}]


@pytest.mark.parametrize(
    ("revision", "definition", "message"),
    [
        ("2025-11-25", "InitializeRequestParams", INITIALIZE),
        ("2026-07-28", "ListToolsRequest", LIST),
        ("2026-07-28", "ListToolsResult", TOOLS),
        ("2026-07-28", "JSONValue", VALUE),
    ],
)
def test_a_typed_example_is_valid(revision: str, definition: str, message: Any) -> None:
    check(revision, definition, message)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_modules_are_generated_from_the_schemas(revision: str) -> None:
    assert path_of(revision).read_text("utf-8") == module_of(revision), "run `python -m tools.message_types`"
    module = import_module(f"pegboard_messages.{path_of(revision).stem}")
    assert definitions(revision).keys() <= vars(module).keys()
