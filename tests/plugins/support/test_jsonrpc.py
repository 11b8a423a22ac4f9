"""JSON-RPC messages as bytes."""

from __future__ import annotations

import json

import pytest

from pegboard_plugins.support.jsonrpc import jsonrpc_error, jsonrpc_notification, jsonrpc_result


@pytest.mark.requirement("MSG-10", "MSG-12")
def test_messages_have_their_members_and_only_responses_an_id() -> None:
    assert json.loads(jsonrpc_error(-32700, "no JSON \ud83d")) == {
        "jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON \ufffd"},
    }  # fmt: skip
    assert json.loads(jsonrpc_error(-32602, "no", "id \"1\"", {"a": [1]})) == {
        "jsonrpc": "2.0", "id": "id \"1\"", "error": {"code": -32602, "message": "no", "data": {"a": [1]}},
    }  # fmt: skip
    assert jsonrpc_result(7, b'{"a":1}') == b'{"jsonrpc":"2.0","id":7,"result":{"a":1}}'
    assert json.loads(jsonrpc_result('"\n', b"{}")) == {"jsonrpc": "2.0", "id": '"\n', "result": {}}
    assert json.loads(jsonrpc_notification("notifications/progress", {"progress": 1})) == {
        "jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1},
    }  # fmt: skip
