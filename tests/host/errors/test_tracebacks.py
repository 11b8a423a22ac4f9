"""Very long tracebacks, chains and groups are shortened before they are formatted."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import pytest

from pegboard import FatalToolError
from pegboard.errors.tracebacks import SHOWN_EXCEPTIONS
from pegboard.runtime.log_lines import JsonFormatter, TextFormatter
from pegboard.secrets.redaction import RedactingFormatter


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
