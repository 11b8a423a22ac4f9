"""What models are shown of errors for debugging: nothing, unless the operator accepts that in full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard import FatalToolError, Host, RetryableToolError, Toolkit
from pegboard.calls.exposure import ACKNOWLEDGEMENT
from pegboard.plugin import HostConfig
from pegboard.types import Call, CallNext, Outcome, Supplied
from tests.host.hosting import failure, make_host, plugin_of
from tests.support import hostile_kit
from tests.support.pool import Pool, make_site
from tests.support.schemas import LEGACY, MODERN

MESSAGE = "ARCADE_DEBUG_EXPOSE_DEVELOPER_MESSAGE_IN_TOOL_ERROR_RESPONSES"
TRACE = "ARCADE_DEBUG_EXPOSE_STACKTRACE_IN_TOOL_ERROR_RESPONSES"
CANARY = "canary-7f3a91"


def failing_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    def fall() -> str:
        """Fail unexpectedly."""
        raise ValueError(CANARY)

    @kit.tool
    def refuse(detail: str | None = None) -> str:
        """Fail on purpose."""
        raise RetryableToolError("not now", detail)

    return kit


def host_with(**environ: str) -> Host:
    config = HostConfig.load(
        None,
        environ=environ,
        defaults={"host": {"autoload": False, "disabled_plugins": ["pegboard:*"]}},
        directory=Path("/nonexistent"),
    )
    return Host(config, toolkits={"x": failing_kit()})


@pytest.mark.parametrize("value", [ACKNOWLEDGEMENT, f"  {ACKNOWLEDGEMENT}\n"])
async def test_each_is_on_by_the_whole_sentence_and_the_log_says_so(
    value: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name in (MESSAGE, TRACE):
        caplog.clear()
        async with host_with(**{name: value}) as host:
            assert [record.levelname for record in caplog.records if name in record.getMessage()] == ["WARNING"]
            debug = (await failure(host, "x_fall")).debug
            assert debug is not None
            assert debug.startswith(
                f"[DEBUG] developer_message: ValueError: {CANARY}"
                if name == MESSAGE
                else "[DEBUG] stacktrace:\nTraceback"
            )
            assert ("Traceback" in debug) is (name == TRACE)
            await failure(host, "x_fall")
        assert len([record for record in caplog.records if name in record.getMessage()]) == 1


@pytest.mark.parametrize("value", ["1", "true", "YES", "on", ACKNOWLEDGEMENT.upper(), f"{ACKNOWLEDGEMENT}!"])
@pytest.mark.parametrize("name", [MESSAGE, TRACE])
async def test_what_looks_like_yes_is_no_and_the_log_says_so(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with host_with(**{name: value}) as host:
        assert (await failure(host, "x_fall")).debug is None
    (said,) = [record for record in caplog.records if name in record.getMessage()]
    assert said.levelname == "WARNING"
    assert ACKNOWLEDGEMENT in said.getMessage()


@pytest.mark.parametrize("value", ["", "  ", "0", "false", "No", "off"])
async def test_no_is_no(value: str, caplog: pytest.LogCaptureFixture) -> None:
    async with host_with(**{MESSAGE: value, TRACE: value}) as host:
        assert (await failure(host, "x_fall")).debug is None
    assert "ARCADE_DEBUG" not in caplog.text


async def test_what_there_is_not_is_not_shown() -> None:
    async with host_with(**{MESSAGE: ACKNOWLEDGEMENT, TRACE: ACKNOWLEDGEMENT}) as host:
        unavailable = "[DEBUG] stacktrace: unavailable (tool error payload did not include one)"
        assert (await failure(host, "x_refuse")).debug == unavailable
        detail = "[DEBUG] developer_message: the disk is full"
        assert (await failure(host, "x_refuse", {"detail": "the disk is full"})).debug == f"{detail}\n\n{unavailable}"


async def test_it_is_read_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    async with host_with() as host:
        monkeypatch.setenv(MESSAGE, ACKNOWLEDGEMENT)
        assert (await failure(host, "x_fall")).debug is None


async def test_over_the_wire_the_text_shows_it(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"hostile": hostile_kit})
    async with Pool(site) as pool, pool.new(env={MESSAGE: ACKNOWLEDGEMENT, TRACE: ACKNOWLEDGEMENT}) as wire:
        await wire.initialize(LEGACY[-1])
        for revision in (LEGACY[-1], MODERN[-1]):
            result = await wire.call("hostile_burst", kind="StopIteration", modern=revision in MODERN)
            text = result["content"][0]["text"]
            assert text.startswith("It failed unexpectedly.")
            assert f"\n\n[DEBUG] developer_message: StopIteration: {hostile_kit.CANARY}" in text
            assert "\n\n[DEBUG] stacktrace:\nTraceback" in text


# --- errors that are wrong themselves, wherever they are raised


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError(CANARY)


class SpeechlessRefusal(FatalToolError, Speechless):
    """The same, on purpose."""


WRONG: Any = object()


@pytest.mark.parametrize(
    "make",
    [Speechless, lambda: SpeechlessRefusal("no"), lambda: RetryableToolError("no", retry_after_ms=WRONG)],
    ids=["speechless", "speechless on purpose", "a wait that is no number"],
)
async def test_middleware_may_raise_what_is_wrong_itself(
    make: Callable[[], Exception], caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(call: Call, call_next: CallNext) -> Outcome:
        raise make()

    async with make_host(failing_kit(), plugins={"m": plugin_of(middleware=[fail])}) as host:
        outcome = await failure(host, "x_fall")
    assert outcome.error.message == "Internal error"
    assert str(outcome.error_id) in caplog.text


async def test_secrets_are_masked_in_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Toolkit("x")

    @kit.tool
    def leak() -> str:
        """Fail with what the request brought."""
        raise ValueError("the token tok-7f3a91-canary is refused")

    config: dict[str, Any] = {"debug_developer_message": ACKNOWLEDGEMENT, "debug_stacktrace": ACKNOWLEDGEMENT}
    async with make_host(kit, **config) as host:
        outcome = await failure(host, "x_leak", supplied=Supplied(secrets={"TOKEN": "tok-7f3a91-canary"}))
    assert outcome.debug is not None
    assert "developer_message: ValueError: the token" in outcome.debug
    assert "tok-7f3a91" not in outcome.debug
