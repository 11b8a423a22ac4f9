"""`make install` for real, in copies of the checkout, with uv and with pip."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.environments import copy_checkout, executable, run, site_packages
from tools import interpreters
from tools.install import ROOT
from tools.requirements import pins_of_lock

pytestmark = pytest.mark.timeout(600)

PYTHON = Path(sys.executable).resolve()
MAKE = shutil.which("make")
EDITABLE = {
    "pegboard": "host/pegboard",
    "pegboard_client": "plugins/pegboard_client",
    "pegboard_evals": "plugins/pegboard_evals",
    "pegboard_messages": "plugins/pegboard_messages",
    "pegboard_plugins": "plugins/pegboard_plugins",
    "pegboard_testing": "plugins/pegboard_testing",
    "toolkit_files": "toolkits/files/src/toolkit_files",
    "toolkit_github": "toolkits/github/src/toolkit_github",
    "toolkit_math": "toolkits/math/src/toolkit_math",
}

Make = Callable[..., str]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copy_checkout(tmp_path / "checkout")


@pytest.fixture
def make(checkout: Path) -> Make:
    """Run make in the copy, without the variables of the environment that the tests run in. Return its output."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV", "MAKEFLAGS", "MAKELEVEL")
    }

    def run_make(*arguments: str, **environment: str) -> str:
        assert MAKE, "the tests need make"
        return run(MAKE, f"PYTHON={PYTHON}", *arguments, cwd=checkout, env=inherited | environment)

    return run_make


def installed(environment: Path) -> dict[str, str]:
    """Return the version of each distribution of an environment."""
    listed = json.loads(
        run(executable(environment), "-m", "pip", "--disable-pip-version-check", "list", "--format", "json")
    )
    return {re.sub("[-_.]+", "-", item["name"]).lower(): item["version"] for item in listed}


def locked_here(environment: Path) -> dict[str, str]:
    """Return the locked version of each installed distribution that the lock has."""
    pins = dict(pins_of_lock((ROOT / "uv.lock").read_text()))
    here = installed(environment)
    versions = {name: version for name, version in pins if name in here}
    assert {"hatchling", "mypy", "pydantic", "pytest", "ruff"} <= versions.keys()
    return versions


def assert_installed(checkout: Path) -> None:
    environment = checkout / ".venv"
    here = installed(environment)
    assert {"pip", "pegboard", "toolkit-files"} <= here.keys()
    expected = locked_here(environment)
    assert {name: here[name] for name in expected} == expected
    ours = {"pegboard", "toolkit-files", "toolkit-github", "toolkit-math"}
    assert here.keys() <= expected.keys() | ours | {"pip", "setuptools", "wheel"}
    for package, folder in EDITABLE.items():
        program = f"import importlib.util as u; print(*u.find_spec({package!r}).submodule_search_locations)"
        assert run(executable(environment), "-c", program, cwd=checkout.parent).strip() == str(checkout / folder)
        assert list((checkout / folder / "__pycache__").glob("*.pyc"))


def state(environment: Path) -> dict[str, int]:
    """Return when each installed distribution was installed, to the nanosecond."""
    return {path.parent.name: path.stat().st_mtime_ns for path in site_packages(environment).glob("*.dist-info/RECORD")}


def test_install_with_uv_and_build(checkout: Path, make: Make) -> None:
    assert "pip installs" not in make()
    assert_installed(checkout)
    before = state(checkout / ".venv")
    (checkout / "dist").mkdir()
    (checkout / "dist" / "pegboard-0.0.1-py3-none-any.whl").touch()
    make("build")
    assert state(checkout / ".venv") == before, "nothing is installed again"
    built = sorted(file.name for file in (checkout / "dist").iterdir())
    names = ("pegboard", "toolkit_files", "toolkit_github", "toolkit_math")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert built == sorted(f"{name}-{version}{end}" for name in names for end in ("-py3-none-any.whl", ".tar.gz"))


def test_install_with_pip_if_uv_fails(checkout: Path, make: Make, tmp_path: Path) -> None:
    fails = tmp_path / "uv"
    fails.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "uv 99.0.0" || exit 9\n')
    fails.chmod(0o755)
    assert "pip installs" in make(f"UV={fails}", PIP_NO_COMPILE="0")  # pip takes 0 for "no compiling"
    assert_installed(checkout)
    before = state(checkout / ".venv")
    assert "has the versions of the lock" in make("UV=")
    assert state(checkout / ".venv") == before


def test_a_python_that_is_too_old_is_passed_over_and_named_when_there_is_no_other(
    checkout: Path, tmp_path: Path
) -> None:
    assert MAKE
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("sh", "env"):
        (commands / name).symlink_to(shutil.which(name) or name)
    old = commands / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    environment = {"PATH": str(commands)}
    with pytest.raises(AssertionError, match=r"no Python 3\.11 or newer found"):
        run(MAKE, "install", cwd=checkout, env=environment)
    (commands / "python3.12").symlink_to(PYTHON)
    assert f"{commands}/python3.12" in run(MAKE, "--dry-run", "install", cwd=checkout, env=environment)


def test_help_lists_every_target(make: Make) -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert phony
    assert re.findall(r"make (\w+): \w", make("help")) == phony[1].split()


def test_test_is_check_and_all_tests_and_check_is_lint_format_types_and_requirements(make: Make) -> None:
    planned = make("--dry-run", "test", "UV=")
    steps = ["tools.install", "ruff check", "ruff format --check", "mypy", "tools.requirements --check", "-m pytest"]
    assert [step for step in steps if step not in planned] == []
    assert sorted(steps, key=planned.index) == steps


def test_every_folder_with_code_is_type_checked() -> None:
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    checked = [name.partition("/")[0] for name in files]
    folders = {path.name for path in ROOT.iterdir() if path.name[0].isalpha() and path.is_dir()} - {"build", "dist"}
    assert checked == sorted(name for name in folders if any((ROOT / name).rglob("*.py")))


def test_continuous_integration_calls_make_in_the_checkout(tmp_path: Path) -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    recorder = tmp_path / "make"
    recorder.write_text('#!/bin/sh\necho "$PWD: make $*"\n')
    recorder.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    planned = ["test", "interpreters ONLY=oldest", "lowest", "newest"]
    assert run(script, cwd=tmp_path, env=environment).splitlines() == [f"{ROOT}: make {target}" for target in planned]


@pytest.mark.parametrize("only", ["", "oldest"])
def test_the_tests_run_on_each_patch_release_and_fail_with_one(
    only: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {
        "a/python3": "3 11 99",
        "a/python3.11": "3 11 99",
        "b/python3": "3 12 1",
        "b/python3.10": "3 10 9",
        "c/python3": "",
    }
    for name, version in facts.items():
        python = tmp_path / name
        python.parent.mkdir(exist_ok=True)
        python.write_text(f"""#!/bin/sh
[ "$1" = -c ] && echo {version} $0 && exit
echo "{version}: $2 $3 $PEGBOARD_VENV" >> {tmp_path}/log
[ $2 = pytest ] && [ "{version}" = "3 11 99" ] && exit 1
mkdir -p $PEGBOARD_VENV/bin && cp $0 $PEGBOARD_VENV/bin/python
""")
        python.chmod(0o755)
    monkeypatch.setattr(interpreters, "ROOT", tmp_path)
    monkeypatch.setattr(interpreters, "folders", lambda: [tmp_path / name for name in "cba"])
    monkeypatch.setattr(sys, "argv", ["interpreters", "--only", only, "--", "-n2"])
    with pytest.raises(SystemExit, match=r"failed on Python 3\.11\.99$"):
        interpreters.main()
    each = ["3 11 99: tools.install --uv .venv-3.11.99", "3 11 99: pytest -n2 "]
    newer = ["3 12 1: tools.install --uv .venv-3.12.1", "3 12 1: pytest -n2 "]
    assert (tmp_path / "log").read_text().splitlines() == each + ([] if only else newer)
    assert "no Python 3.13 is installed\n" in capsys.readouterr().out


def test_the_oldest_python_is_not_tested_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interpreters, "find_interpreters", lambda _: {sys.version_info[:3]: PYTHON})
    monkeypatch.setattr(sys, "argv", ["interpreters", "--only", "oldest"])
    interpreters.main()
    assert "is the oldest one; `make test` runs the tests on it" in capsys.readouterr().out
