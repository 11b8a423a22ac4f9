"""Details of errors that models see for debugging: none, unless the operator accepts that in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegboard import Host, RetryableToolError, Toolkit
from pegboard.loading.discovery import defaults
from pegboard.plugin import ConfigError, HostConfig
from pegboard.types import Call, CallNext, Outcome, Supplied
from pegboard_plugins.debug_errors import ACKNOWLEDGEMENT, VARIABLES
from tests.host.hosting import failure, plugin_of
from tests.support import hostile_kit
from tests.support.pool import CONFIG, make_site
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

MESSAGE, TRACE = VARIABLES.values()
CANARY = "canary-7f3a91"
UNAVAILABLE = "[DEBUG] stacktrace: unavailable (tool error payload did not include one)"


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


async def refuse_all(call: Call, call_next: CallNext) -> Outcome:
    """Middleware that fails on purpose."""
    raise RetryableToolError("no", CANARY)


def host_with(environ: dict[str, str], **plugins: type) -> Host:
    config = HostConfig.load(
        None, environ=environ, defaults={**defaults(), "host": {"autoload": False}}, directory=Path("/nonexistent")
    )
    return Host(config, plugins=plugins, toolkits={"x": failing_kit()})


@pytest.mark.parametrize("value", [ACKNOWLEDGEMENT, f"  {ACKNOWLEDGEMENT}\n"])
@pytest.mark.parametrize(
    ("name", "beginning"),
    [(MESSAGE, f"[DEBUG] developer_message: ValueError: {CANARY}"), (TRACE, "[DEBUG] stacktrace:\nTraceback")],
)
async def test_the_whole_sentence_turns_each_switch_on_and_the_log_says_so_once(
    name: str, beginning: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with host_with({name: value}) as host:
        debug = (await failure(host, "x_fall")).debug
    assert debug is not None
    assert debug.startswith(beginning)
    assert ("Traceback" in debug) is (name == TRACE)
    assert [record.levelname for record in caplog.records if f"{name} is on" in record.getMessage()] == ["WARNING"]


@pytest.mark.parametrize("value", ["1", "true", "YES", "on", ACKNOWLEDGEMENT.upper(), f"{ACKNOWLEDGEMENT}!"])
@pytest.mark.parametrize("name", [MESSAGE, TRACE])
async def test_another_yes_turns_nothing_on_and_the_log_says_so(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with host_with({name: value}) as host:
        assert (await failure(host, "x_fall")).debug is None
    (said,) = [record for record in caplog.records if name in record.getMessage()]
    assert said.levelname == "WARNING"
    assert ACKNOWLEDGEMENT in said.getMessage()


@pytest.mark.parametrize("value", ["", "  ", "0", "false", "No", "off"])
async def test_no_is_no(value: str, caplog: pytest.LogCaptureFixture) -> None:
    async with host_with({MESSAGE: value, TRACE: value}) as host:
        assert (await failure(host, "x_fall")).debug is None
    assert "ARCADE_DEBUG" not in caplog.text


async def test_the_plugin_is_loaded_only_when_it_is_configured() -> None:
    for environ, loaded in (({}, False), ({TRACE: ACKNOWLEDGEMENT}, True)):
        async with host_with(environ) as host:
            assert ("debug_errors" in [plugin.origin.name for plugin in host.report.plugins]) is loaded


@pytest.mark.parametrize("key", ["developer_message", "stacktrace"])
def test_the_old_setting_names_its_new_place(key: str) -> None:
    with pytest.raises(ConfigError, match=rf"debug_{key}.*\[plugins.debug_errors\] {key}"):
        Host({"host": {f"debug_{key}": ACKNOWLEDGEMENT}})


async def test_details_are_masked_and_those_missing_are_not_shown() -> None:
    async with host_with({MESSAGE: ACKNOWLEDGEMENT, TRACE: ACKNOWLEDGEMENT}) as host:
        assert (await failure(host, "x_refuse")).debug == UNAVAILABLE
        given = await failure(host, "x_refuse", {"detail": "the disk is full"})
        assert given.debug == f"[DEBUG] developer_message: the disk is full\n\n{UNAVAILABLE}"
        leaked = await failure(host, "x_fall", supplied=Supplied(secrets={"TOKEN": CANARY}))
    assert leaked.debug is not None
    assert "developer_message: ValueError:" in leaked.debug
    assert CANARY not in leaked.debug


async def test_errors_of_middleware_have_details_too() -> None:
    async with host_with({MESSAGE: ACKNOWLEDGEMENT}, a=plugin_of(middleware=[refuse_all])) as host:
        assert (await failure(host, "x_fall")).debug == f"[DEBUG] developer_message: {CANARY}"


async def test_over_the_wire_the_text_shows_it(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"hostile": hostile_kit})
    async with Wire(config=CONFIG, env={MESSAGE: ACKNOWLEDGEMENT, TRACE: ACKNOWLEDGEMENT}, site=site) as wire:
        await wire.initialize(LEGACY[-1])
        for revision in (LEGACY[-1], MODERN[-1]):
            result = await wire.call("hostile_burst", kind="StopIteration", modern=revision in MODERN)
            text = result["content"][0]["text"]
            assert text.startswith("It failed unexpectedly.")
            assert f"\n\n[DEBUG] developer_message: StopIteration: {hostile_kit.CANARY}" in text
            assert "\n\n[DEBUG] stacktrace:\nTraceback" in text
