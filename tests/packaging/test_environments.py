"""The cache of the tests' wheels and environments: made once, never outdated, without unused entries."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import environments
from tests.support.environments import executable, install, make_environment, run, uninstall, wheel_of
from tools.install import ROOT

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "acme.Thing"
version = "1.0"
[tool.hatch.build.targets.wheel]
include = ["*.py"]
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A distribution."""
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "acme_thing.py").write_text("VALUE = 1\n")
    return folder


def wheel_in_another_process(source: Path, cache: Path) -> Path:
    program = "from tests.support import environments as e; e.CACHE = e.Path({!r}); print(e.wheel_of(e.Path({!r})))"
    return Path(run(sys.executable, "-c", program.format(str(cache), str(source)), cwd=ROOT).strip())


def test_a_wheel_is_built_once_for_each_source_and_entries_in_use_stay(acme: Path, cache: Path) -> None:
    unused = wheel_in_another_process(acme, cache)
    assert unused.exists()
    (acme / "acme_thing.py").write_text("VALUE = 2\n")
    used = wheel_of(acme)
    written = used.stat().st_mtime_ns
    assert not unused.exists()
    assert wheel_of(acme) == used
    assert used.stat().st_mtime_ns == written
    (acme / "acme_thing.py").write_text("VALUE = 3\n")
    newest = wheel_in_another_process(acme, cache)
    assert newest != used
    assert used.exists()
    assert newest.exists()


def value(environment: Path) -> str:
    return run(executable(environment), "-c", "import acme_thing; print(acme_thing.VALUE)", cwd=environment).strip()


def test_an_environment_has_the_requirements_from_the_wheels_and_byte_code(acme: Path, tmp_path: Path) -> None:
    shared = make_environment("acme", "acme-thing", wheels=wheel_of(acme))
    assert make_environment("acme", "acme-thing", wheels=wheel_of(acme)) == shared
    assert value(shared) == "1"
    assert list(environments.site_packages(shared).glob("__pycache__/acme_thing.*.pyc"))

    own = make_environment(tmp_path / "own", "acme-thing", wheels=[wheel_of(acme)])
    uninstall(own, "acme-thing")
    with pytest.raises(AssertionError, match="No module named 'acme_thing'"):
        value(own)
    (acme / "acme_thing.py").write_text("VALUE = 'changed'\n")  # of another size: byte code goes by size and second
    install(own, "acme-thing", wheels=wheel_of(acme).parent)
    assert (value(own), value(shared)) == ("changed", "1")
    assert make_environment("acme", "acme-thing", wheels=wheel_of(acme)) != shared
