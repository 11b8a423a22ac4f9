"""Toolkits that are new since the last start, and an untested platform: reported once, by the commands that serve."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.host.cli.test_secret_report import WEATHER
from tests.support.command_line import Command

NEW = "is new since the last start; its code runs with your rights"
NOTICE = (
    f"WARNING pegboard: toolkit 'weather' from dist-weather 1.2.3 {NEW} and receives the secrets BANK_PIN, "
    'GITHUB_TOKEN, WEATHER_KEY; [host] disabled_toolkits = ["weather"] disables it\n'
)

ON_PYTHON_3 = """
import sys
from types import SimpleNamespace
from pegboard.cli import main
from pegboard.loading import discovery
discovery.sys = SimpleNamespace(version_info=SimpleNamespace(major=3, minor=int(sys.argv.pop(1))), platform="linux")
sys.exit(main())
"""


def kept(command: Command) -> Path:
    return command.folder / ".local/state/pegboard/toolkits.json"


@pytest.fixture
def started(pegboard: Command) -> Command:
    """The command after its first start, with a toolkit that was installed since."""
    assert NEW not in pegboard("stdio").err
    pegboard.install("weather", WEATHER)
    return pegboard


@pytest.mark.needs("auth", "tool_commands")
def test_a_new_toolkit_is_reported_once_when_it_first_runs(started: Command) -> None:
    before = kept(started).read_bytes()
    for line in ("list", "call demo_echo text=x", "stdio --only demo"):
        assert NEW not in started(*line.split()).err
        assert kept(started).read_bytes() == before
    assert NOTICE in started("stdio").err
    assert NEW not in started("stdio").err


@pytest.mark.needs("auth")
def test_another_distribution_is_new_and_another_version_is_not(started: Command) -> None:
    started("stdio")
    info = started.site / "dist_weather-1.2.3.dist-info"
    (info / "METADATA").write_text("Name: dist-weather\nVersion: 2.0\n")
    errors = started("stdio", "-v").err
    assert NEW not in errors
    assert "toolkit 'weather' from dist-weather 2.0 has a different version than at the last start (1.2.3)" in errors
    (info / "METADATA").write_text("Name: evil-weather\nVersion: 2.0\n")
    assert f"toolkit 'weather' from evil-weather 2.0 {NEW}" in started("stdio").err


@pytest.mark.parametrize("content", ["", '{"x": {"y": 1}}', "\udcff"])
def test_an_invalid_file_counts_as_a_first_start(started: Command, content: str) -> None:
    kept(started).write_bytes(content.encode("utf-8", "surrogateescape"))
    done = started("stdio")
    assert (done.code, NEW in done.err) == (0, False)
    (seen,) = json.loads(kept(started).read_bytes()).values()
    assert seen["demo"] == ["demo-kit", "4.5.6"]


@pytest.mark.needs("auth")
def test_one_of_several_hosts_that_start_together_reports(started: Command) -> None:
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: started("stdio"), range(6)))
    assert [run.code for run in done] == [0] * 6
    assert sum(NEW in run.err for run in done) == 1
    assert sorted(os.listdir(kept(started).parent)) == [".toolkits.json.lock", "toolkits.json"]


@pytest.mark.needs("doctor")
@pytest.mark.parametrize(("minor", "named"), [("99", [True, False, True, True]), ("11", [False] * 4)])
def test_an_untested_platform_is_named_at_the_first_start_and_by_doctor(
    pegboard: Command, minor: str, named: list[bool]
) -> None:
    done = [pegboard.run([sys.executable, "-c", ON_PYTHON_3, minor, line]) for line in 2 * ["stdio"] + 2 * ["doctor"]]
    assert [f"pegboard is untested on Python 3.{minor} on Linux; if " in run.err + run.out for run in done] == named
