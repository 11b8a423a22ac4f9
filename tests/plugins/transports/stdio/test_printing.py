"""Printed output reaches the log and never the wire; standard streams are given back."""

from __future__ import annotations

import pytest

from tests.plugins.transports.stdio.driving import reported, start

RECORD = "WARNING pegboard.stdout: code outside of any call printed to standard output: "


def test_output_is_logged_and_escaped() -> None:
    shown = {
        "bytes said": "said\\xff",
        "fork said": "said",
        "surrogate said": "said\\ud83d",
        "print grüße 世界": "grüße 世界",
        "print \x1b]0;title\x07": "\\x1b]0;title\\x07",
        "long x": "x" * 2000 + "... (1000000 bytes)",
        "close ": "",
        "former still open": "still open",
        "incomplete end": "end",
    }
    lines = [RECORD + logged for logged in shown.values() if logged]
    # the line of the forked process comes through the descriptor and may be later than the next one
    with start("prints", env={"PYTHONUTF8": "1"}) as process:
        for message in shown:
            process.call(message)
        assert sorted(process.finish().splitlines()) == sorted(lines)


def test_a_handler_that_logs_to_standard_output_makes_no_circle() -> None:
    with start("prints", "--log-to-stdout") as process:
        process.call("logged trouble")
        log = process.finish()
    # the record of the library came as output, was logged, came back, and ended on standard error
    assert log.count("trouble") == 1
    assert "WARNING a.library: trouble" in log


def test_a_log_that_is_not_read_holds_up_no_tool_and_counts_what_it_leaves_out() -> None:
    with start("prints") as process:
        process.call("megabyte said")
        for _ in range(20):
            process.call("megabyte x")
        log = b""
        while b"dropped" not in log:
            log += process.stderr.read(1 << 20)
        assert log.decode().splitlines()[:2000] == [RECORD + "said" * 100] * 2000
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.requirement("STDIO-02")
@pytest.mark.parametrize("shell", ["2>&1", "2>&-"])
def test_standard_error_that_is_the_wire_or_closed_gets_nothing(shell: str) -> None:
    with start("prints", shell=shell) as process:
        for message in ("print to the log", "descriptor to the log", "child to the log"):
            process.call(message)
        if shell == "2>&1":
            process.call("stderr complaint")
        process.finish()


def test_a_second_run_at_the_same_time_is_refused_and_everything_is_given_back() -> None:
    with start("restored") as process:
        err = process.finish(b'"one"\n', b'"one"\non standard output again\n')
    assert "another client" in reported(err, "refused")
    assert reported(err, "restored") is True
