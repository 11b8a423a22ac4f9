"""Where relative roots begin, and roots that hold too much to be opened unasked."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host
from pegboard.plugin import ConfigError, HostConfig
from pegboard.types import Call

NAMED = Call("tools/call", {"name": "files_roots", "arguments": {}})


async def first_root(folder: Path, file: str = "", **environ: str) -> str:
    """Return the first root of a host whose file lies in a folder, started in the process's working directory."""
    (folder / "used.toml").write_text(f"[toolkits.files]\n{file}")
    config = HostConfig.load(folder / "used.toml", environ=environ)
    async with Host(config) as host:
        outcome: Any = await host.dispatch(NAMED)
    return str(next(iter(outcome.value["roots"])))


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, beside the user's home and the folder of the configuration."""
    for name in ("work", "work/sub", "conf", "conf/sub", "home", "home/notes"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "work"


@pytest.mark.parametrize(
    ("file", "variable", "expected"),
    [
        ('roots = ["."]', None, "conf"),
        ('roots = ["sub"]', None, "conf/sub"),
        ('roots = ["{cwd}"]', None, "work"),
        ('roots = ["{cwd}/sub"]', None, "work/sub"),
        ('roots = ["~/notes"]', None, "home/notes"),
        ('roots = ["."]', '["sub"]', "work/sub"),
        ("", None, "work"),
    ],
)
async def test_a_relative_root_counts_from_where_it_is_written(
    file: str, variable: str | None, expected: str, tmp_path: Path
) -> None:
    environ = {} if variable is None else {"PEGBOARD__TOOLKITS__FILES__ROOTS": variable}
    assert await first_root(tmp_path / "conf", file, **environ) == str(tmp_path / expected)


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ("/", "the whole disk"),
        ("~", "the home directory"),
        ("link", "the home directory"),
        ("..", "a directory that holds the home directory"),
    ],
)
async def test_the_home_directory_and_more_is_refused_unless_a_setting_allows_it(
    root: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "conf/link").symlink_to(tmp_path / "home")
    with pytest.raises(ConfigError, match=f"{reason}.*allow_broad_roots = true"):
        await first_root(tmp_path / "conf", f'roots = ["{root}"]')
    assert await first_root(tmp_path / "conf", f'roots = ["{root}"]\nallow_broad_roots = true')


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in `/`, where many clients start their servers."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environ}
    return subprocess.run(
        [sys.executable, "-m", "pegboard", *arguments], cwd="/", env=env, capture_output=True, text=True, check=False
    )


def test_without_roots_other_toolkits_are_served() -> None:
    done = run("list")
    assert (done.returncode, "files_read" in done.stdout, "math_" in done.stdout) == (0, False, True)
    assert "the root '/' is the whole disk" in done.stderr


@pytest.mark.parametrize("roots", ["['/']", "['etc/..']", "['.']"])
def test_named_roots_stop_the_start(roots: str) -> None:
    done = run("serve", PEGBOARD__TOOLKITS__FILES__ROOTS=roots)
    assert (done.returncode, "allow_broad_roots" in done.stderr) == (3, True)
