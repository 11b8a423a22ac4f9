"""The installed command and its progress bar in terminals and pipes, and without a home that can be written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.terminal.progress_bar import bar_text
from tests.support.command_line import Command

INSTALLED = str(Path(sys.executable).with_name("pegboard"))
LINES = ("", "doctor", "cost --budget 1", "list", "plugins", "call demo_add a:=1", "lits")


@pytest.mark.parametrize("line", LINES)
def test_a_terminal_shows_the_text_of_a_pipe_without_escape_codes(line: str, pegboard: Command) -> None:
    command = [INSTALLED, *line.split()]
    in_pipe = pegboard.run(command, env={"NO_COLOR": "1", "COLUMNS": "1000"})
    wide = {"NO_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "1000"}
    at_terminal = pegboard.run(command, env=wide, terminal=(0, 1, 2))
    shown = at_terminal.err.replace("\r", "")
    assert (at_terminal.code, at_terminal.out, "\x1b" in shown) == (in_pipe.code, "", False)
    assert sorted(shown.splitlines()) == sorted((in_pipe.out + in_pipe.err).splitlines())


@pytest.mark.parametrize("line", ["", "doctor", "plugins"])
def test_long_lines_are_broken_at_words_and_outside_of_commands(line: str, pegboard: Command) -> None:
    pegboard.configure(sections='[plugins.worker]\n[plugins.auth_token]\ntokens = [{ env = "NONE" }]')
    in_pipe = pegboard.run([INSTALLED, *line.split()], env={"COLUMNS": "1000"})
    done = pegboard.run([INSTALLED, *line.split()], env={"COLUMNS": "70"}, terminal=(1,))
    long = [text for text in done.err.splitlines() if len(text) > 70 and not text.startswith("pegboard: ")]
    assert [text for text in long if " " in re.sub("`.*`", "", text.strip())] == [], "a word or a command may be longer"
    assert sorted(done.err.split()) == sorted((in_pipe.out + in_pipe.err).split())


@pytest.mark.needs("doctor", "cost", "tool_commands")
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


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"progress": 1, "total": 4, "message": "a\n b\x1b"}, "[######..................]  25% a b\\x1b"),
        ({"progress": 9, "total": 3}, "[########################] 100%"),
        ({"progress": 2.5, "message": "parts"}, "2.5 parts"),
        ({"progress": 1, "total": 0}, "1"),
        ({"progress": "?", "total": "?"}, "?"),
        ({"progress": 1, "message": "x" * 99}, "1 " + "x" * 58),
    ],
)
def test_the_bar_fits_its_line(params: dict[str, Any], text: str) -> None:
    assert bar_text(params, 60) == text


@pytest.mark.needs("tool_commands")
def test_a_terminal_shows_a_bar_that_other_output_replaces(pegboard: Command) -> None:
    done = pegboard("call", "demo_count", terminal=(1, 2), env={"TERM": "xterm"})
    bars = (
        "[########................]  33% step 1",
        "[################........]  67% step 2",
        "[########################] 100% step 3",
    )
    assert (done.code, done.err) == (0, "".join(f"{bar}\x1b[K" for bar in bars) + "\x1b[Kcounted\n")


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(("options", "terminal", "term"), [(("-v",), (), "xterm"), ((), (2,), "dumb")])
def test_progress_is_lines_without_a_capable_terminal(
    options: tuple[str, ...], terminal: tuple[int, ...], term: str, pegboard: Command
) -> None:
    done = pegboard("call", "demo_count", *options, terminal=terminal, env={"TERM": term})
    steps = ["pegboard: 1 of 3 step 1", "pegboard: 2 of 3 step 2", "pegboard: 3 of 3 step 3"]
    assert (done.code, done.out) == (0, "counted\n")
    assert [line for line in done.err.splitlines() if line.startswith("pegboard: ")] == steps


@pytest.mark.needs("tool_commands")
def test_progress_is_silent_in_a_pipe(pegboard: Command) -> None:
    assert pegboard("call", "demo_count").err == ""
