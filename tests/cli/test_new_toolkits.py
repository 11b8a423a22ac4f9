"""Toolkits that are new since the last start: reported once, by the commands that serve."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.cli.test_received import WEATHER

NEW = "is new since the last start; its code runs with your rights"
NOTICE = (
    f"WARNING pegboard: toolkit 'weather' from dist-weather 1.2.3 {NEW} and receives the secrets BANK_PIN, "
    'GITHUB_TOKEN, WEATHER_KEY; [host] disabled_toolkits = ["weather"] disables it\n'
)


def kept(command: Command) -> Path:
    return command.folder / ".local/state/pegboard/toolkits.json"


def toolkits(command: Command) -> dict[str, Any]:
    """Return what is kept of the only environment."""
    (seen,) = json.loads(kept(command).read_bytes()).values()
    return dict(seen)


@pytest.fixture
def started(pegboard: Command) -> Command:
    """The command after its first start."""
    assert NEW not in pegboard("stdio").err
    return pegboard


def test_a_toolkit_that_was_installed_after_the_last_start_is_reported_once(started: Command) -> None:
    started.install("weather", WEATHER)
    assert NOTICE in started("stdio").err
    assert NEW not in started("stdio").err


def test_an_installation_from_another_distribution_is_new_and_another_version_is_not(started: Command) -> None:
    started.install("weather", WEATHER)
    started("stdio")
    folder = started.site / "dist_weather-1.2.3.dist-info"
    (folder / "METADATA").write_text("Name: dist-weather\nVersion: 2.0\n")
    told = started("stdio", "-v").err
    assert NEW not in told
    assert "toolkit 'weather' from dist-weather 2.0 is another version than at the last start, which was 1.2.3" in told
    (folder / "METADATA").write_text("Name: evil-weather\nVersion: 2.0\n")
    assert f"toolkit 'weather' from evil-weather 2.0 {NEW}" in started("stdio").err


def test_a_toolkit_that_was_removed_and_installed_again_is_new(started: Command) -> None:
    started.install("weather", WEATHER)
    started("stdio")
    shutil.rmtree(started.site / "dist_weather-1.2.3.dist-info")
    started("stdio")
    started.install("weather", WEATHER)
    assert NOTICE in started("stdio").err


@pytest.mark.parametrize(
    "arguments", [("list",), ("plugins",), ("call", "demo_echo", "text=x"), ("config", "check"), ("why", "weather")]
)
def test_commands_that_do_not_serve_record_and_report_nothing(started: Command, arguments: tuple[str, ...]) -> None:
    started.install("weather", WEATHER)
    before = kept(started).read_bytes()
    assert NEW not in started(*arguments).err
    assert kept(started).read_bytes() == before
    assert NOTICE in started("stdio").err


def test_a_toolkit_is_reported_when_it_runs_for_the_first_time(started: Command) -> None:
    started.install("weather", WEATHER)
    assert NEW not in started("stdio", "--only", "demo").err
    assert NOTICE in started("stdio").err
    assert NEW not in started("stdio", "--only", "demo").err
    assert NEW not in started("stdio").err


def test_the_first_start_remembers_what_it_does_not_run(pegboard: Command) -> None:
    pegboard.install("weather", WEATHER)
    pegboard("stdio", "--only", "demo")
    assert NEW not in pegboard("stdio").err


@pytest.mark.parametrize("content", ["", "[]", "{", '{"x": 1}', '{"x": {"y": 1}}', "\udcff"])
def test_whatever_the_file_holds_the_host_starts(started: Command, content: str) -> None:
    kept(started).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert (started("stdio").code, NEW in started("stdio").err) == (0, False)
    assert toolkits(started)["demo"] == ["demo-kit", "4.5.6"]


@pytest.mark.parametrize("state", ["/proc/nowhere", "/dev/null/x"])
def test_without_a_state_directory_nothing_is_said(pegboard: Command, state: str) -> None:
    done = pegboard("stdio", env={"PEGBOARD_STATE_DIR": state})
    assert (done.code, "state" in done.err) == (0, False)


def test_what_cannot_be_remembered_is_not_reported(started: Command) -> None:
    started.install("weather", WEATHER)
    content = kept(started).read_bytes()
    lock = kept(started).with_name(".toolkits.json.lock")
    lock.unlink()
    lock.mkdir()
    done = started("stdio")
    assert (done.code, NEW in done.err, kept(started).read_bytes()) == (0, False, content)


def test_of_hosts_that_start_at_once_one_reports(started: Command) -> None:
    started.install("weather", WEATHER)

    def start(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            started.arguments("stdio"),
            cwd=started.folder,
            env=started.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(start, range(6)))
    assert [one.returncode for one in done] == [0] * 6
    assert sum(NEW in one.stderr for one in done) == 1
    assert {"demo", "weather"} <= toolkits(started).keys()
    assert sorted(os.listdir(kept(started).parent)) == [".toolkits.json.lock", "toolkits.json"]
