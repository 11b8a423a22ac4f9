"""The installed command in terminals and pipes, and without a home that can be written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.host.cli.conftest import Command

INSTALLED = str(Path(sys.executable).with_name("pegboard"))
LINES = ("", "doctor", "cost --budget 1", "list", "plugins", "call demo_add a:=1", "lits")


@pytest.mark.parametrize("line", LINES)
def test_a_terminal_shows_the_text_of_a_pipe_without_escape_codes(line: str, pegboard: Command) -> None:
    command = [INSTALLED, *line.split()]
    in_pipe = pegboard.run(command, env={"NO_COLOR": "1"})
    at_terminal = pegboard.run(command, env={"NO_COLOR": "1", "TERM": "xterm-256color"}, terminal=(0, 1, 2))
    shown = at_terminal.err.replace("\r", "")
    assert (at_terminal.code, at_terminal.out, "\x1b" in shown) == (in_pipe.code, "", False)
    assert sorted(shown.splitlines()) == sorted((in_pipe.out + in_pipe.err).splitlines())


@pytest.mark.parametrize(
    "line", ["", "doctor", "list", "call demo_add a:=1", "operator-token", "config trust hostconfig.toml"]
)
def test_a_home_that_cannot_be_written_is_reported_at_most(line: str, pegboard: Command) -> None:
    home: dict[str, str | None] = {"HOME": "/dev/null", "XDG_STATE_HOME": "/dev/null/state"}
    done = pegboard.run([INSTALLED, *line.split()], env=home)
    needs_it = line.split()[:1] in (["operator-token"], ["config"])
    assert (done.code, "Traceback" in done.err) == (1 if needs_it else 0, False), done.err
    if needs_it:
        assert "PEGBOARD_STATE_DIR" in done.err
    if line == "doctor":
        assert "the state directory /dev/null/state/pegboard cannot be created" in done.out
