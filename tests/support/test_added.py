"""The recorder accepts the messages of an extension, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.rules import Added, check_error, check_result, check_sent
from tests.support.schemas import SchemaMismatch

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ADDED = Added(results={"x/get": NUMBER}, kinds={"job": NUMBER}, notifications={"notifications/x": NUMBER})
OLD, NEW = "2025-11-25", "2026-07-28"


def result(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": members}


@pytest.mark.parametrize(
    ("revision", "method", "message"),
    [
        (NEW, "x/get", result(n=1, resultType="complete")),
        (OLD, "x/get", result(n=1)),
        (NEW, "tools/call", result(n=1, resultType="job")),
        (OLD, "tools/call", result(n=1, resultType="job", content=[])),
    ],
)
def test_additions_pass(revision: str, method: str, message: dict[str, Any]) -> None:
    check_result(revision, method, message, ADDED)
    with pytest.raises(SchemaMismatch):
        check_result(revision, method, message)


@pytest.mark.parametrize(
    ("revision", "method", "message"),
    [
        (NEW, "x/get", result(n="1", resultType="complete")),
        (NEW, "x/get", result(n=1)),
        (NEW, "x/get", result(n=1, resultType="task")),
        (OLD, "x/get", result(n=1, resultType="complete")),
        (NEW, "x/put", result(n=1, resultType="complete")),
        (NEW, "tools/call", result(resultType="job")),
        (OLD, "tools/call", result(n=1, resultType="job")),
    ],
)
def test_other_messages_are_refused(revision: str, method: str, message: dict[str, Any]) -> None:
    with pytest.raises(SchemaMismatch):
        check_result(revision, method, message, ADDED)


def missing(**data: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32021, "message": "", "data": data}}


def test_a_missing_extension_may_be_said_in_sessions_too_but_only_in_full() -> None:
    check_error(OLD, missing(requiredCapabilities={"extensions": {"com.x/y": {}}}), ADDED)
    with pytest.raises(SchemaMismatch):
        check_error(OLD, missing(), ADDED)
    with pytest.raises(SchemaMismatch):
        check_error(OLD, missing(requiredCapabilities={}))


def test_a_notification_that_was_added_has_its_schema() -> None:
    note: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"n": 1}}
    check_sent(OLD, "notification", note, ADDED)
    with pytest.raises(SchemaMismatch):
        check_sent(OLD, "notification", note)
    with pytest.raises(SchemaMismatch):
        check_sent(OLD, "notification", {**note, "params": {"n": ""}}, ADDED)
