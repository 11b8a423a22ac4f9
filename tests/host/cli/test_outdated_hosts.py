"""Running hosts that `pegboard plugins` reports as outdated."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pegboard import Host
from pegboard.cli.inspection.outdated_hosts import outdated_hosts
from pegboard.cli.serving.running_hosts import RunningHost
from pegboard.loading.discovery import Selection
from tests.support.distributions import make_distribution

KIT = "from pegboard import Toolkit\nkit = Toolkit('odd')\n"


def host_of(*only: str) -> Host:
    host = Host({"host": {"disabled_plugins": ["pegboard:*"]}}, selection=Selection(only=only))
    host.load()
    return host


def test_only_a_host_whose_code_or_distributions_changed_is_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "state")}
    points = {"pegboard.toolkits": {"odd": "outdated_odd:kit"}}
    make_distribution(tmp_path, "toolkit-odd", "1.0", points, {"outdated_odd.py": KIT})
    with RunningHost(host_of("odd"), environ):
        assert [*outdated_hosts(host_of(), environ)] == []
        (tmp_path / "outdated_odd.py").write_text(KIT + "# changed\n")
        make_distribution(tmp_path, "toolkit-even", "1.0", {"pegboard.toolkits": {"even": "outdated_odd:kit"}}, {})
        odd, even = "toolkit 'odd' from toolkit-odd 1.0", "toolkit 'even' from toolkit-even 1.0"
        assert [*outdated_hosts(host_of(), environ)] == [(os.getpid(), {odd: "has changed", even: "was added"})]
        shutil.rmtree(tmp_path / "toolkit_odd-1.0.dist-info")
        make_distribution(tmp_path, "toolkit-odd", "1.1", points, {})
        assert [*outdated_hosts(host_of(), environ)] == [(os.getpid(), {odd: "became 1.1", even: "was added"})]
    assert [*outdated_hosts(host_of(), environ)] == []
