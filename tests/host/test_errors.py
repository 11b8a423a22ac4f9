"""The taxonomy of errors: what the docstring draws is what there is."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

import pegboard
from pegboard import errors, plugin
from pegboard.errors import (
    ConfigError,
    ContextRequiredToolError,
    ErrorKind,
    FatalToolError,
    MCPError,
    NetworkTransportError,
    NotFoundError,
    ProtocolError,
    RetryableToolError,
    ToolExecutionError,
    ToolInputError,
    ToolkitError,
    ToolkitLoadError,
    ToolOutputError,
    ToolRuntimeError,
    ToolTimeoutError,
    UpstreamError,
    UpstreamRateLimitError,
)

CLASSES = {name: one for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, BaseException)}
"""By every name they have, aliases included."""


def drawn_tree(text: str) -> dict[str, str | None]:
    """Each class in the drawing, and the class that it hangs on."""
    parents: dict[str, str | None] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = re.match(r"([ │├└─]*)([A-Z]\w*Error)\b", line)
        if match is None or (path and not re.search("[├└]", match[1])):
            continue
        depth = len(match[1])
        while path and path[-1][0] >= depth:
            path.pop()
        parents[match[2]] = path[-1][1] if path else None
        path.append((depth, match[2]))
    return parents


def test_the_tree_as_drawn_is_the_tree_of_classes() -> None:
    there = {
        one.__name__: next((base.__name__ for base in one.__bases__ if issubclass(base, MCPError)), None)
        for one in CLASSES.values()
    }
    assert drawn_tree(errors.__doc__ or "") == there
    assert len(there) > 25


def test_every_error_is_public() -> None:
    assert set(CLASSES) <= {*pegboard.__all__, *plugin.__all__}


def test_the_second_name_is_the_same_class() -> None:
    assert errors.McpError is ProtocolError


def test_errors_of_a_running_tool_are_runtime_errors() -> None:
    assert issubclass(ToolRuntimeError, RuntimeError)


MADE: list[tuple[ToolkitError, dict[str, Any]]] = [
    (ToolkitLoadError("m"), {"kind": "TOOLKIT_LOAD_FAILED"}),
    (errors.ToolDefinitionError("m"), {"kind": "TOOL_DEFINITION_BAD_DEFINITION"}),
    (errors.ToolInputSchemaError("m"), {"kind": "TOOL_DEFINITION_BAD_INPUT_SCHEMA"}),
    (errors.ToolOutputSchemaError("m"), {"kind": "TOOL_DEFINITION_BAD_OUTPUT_SCHEMA"}),
    (ToolExecutionError("m"), {"kind": "TOOL_RUNTIME_FATAL"}),
    (
        ToolExecutionError("m", "d", extra={"a": 1}),
        {"kind": "TOOL_RUNTIME_FATAL", "developer_message": "d", "extra": {"a": 1}},
    ),
    (ToolInputError("m"), {"kind": "TOOL_RUNTIME_BAD_INPUT_VALUE", "status_code": 400}),
    (ToolOutputError("m"), {"kind": "TOOL_RUNTIME_BAD_OUTPUT_VALUE", "status_code": 500}),
    (FatalToolError("m", "d"), {"kind": "TOOL_RUNTIME_FATAL", "status_code": 500, "developer_message": "d"}),
    (
        RetryableToolError("m", "d", "more", 50, {"a": 1}),
        {
            "kind": "TOOL_RUNTIME_RETRY", "can_retry": True, "developer_message": "d", "retry_after_ms": 50,
            "additional_prompt_content": "more", "extra": {"a": 1},
        },
    ),
    (
        ContextRequiredToolError("m", "ask for it", "d"),
        {"kind": "TOOL_RUNTIME_CONTEXT_REQUIRED", "additional_prompt_content": "ask for it", "developer_message": "d"},
    ),
    (
        UpstreamRateLimitError("m", 250),
        {"kind": "UPSTREAM_RUNTIME_RATE_LIMIT", "can_retry": True, "status_code": 429, "retry_after_ms": 250},
    ),
    (ToolTimeoutError("m"), {"kind": "TOOL_RUNTIME_FATAL", "status_code": 504}),
    (
        ToolTimeoutError("m", "d", additional_prompt_content="ask for less", can_retry=True, extra={"a": 1}),
        {
            "kind": "TOOL_RUNTIME_RETRY", "status_code": 504, "can_retry": True, "developer_message": "d",
            "additional_prompt_content": "ask for less", "extra": {"a": 1},
        },
    ),
    (NetworkTransportError("m"), {"kind": "NETWORK_TRANSPORT_RUNTIME_UNMAPPED", "can_retry": True}),
    (
        NetworkTransportError("m", kind=ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, can_retry=False),
        {"kind": "NETWORK_TRANSPORT_RUNTIME_TIMEOUT", "can_retry": False},
    ),
]  # fmt: skip
PLAIN: dict[str, Any] = {
    "message": "m", "developer_message": None, "can_retry": False, "status_code": None, "retry_after_ms": None,
    "additional_prompt_content": None, "stacktrace": None, "extra": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("error", "more"), MADE, ids=[f"{place} {type(one[0]).__name__}" for place, one in enumerate(MADE)]
)
def test_an_errors_payload_says_what_it_is(error: ToolkitError, more: dict[str, Any]) -> None:
    payload = error.to_payload()
    assert payload == PLAIN | more
    assert json.loads(json.dumps(payload)) == payload
    assert error.message == str(error) == "m"


@pytest.mark.parametrize(
    ("status", "kind", "can_retry"),
    [
        (400, "UPSTREAM_RUNTIME_BAD_REQUEST", False),
        (401, "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        (403, "UPSTREAM_RUNTIME_AUTH_ERROR", False),
        (404, "UPSTREAM_RUNTIME_NOT_FOUND", False),
        (422, "UPSTREAM_RUNTIME_BAD_REQUEST", False),
        (429, "UPSTREAM_RUNTIME_RATE_LIMIT", True),
        (500, "UPSTREAM_RUNTIME_SERVER_ERROR", True),
        (503, "UPSTREAM_RUNTIME_SERVER_ERROR", True),
        (302, "UPSTREAM_RUNTIME_UNMAPPED", False),
    ],
)
def test_the_kind_of_an_upstream_error_follows_from_its_status(status: int, kind: str, can_retry: bool) -> None:
    error = UpstreamError("m", status_code=status)
    assert (error.kind.value, error.can_retry, error.status_code) == (kind, can_retry, status)


def test_a_network_error_takes_no_other_kind() -> None:
    with pytest.raises(ValueError, match="NETWORK_TRANSPORT"):
        NetworkTransportError("m", kind=ErrorKind.UNKNOWN)


def test_the_values_of_kinds_are_their_names() -> None:
    assert {kind.name: kind.value for kind in ErrorKind} == {kind.name: kind.name for kind in ErrorKind}


def test_a_stack_trace_is_given_on_demand_and_is_that_of_the_cause() -> None:
    error = FatalToolError("m")
    assert error.to_payload(stacktrace=True)["stacktrace"] is None
    try:
        int("canary")
    except ValueError as cause:
        error.__cause__ = cause
    assert "canary" in error.to_payload(stacktrace=True)["stacktrace"]
    assert error.to_payload()["stacktrace"] is None


OF_ERRORS = [name for name, one in CLASSES.items() if issubclass(one, ToolkitError)]


@pytest.mark.parametrize("name", OF_ERRORS)
def test_a_subclass_may_forget_the_constructor_that_it_replaces(name: str) -> None:
    forgetful: Any = type("Forgetful", (CLASSES[name],), {"__init__": lambda error, issue: None})
    payload = forgetful(7).to_payload()
    assert json.loads(json.dumps(payload)) == payload
    assert (payload["kind"], payload["status_code"]) == (forgetful.default_kind, forgetful.default_status)
    assert payload["extra"] is None


def test_a_subclass_says_its_kind_in_its_class() -> None:
    class Odd(ToolExecutionError):
        default_kind = ErrorKind.UNKNOWN
        default_status = 418

    class Odder(Odd):
        pass

    for error in (Odd("m"), Odder("m")):
        assert (error.kind, error.status_code) == (ErrorKind.UNKNOWN, 418)


def test_extra_is_the_errors_own() -> None:
    given = {"a": 1}
    error = ToolExecutionError("m", extra=given)
    given["a"] = 2
    assert error.extra == {"a": 1}


def test_a_config_error_tells_all_problems_one_a_line() -> None:
    error = ConfigError(["first", "second"])
    assert (error.message, error.problems) == ("first\nsecond", ("first", "second"))


def test_protocol_and_not_found_errors_carry_their_data() -> None:
    assert (ProtocolError(-1, "m", {"a": 1}).code, ProtocolError(-1, "m", {"a": 1}).data) == (-1, {"a": 1})
    assert NotFoundError("m", data={"uri": "x:y"}).data == {"uri": "x:y"}
    assert NotFoundError("m").data is None
