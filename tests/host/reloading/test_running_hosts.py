"""Running hosts that `pegboard plugins` reports as outdated, and those that `pegboard reload` chooses and names."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.cli.reloads import running_hosts as records
from pegboard.cli.reloads.running_hosts import RunningHost, outdated_hosts
from pegboard.config import HostConfig
from pegboard.loading.discovery import Selection
from tests.support.command_line import Command
from tests.support.distributions import make_distribution

KIT = "from pegboard import Toolkit\nkit = Toolkit('odd')\n"


def host_of(*only: str) -> Host:
    host = Host({"host": {"disabled_plugins": ["pegboard:*"]}}, selection=Selection(only=only))
    host.load()
    return host


def changes(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the changes since this process started a host."""
    by_pid = dict(outdated_hosts(host_of(), environ))
    assert by_pid.keys() <= {os.getpid()}
    return {str(plugin.origin): plugin.change for changed in by_pid.values() for plugin in changed}


def test_only_a_host_whose_code_or_distributions_changed_is_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "state")}
    points = {"pegboard.toolkits": {"odd": "outdated_odd:kit"}}
    make_distribution(tmp_path, "toolkit-odd", "1.0", points, {"outdated_odd.py": KIT})
    with RunningHost(host_of("odd"), environ):
        assert changes(environ) == {}
        (tmp_path / "outdated_odd.py").write_text(KIT + "# changed\n")
        make_distribution(tmp_path, "toolkit-even", "1.0", {"pegboard.toolkits": {"even": "outdated_odd:kit"}}, {})
        odd, even = "toolkit 'odd' from toolkit-odd 1.0", "toolkit 'even' from toolkit-even 1.0"
        assert changes(environ) == {odd: "has changed", even: "was added"}
        shutil.rmtree(tmp_path / "toolkit_odd-1.0.dist-info")
        make_distribution(tmp_path, "toolkit-odd", "1.1", points, {})
        assert changes(environ) == {odd: "became 1.1", even: "was added"}
    assert changes(environ) == {}


def test_a_host_on_a_machine_with_a_longer_name_is_not_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path)}
    monkeypatch.setattr(records, "_PREFIX", "running-web-1-")
    with RunningHost(host_of(), environ):
        assert len([*records.running_hosts(environ)]) == 1
        monkeypatch.setattr(records, "_PREFIX", "running-web-")
        assert [*records.running_hosts(environ)] == []


@pytest.fixture
def running(bare: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """The command beside a running host with the toolkits `odd` and `even`, version 1.2.3."""
    monkeypatch.syspath_prepend(bare.site)
    for name in ("odd", "even"):
        bare.install(f"running-{name}", KIT)
    host = Host(HostConfig.load(bare.folder / "hostconfig.toml", environ=bare.environment()))
    host.load()
    with RunningHost(host, bare.environment()):
        yield bare


def test_a_removed_toolkit_and_another_version_are_rows_in_json(running: Command) -> None:
    for name in ("odd", "even"):
        shutil.rmtree(running.site / f"dist_running_{name}-1.2.3.dist-info")
    points = {"pegboard.toolkits": {"running-even": "running_even:kit"}}
    make_distribution(running.site, "dist-running-even", "1.3", points, {})
    rows = [row for row in running("plugins", "--json").data if row["outdated"]]
    assert [(row["name"], row["state"], row["version"], row["outdated"]) for row in rows] == [
        ("running-even", "on", "1.3", [os.getpid()]),
        ("running-odd", "removed", "1.2.3", [os.getpid()]),
    ]


@pytest.mark.needs("lock")
def test_an_updated_lock_names_the_hosts_that_are_outdated(running: Command) -> None:
    assert "outdated" not in running("lock").err
    shutil.rmtree(running.site / "dist_running_odd-1.2.3.dist-info")
    done = running("lock", "--update", "--yes")
    assert done.code == 0
    message = f"process {os.getpid()} is outdated: toolkit 'running-odd' from dist-running-odd 1.2.3 was removed"
    assert message in done.err


@contextmanager
def serving(command: Command, *options: str) -> Iterator[int]:
    """Run `pegboard serve` with options. Yield its process id."""
    line = command.arguments("serve", "--port", "0", *options)
    environ = command.environment({"PEGBOARD_CONFIG": None})
    with subprocess.Popen(line, cwd=command.site, env=environ, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            assert any("next: " in text for text in server.stderr)
            yield server.pid
        finally:
            server.terminate()


@pytest.fixture
def by_file(bare: Command) -> Iterator[dict[str, int]]:
    """The processes of three hosts, the last without a file."""
    with ExitStack() as stack:
        files = {name: str(bare.write("[host]\n", name)) for name in ("one.toml", "two.toml")}
        pids = {file: stack.enter_context(serving(bare, "--config", file)) for file in files.values()}
        yield pids | {"": stack.enter_context(serving(bare))}


def test_each_host_has_its_file_or_its_url(bare: Command, by_file: dict[str, int]) -> None:
    assert {host["config"] or "": host["pid"] for host in bare("reload", "--json").data} == by_file
    shown = bare("reload").out
    for file, pid in by_file.items():
        assert f"process {pid} ({file or 'http://127.0.0.1:'}" in shown


def test_the_option_config_chooses_the_hosts_of_a_file(bare: Command, by_file: dict[str, int]) -> None:
    (bare.folder / "link.toml").symlink_to("two.toml")
    (host,) = bare("reload", "--config", "link.toml", "--json").data
    assert host["pid"] == by_file[str(bare.folder / "two.toml")]
    done = bare("reload", "--config", "three.toml")
    assert (done.code, done.out) == (1, "")
    assert "no running host has the configuration" in done.err
    assert "one.toml" in done.err
