"""Responses to every error, by the table, over stdio and HTTP, in both eras."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard import MCPError
from pegboard_plugins.protocols.worker.jwt_authenticator import create_token
from tests.support import errors_plugin
from tests.support.distributions import make_distribution
from tests.support.error_answers import CANARY, MASKED, PLACES, Answer, Row, answer, request, rows, table
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, message
from tests.support.pool import CONFIG
from tests.support.schemas import LEGACY
from tests.support.wire import Wire

ROWS = rows()
SECRET = "a-secret-of-the-tests-that-is-long-enough"
EACH = pytest.mark.parametrize("row", ROWS, ids=[row.raised for row in ROWS])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    source = inspect.getsource(errors_plugin)
    points = {"pegboard.plugins": {"errors": "errors_plugin:ErrorsPlugin"}}
    make_distribution(folder, "errors-plugin", "1.0", points, {"errors_plugin.py": source})
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def wire(site: Path) -> AsyncIterator[Wire]:
    async with Wire(config=f'{CONFIG}plugins = ["errors"]\n', site=site) as wire:
        await wire.initialize(LEGACY[-1])
        yield wire


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Path) -> AsyncIterator[Served]:
    env = {"ARCADE_WORKER_SECRET": SECRET}
    async with Served(site, http_config(host='plugins = ["errors"]'), env=env) as served:
        yield served


def text_of(row: Row) -> str:
    error: BaseException = eval(row.raised, dict(errors_plugin.NAMES))
    return str(error)


def check(row: Row, expected: Answer, response: Any) -> None:
    """Compare a response with the table."""
    assert CANARY not in repr(response)
    if expected.code is None:
        result = response["result"]
        assert result["isError"] is True
        assert "structuredContent" not in result
        (block,) = result["content"]
        detail, text = result["_meta"]["pegboard/error"], block["text"]
        assert f"Error id: {detail['errorId']}" in text if expected.error_id else "Error id" not in text
        assert (advice := (expected.detail or {}).get("additionalPromptContent")) is None or f"\n\n{advice}" in text
    else:
        error = response["error"]
        assert error["code"] == expected.code
        detail, text = error.get("data"), error["message"]
        if expected.detail is None:
            assert "errorId" in detail if expected.error_id else detail == expected.data
    assert text.startswith(text_of(row) if expected.shown else (MASKED, "Internal error"))
    if expected.detail is not None:
        assert ("errorId" in detail) is expected.error_id
        found = {name: value for name, value in detail.items() if name not in ("errorId", *row.more)}
        assert found == expected.detail


@EACH
@pytest.mark.asyncio(loop_scope="session")
async def test_responses_over_stdio_and_their_statuses_over_http(row: Row, wire: Wire, served: Served) -> None:
    for place in PLACES:
        for modern in (True, False):
            for mode in ("async", "inline", "thread") if place == "tool" else ("async",):
                method, params = request(place, row.raised, mode=mode)
                check(row, answer(row, place, modern=modern), await wire.request(method, params, modern=modern))
        method, params = request(place, row.raised)
        expected = answer(row, place, modern=True)
        came = await ask(served, message(method, params))
        assert came.status == expected.status
        check(row, expected, came.last)


WORKER = {
    "kind": "kind",
    "can_retry": "canRetry",
    "status_code": "statusCode",
    "retry_after_ms": "retryAfterMs",
    "additional_prompt_content": "additionalPromptContent",
}
"""Members of a worker's error, and their names in MCP."""


@EACH
@pytest.mark.asyncio(loop_scope="session")
async def test_responses_of_the_worker(row: Row, served: Served) -> None:
    for place, tool in (("tool", "Async"), ("middleware", "Around")):
        expected = answer(row, place, modern=False)
        body = {"tool": {"name": tool, "toolkit": "Errors"}, "inputs": {"code": row.raised.encode().hex()}}
        fields = [("Content-Type", "application/json"), ("Authorization", f"Bearer {create_token(SECRET, 60)}")]
        came = await served.request("POST", "/worker/tools/invoke", fields, json.dumps(body).encode())
        assert (came.status, came.json["success"]) == (200, False)
        error = came.json["output"]["error"]
        assert CANARY not in repr(error)
        fatal = {"kind": "TOOL_RUNTIME_FATAL", "canRetry": False}
        detail = fatal if expected.code is not None or expected.detail is None else expected.detail
        given = {ours: error[theirs] for theirs, ours in WORKER.items() if ours not in row.more}
        told = {name: value for name, value in given.items() if value is not None}
        assert told == {name: value for name, value in detail.items() if name in WORKER.values()}
        assert ("error_id" in (error["extra"] or {})) is expected.error_id
        text = error["message"].partition("': ")[2]
        assert text.startswith(
            text_of(row) or "(no details provided)" if expected.shown else (MASKED, "Internal error")
        )


CLASSES = {
    name: one
    for name, one in errors_plugin.NAMES.items()
    if inspect.isclass(one) and issubclass(one, MCPError) and name == one.__name__
}


def options_of(row: Row) -> set[str]:
    """Return the parameters of the constructor that a row uses."""
    (statement,) = ast.parse(row.raised).body
    call: Any = statement
    given = {one.arg: one for one in call.value.keywords}
    return set(inspect.signature(CLASSES[row.name]).bind(*call.value.args, **given).arguments)


def test_every_class_every_option_and_every_place_is_in_the_table() -> None:
    assert {row.name for row in ROWS if row.name.endswith("Error")} - {"ValueError"} == CLASSES.keys()
    for name in (name for name, one in CLASSES.items() if "__init__" in vars(one)):
        used = set().union(*(options_of(row) for row in ROWS if row.name == name))
        options = set(inspect.signature(CLASSES[name]).parameters) - {"developer_message", "final"}  # never shown
        assert options <= used, name
    families = table()["families"]
    assert {row.family for row in ROWS} == families.keys()
    assert all(set(family) == set(PLACES) for family in families.values())
