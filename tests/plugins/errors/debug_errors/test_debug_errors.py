"""Details of errors that models see for debugging: none, unless the operator accepts that in full."""

from __future__ import annotations

from pathlib import Path

import pytest
from multidict import CIMultiDict

from pegboard import Host, RetryableToolError
from pegboard.config import HostConfig
from pegboard.loading.discovery import defaults
from pegboard.types import ANONYMOUS, Call, CallNext, Outcome, Supplied
from pegboard_plugins.errors.debug_errors import ACKNOWLEDGEMENT, VARIABLES
from tests.host.hosting import failure, kit_of, plugin_of

MESSAGE, TRACE = VARIABLES.values()
CANARY = "canary-7f3a91"
UNAVAILABLE = "[DEBUG] stacktrace: unavailable (tool error payload did not include one)"


def fall() -> str:
    raise ValueError(CANARY)


def refuse(detail: str | None = None) -> str:
    raise RetryableToolError("not now", detail)


async def refuse_all(call: Call, call_next: CallNext) -> Outcome:
    raise RetryableToolError("no", CANARY)


def host_with(environ: dict[str, str], **plugins: type) -> Host:
    config = HostConfig.load(
        None, environ=environ, defaults={**defaults(), "host": {"autoload": False}}, directory=Path("/nonexistent")
    )
    return Host(config, plugins=plugins, toolkits={"x": kit_of(fall, refuse)})


@pytest.mark.parametrize(
    ("name", "beginning"),
    [(MESSAGE, f"[DEBUG] developer_message: ValueError: {CANARY}"), (TRACE, "[DEBUG] stacktrace:\nTraceback")],
)
async def test_the_whole_sentence_enables_each_setting_and_one_warning_says_so(
    name: str, beginning: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with host_with({name: f"  {ACKNOWLEDGEMENT}\n"}) as host:
        debug = (await failure(host, "fall")).debug or ""
    assert debug.startswith(beginning)
    assert ("Traceback" in debug) is (name == TRACE)
    assert [record.levelname for record in caplog.records if f"{name} is on" in record.getMessage()] == ["WARNING"]


@pytest.mark.parametrize("value", ["1", "true", ACKNOWLEDGEMENT.upper(), f"{ACKNOWLEDGEMENT}!"])
@pytest.mark.parametrize("name", [MESSAGE, TRACE])
async def test_another_yes_enables_nothing_and_a_warning_says_so(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with host_with({name: value}) as host:
        assert (await failure(host, "fall")).debug is None
    (record,) = [record for record in caplog.records if name in record.getMessage()]
    assert record.levelname == "WARNING"
    assert ACKNOWLEDGEMENT in record.getMessage()


@pytest.mark.parametrize("value", [None, "", "0", "False"])
async def test_no_is_no(value: str | None, caplog: pytest.LogCaptureFixture) -> None:
    async with host_with({} if value is None else {MESSAGE: value, TRACE: value}) as host:
        assert (await failure(host, "fall")).debug is None
        loaded = "debug_errors" in [plugin.origin.name for plugin in host.report.plugins]
    assert value or not loaded
    assert "ARCADE_DEBUG" not in caplog.text


async def test_details_are_masked_and_those_missing_are_not_shown() -> None:
    async with host_with({MESSAGE: ACKNOWLEDGEMENT}, a=plugin_of(middleware=[refuse_all])) as host:
        assert (await failure(host, "fall")).debug == f"[DEBUG] developer_message: {CANARY}"
    async with host_with({MESSAGE: ACKNOWLEDGEMENT, TRACE: ACKNOWLEDGEMENT}) as host:
        assert (await failure(host, "refuse")).debug == UNAVAILABLE
        outcome = await failure(host, "refuse", {"detail": "the disk is full"})
        assert outcome.debug == f"[DEBUG] developer_message: the disk is full\n\n{UNAVAILABLE}"
        leaked = await failure(host, "fall", supplied=Supplied(secrets={"TOKEN": CANARY}))
    assert "developer_message: ValueError:" in (leaked.debug or "")
    assert CANARY not in (leaked.debug or "")


@pytest.mark.parametrize(
    ("peer", "headers", "shown"),
    [
        ("127.0.0.1", {}, True),
        ("::1", {}, True),
        ("192.0.2.7", {}, False),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, False),
        ("", None, True),
    ],
)
async def test_unmasked_details_stay_on_this_machine(
    peer: str, headers: dict[str, str] | None, shown: bool, caplog: pytest.LogCaptureFixture
) -> None:
    fields = None if headers is None else CIMultiDict(headers)
    async with host_with({"MCP_MIDDLEWARE_MASK_ERROR_DETAILS": "false"}) as host:
        debug = (await failure(host, "fall", peer=peer, headers=fields)).debug
        anonymous = (await failure(host, "fall", caller=ANONYMOUS)).debug
    assert debug == (f"[DEBUG] developer_message: ValueError: {CANARY}" if shown else None)
    assert anonymous is None
    assert "mask_details is false" in caplog.text
