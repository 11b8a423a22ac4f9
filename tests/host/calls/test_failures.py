"""The log entry of a failed call: the author's code, without frames of the host."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import Context, FatalToolError, ImageContent, RetryableToolError, Toolkit
from pegboard.types import Call, CallNext, Outcome
from tests.host.hosting import failure, make_host, plugin_of


def kit() -> Toolkit:
    kit = Toolkit("sample")

    @kit.tool
    def mistaken() -> list[Any]:
        """Return what it does not declare."""
        return [ImageContent(b"x", "image/png")]

    @kit.tool
    def asking(context: Context) -> str:
        """Ask where it cannot."""
        return str(context.ui.elicit("Who?", str))

    @kit.tool
    def told() -> str:
        """Fail on purpose, with a word for the log."""
        raise FatalToolError("No.", "the disk is full")

    @kit.tool
    def verbose() -> str:
        """Fail at length."""
        raise RetryableToolError("x" * 20_000, additional_prompt_content="y" * 20_000)

    @kit.tool
    def caused() -> str:
        """Fail for a reason."""
        try:
            return str(int("x"))
        except ValueError as error:
            raise FatalToolError("No.") from error

    return kit


async def passing(call: Call, call_next: CallNext) -> Outcome:
    """Middleware that every call leads through."""
    return await call_next(call)


async def logged(tool: str, caplog: pytest.LogCaptureFixture) -> tuple[str, list[str]]:
    """The line about a call that failed, and the functions that its story leads through."""
    async with make_host(kit(), plugins={"passing": plugin_of(middleware=[passing])}) as host:
        caplog.clear()
        await failure(host, f"sample_{tool}")
    (record,) = caplog.records
    way = traceback.extract_tb(record.exc_info[2]) if record.exc_info else []
    return record.getMessage(), [one.name for one in way]


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("mistaken", "annotate the result as content"),
        ("asking", "only an async function"),
        ("told", "the disk is full"),
        ("caused", "No."),
    ],
)
async def test_a_typed_error_leads_to_the_authors_code_alone(
    tool: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    line, way = await logged(tool, caplog)
    assert words in line
    assert way == ([] if tool == "mistaken" else [tool])  # the host itself found the mistake


async def test_the_texts_of_an_error_have_a_limit() -> None:
    async with make_host(kit()) as host:
        error = (await failure(host, "sample_verbose")).error
    assert isinstance(error, RetryableToolError)
    assert error.message == "x" * 16_384 + " ... (3616 more characters)"
    assert error.additional_prompt_content == "y" * 16_384 + " ... (3616 more characters)"


WRONG: Any = object()


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("canary")


class SpeechlessRefusal(FatalToolError, Speechless):
    """The same, on purpose."""


@pytest.mark.parametrize(
    "make",
    [Speechless, lambda: SpeechlessRefusal("no"), lambda: RetryableToolError("no", retry_after_ms=WRONG)],
    ids=["speechless", "speechless on purpose", "a wait that is no number"],
)
async def test_an_unsound_error_of_middleware_is_masked(
    make: Callable[[], Exception], caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(call: Call, call_next: CallNext) -> Outcome:
        raise make()

    async with make_host(kit(), plugins={"m": plugin_of(middleware=[fail])}) as host:
        outcome = await failure(host, "sample_told")
    assert outcome.error.message == "Internal error"
    assert str(outcome.error_id) in caplog.text
