"""Requests for a reload, without a process; `tests/protocol/test_reload.py` has the processes."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pegboard import Host
from pegboard.cli.reloads.reload_requests import ReloadRequests
from pegboard.config import HostConfig
from tests.host.hosting import until


@pytest.mark.parametrize(("level", "expected"), [("WARNING", "DEBUG"), ("INFO", "INFO")])
async def test_a_new_log_level_is_applied_unless_the_command_line_has_set_another(
    caplog: pytest.LogCaptureFixture, level: str, expected: str
) -> None:
    caplog.set_level(level)
    async with Host() as host:
        config = Host({"host": {"log_level": "debug"}}).config
        requests = ReloadRequests(host, lambda: config, announced=False)
        requests.request()
        await requests.run_until([asyncio.create_task(until(lambda: host.config.host.log_level == "debug"))])
    assert logging.getLevelName(logging.getLogger().level) == expected


async def test_an_unexpected_error_ends_only_its_reload(caplog: pytest.LogCaptureFixture) -> None:
    def read_config() -> HostConfig:
        raise ValueError("odd")

    async with Host() as host:
        requests = ReloadRequests(host, read_config, announced=False)
        for count in (1, 2):

            def has_failed(times: int = count) -> bool:
                return caplog.text.count("ValueError: odd") == times

            requests.request()
            await requests.run_until([asyncio.create_task(until(has_failed))])
