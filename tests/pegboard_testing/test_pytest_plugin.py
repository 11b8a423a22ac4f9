"""The pytest plugin, in runs of its own, without a plugin for async tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

KIT = '''
from pegboard import Toolkit

kit = Toolkit("dice")


@kit.tool
def roll(sides: int = 6) -> int:
    """Roll."""
    return sides
'''
PLAIN = """
from dice import kit


def test_roll(pegboard_connect):
    one, other = pegboard_connect(kit), pegboard_connect(kit, hostconfig={"host": {"name": "other"}})
    assert one.call("roll").value == 6
    assert other.call("roll", sides=20).value == 20


class TestOffer:
    def test_offer(self, pegboard_snapshot, pegboard_connect):
        pegboard_snapshot(kit)
        pegboard_snapshot(pegboard_connect(kit), "again")
"""
WITHOUT_ASYNC = ("-p", "no:asyncio", "-p", "no:anyio")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "error"]
    command += ["-W", "ignore:The configuration option:pytest.PytestDeprecationWarning"]  # of pytest-asyncio
    return subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "dice.py").write_text(KIT)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["pegboard_testing.pytest_plugin"]\n')
    return tmp_path


def test_plain_tests_need_no_plugin_for_async(project: Path) -> None:
    (project / "test_dice.py").write_text(PLAIN)
    first = run(project, *WITHOUT_ASYNC)
    assert "snapshots/test_dice.TestOffer.test_offer.json differs" in first.stdout
    assert "1 failed, 1 passed" in first.stdout
    done = run(project, *WITHOUT_ASYNC, "--pegboard-update")
    assert "2 passed" in done.stdout, done.stdout
    names = {path.name for path in (project / "snapshots").iterdir()}
    assert names == {"test_dice.TestOffer.test_offer.json", "test_dice.TestOffer.test_offer.again.json"}
    (project / "dice.py").write_text(KIT.replace("int = 6", "int = 8"))
    changed = run(project, *WITHOUT_ASYNC, "-k", "Offer")
    assert "tool dice_roll: inputSchema.properties.sides.default: 6 became 8" in changed.stdout


def test_a_host_ends_with_its_test_and_one_name_is_one_snapshot(project: Path) -> None:
    (project / "test_dice.py").write_text(
        "from dice import kit\n\nended = []\n\n@kit.lifespan\nasync def live(config):\n    yield\n"
        "    ended.append(True)\n\n\ndef test_one(pegboard_connect):\n    pegboard_connect(kit)\n    assert not ended\n"
        "\n\ndef test_two():\n    assert ended\n"
        "\n\ndef test_twice(pegboard_snapshot):\n    pegboard_snapshot(kit)\n    pegboard_snapshot(kit)\n"
    )
    done = run(project, "--pegboard-update").stdout
    assert "this test takes two snapshots called test_dice.test_twice.json" in done
    assert "1 failed, 2 passed" in done
