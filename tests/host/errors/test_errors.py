"""The error classes, and very long tracebacks, chains and groups, which are shortened before they are formatted.

tests/errors holds what clients receive for each class.
"""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pegboard import FatalToolError, errors
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
from pegboard.errors.tracebacks import SHOWN_EXCEPTIONS
from pegboard.runtime.log_lines import JsonFormatter, TextFormatter
from pegboard.secrets.redaction import RedactingFormatter
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


def deep() -> None:
    def recurse(left: int) -> None:
        if not left:
            raise ValueError("at the bottom")
        recurse(left - 1)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        recurse(30_000)
    finally:
        sys.setrecursionlimit(before)


def chained() -> None:
    error: Exception | None = None
    for number in range(5_000):
        try:
            raise KeyError(number) from error
        except KeyError as raised:
            error = raised
    raise ValueError("at the bottom") from error


def grouped() -> None:
    raise ExceptionGroup("at the bottom", [KeyError(number) for number in range(50_000)])


def raised(function: Callable[[], None]) -> BaseException:
    with pytest.raises(BaseException, match="at the bottom") as caught:
        function()
    return caught.value


@pytest.mark.parametrize("function", [deep, chained, grouped], ids=lambda function: function.__name__)
def test_a_long_traceback_is_shortened_in_payloads_and_logs(function: Callable[[], None]) -> None:
    error = raised(function)
    toolkit_error = FatalToolError("It failed.")
    toolkit_error.__cause__ = error
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it", (), (type(error), error, error.__traceback__))
    texts = [
        str(toolkit_error.to_payload(stacktrace=True)["stacktrace"]),
        RedactingFormatter(TextFormatter()).format(record),
        RedactingFormatter(JsonFormatter()).format(record),
    ]
    for text in texts:
        assert "at the bottom" in text
        assert "left out" in text or f"and {50_000 - SHOWN_EXCEPTIONS} more" in text
        assert len(text) < 20_000
