"""The error classes. tests/errors holds what clients receive for each."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import errors
from pegboard.errors import (
    ClientError,
    ConfigError,
    ErrorKind,
    LifespanError,
    NetworkTransportError,
    NotFoundError,
    ToolExecutionError,
    ToolkitError,
    UpstreamError,
)
from pegboard.toolkit import Toolkit
from tests.host.hosting import make_host

CLASSES = {
    name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, BaseException)
}
"""All error classes by name, aliases included."""


def test_the_kind_of_an_upstream_error_follows_from_its_status() -> None:
    kinds = {
        400: "BAD_REQUEST", 401: "AUTH_ERROR", 403: "AUTH_ERROR", 404: "NOT_FOUND", 422: "BAD_REQUEST",
        429: "RATE_LIMIT", 500: "SERVER_ERROR", 503: "SERVER_ERROR", 302: "UNMAPPED",
    }  # fmt: skip
    made = [UpstreamError("m", status_code=status) for status in kinds]
    assert {error.status_code: error.kind.value for error in made} == {
        status: f"UPSTREAM_RUNTIME_{kind}" for status, kind in kinds.items()
    }
    assert [error.status_code for error in made if error.can_retry] == [429, 500, 503]
    with pytest.raises(ValueError, match="NETWORK_TRANSPORT"):
        NetworkTransportError("m", kind=ErrorKind.UNKNOWN)


def test_a_subclass_need_not_call_the_constructor() -> None:
    for base in {kind for kind in CLASSES.values() if issubclass(kind, ToolkitError)}:
        forgetful: Any = type("Forgetful", (base,), {"__init__": lambda error, issue: None})
        payload = forgetful(7).to_payload()
        assert json.loads(json.dumps(payload)) == payload
        assert (payload["kind"], payload["status_code"]) == (forgetful.default_kind, forgetful.default_status)
        assert payload["extra"] is None


def test_errors_carry_their_data() -> None:
    extra = {"a": 1}
    error = ToolExecutionError("m", extra=extra)
    extra["a"] = 2
    assert error.extra == {"a": 1}
    config = ConfigError(["first", "second"])
    assert (config.message, config.problems) == ("first\nsecond", ("first", "second"))
    assert NotFoundError("m", data={"uri": "x:y"}).data == {"uri": "x:y"}


async def test_code_that_catches_errors_of_other_frameworks_catches_those_of_the_host() -> None:
    assert issubclass(errors.ToolRuntimeError, RuntimeError)
    assert issubclass(ClientError, errors.ResponseError)
    assert issubclass(LifespanError, errors.PluginError)

    kit = Toolkit("broken")

    @kit.lifespan
    async def broken(config: object) -> AsyncIterator[None]:
        int("no database")
        yield

    with pytest.raises(LifespanError, match="no database"):
        await make_host(kit).start()
