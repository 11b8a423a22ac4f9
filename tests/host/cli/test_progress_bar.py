"""The progress bar at a terminal, beside results and messages."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.terminal.progress_bar import bar_text
from tests.support.command_line import Command


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
