"""Commands and servers without the parts of Python that only POSIX systems have, as on Windows.

The tests of stdio run like this as well: see `stdio/conftest.py`.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from pegboard.terminal.standard_streams import write_utf_8
from pegboard_plugins.transports.stdio.descriptors import is_same_file
from tests.support.http import Served, http_config
from tests.support.peer import WAIT
from tests.support.wire import client_environment
from tests.support.without_posix import COMMAND

EVERY_MODULE = """
import pkgutil
from importlib import import_module

PACKAGES = ("pegboard", "pegboard_client", "pegboard_messages", "pegboard_plugins", "pegboard_testing")
for package in map(import_module, PACKAGES):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError as error:
                print(module.name, error.name)
"""
LOUD = """
import logging, os
import pegboard.cli.log_setup
handler = pegboard.cli.log_setup.LogHandler()
pegboard.cli.log_setup.WAIT_SECONDS = 0.1
logging.getLogger().addHandler(handler)
for number in range(30):
    logging.warning("record %d %s", number, "x" * 10_000)
os.write(1, b"done")
"""


def run(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    env = client_environment(folder, env)
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.needs("pegboard_client")
def test_every_module_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "every.py").write_text(EVERY_MODULE)
    with run(tmp_path, "every.py") as process:
        out, err = process.communicate(timeout=WAIT)
    missing = {line.split()[1] for line in out.splitlines()}
    assert (process.returncode, err) == (0, "")
    assert missing.isdisjoint({"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"})
    assert not [line for line in out.splitlines() if line.split()[0].startswith("pegboard.")]


@pytest.mark.needs("tool_commands")
def test_a_tool_is_called(sites: dict[str, Path], tmp_path: Path) -> None:
    with run(tmp_path, "call", "fixture_echo", "text=ü日", env={"PYTHONPATH": str(sites["fixture"])}) as process:
        out, err = process.communicate(timeout=WAIT)
    assert (process.returncode, out.strip()) == (0, "ü日"), err
    assert "toolkit-files requires Linux, macOS or another Unix" in err


@pytest.mark.needs("tool_commands")
def test_a_tool_of_another_program_is_called(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text(
        'from pegboard import tool\n\n\n@tool\ndef low() -> str:\n    """Whisper."""\n    return "psst"\n'
    )
    program = shlex.join([*COMMAND, "stdio", "near.py"])
    with run(tmp_path, "call", "near_low", "--stdio", program) as process:
        out, err = process.communicate(timeout=WAIT)
    assert (process.returncode, out, err) == (0, "psst\n", "")


async def test_http_serves_and_ctrl_c_ends_it(sites: dict[str, Path]) -> None:
    async with Served(sites["fixture"], command=(*COMMAND, "serve")) as served:
        assert (await served.request("GET", "/readyz")).text == "ready\n"
        served.signal(signal.SIGINT)
        assert await served.wait() == 0


async def test_a_unix_socket_is_refused_with_the_alternative(sites: dict[str, Path]) -> None:
    config = http_config('socket = "web.sock"')
    served = Served(sites["fixture"], config, command=(*COMMAND, "serve"))
    await served.assert_refuses(5, "remove [plugins.http] socket, and set host and port")


def test_a_log_that_is_not_read_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    with run(tmp_path, "loud.py") as process:
        assert process.stdout is not None
        assert process.stdout.read() == "done"  # standard error is full
        assert process.wait(WAIT) == 0


def test_pipes_of_windows_become_utf_8() -> None:
    pipe = TextIOWrapper(BytesIO(), encoding="cp1252", errors="backslashreplace", write_through=True)
    write_utf_8(pipe, None)
    pipe.write("日\ud800")
    assert pipe.buffer.getvalue() == "日\\ud800".encode()


def test_pipes_that_the_system_does_not_tell_apart_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error would be silenced as part of standard output."""
    assert is_same_file(1, 1)
    monkeypatch.setattr(os, "fstat", lambda descriptor: os.stat_result((0,) * 10))
    assert not is_same_file(1, 2)
