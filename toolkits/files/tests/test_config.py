"""The settings: where relative roots begin, roots that are too broad, and errors that name the wrong setting."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Host
from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.types import Call
from toolkit_files import FilesConfig


async def first_root(folder: Path, file: str = "", **environ: str) -> str:
    """Return the first root of a host with a configuration file in a folder."""
    (folder / "used.toml").write_text(f"[toolkits.files]\n{file}")
    config = HostConfig.load(folder / "used.toml", environ=environ)
    async with Host(config) as host:
        outcome: Any = await host.dispatch(Call("tools/call", {"name": "files_roots", "arguments": {}}))
    return str(next(iter(outcome.value["roots"])))


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, beside the home directory and the folder of the configuration file."""
    for name in ("work/sub", "conf/sub", "home/notes"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "work"


@pytest.mark.parametrize(
    ("file", "variable", "expected"),
    [
        ('roots = ["sub"]', None, "conf/sub"),
        ('roots = ["{cwd}/sub"]', None, "work/sub"),
        ('roots = ["~/notes"]', None, "home/notes"),
        ('roots = ["."]', '["sub"]', "work/sub"),
        ("", None, "work"),
    ],
)
async def test_a_relative_root_begins_where_it_is_written(
    file: str, variable: str | None, expected: str, tmp_path: Path
) -> None:
    environ = {} if variable is None else {"PEGBOARD__TOOLKITS__FILES__ROOTS": variable}
    assert await first_root(tmp_path / "conf", file, **environ) == str(tmp_path / expected)


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ("/", "the whole disk"),
        ("/etc/..", "the whole disk"),
        ("~", "the home directory"),
        ("link", "the home directory"),
        ("..", "a directory that holds the home directory"),
    ],
)
async def test_a_broad_root_requires_a_setting(root: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "conf/link").symlink_to(tmp_path / "home")
    with pytest.raises(ConfigError, match=f"{reason}.*allow_broad_roots = true"):
        await first_root(tmp_path / "conf", f'roots = ["{root}"]')
    assert await first_root(tmp_path / "conf", f'roots = ["{root}"]\nallow_broad_roots = true')


@pytest.mark.needs("tool_commands")
def test_without_roots_in_the_root_directory_other_toolkits_are_served() -> None:
    """Many clients start their servers in `/`."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    command = [sys.executable, "-m", "pegboard", "list"]
    done = subprocess.run(command, cwd="/", env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "files_read" in done.stdout, "math_" in done.stdout) == (0, False, True)
    assert "the root '/' is the whole disk" in done.stderr


def test_the_defaults_read_below_the_working_directory_and_write_nothing() -> None:
    config = FilesConfig()
    assert (config.roots, config.write, config.deny, config.allow) == ((".",), False, (), ())
    assert ".git" in config.ignore
    assert config.protect == (".git", "hostconfig.toml")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"roots": ["nowhere"]}, r"the root 'nowhere' does not exist \(looked for at '.*/nowhere'\)"),
        ({"roots": [".", "file"]}, "the root 'file' is not a directory"),
        ({"roots": ["a\0b"]}, "does not exist"),
        ({"roots": []}, "at least 1"),
        ({"root": ["."]}, "Extra inputs"),
        ({"max_read_bytes": 10}, "greater than or equal to 1024"),
        ({"ignore": ["[z-a]"]}, "not a valid glob"),
        ({"deny": [""]}, "A glob must have"),
        ({"protect": ["{a,b}" * 9]}, "braces"),
    ],
)
def test_an_invalid_setting_is_named(work: Path, settings: dict[str, Any], reason: str) -> None:
    (work / "file").write_text("")
    with pytest.raises(ValidationError, match=reason):
        FilesConfig(**settings)


def test_a_root_that_the_host_cannot_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValidationError, match="cannot be read by the host"):
        FilesConfig(roots=(str(tmp_path),))
