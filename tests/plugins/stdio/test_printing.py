"""Whatever is printed reaches the log and never the wire. The tools' names are the subject of `test_clean_wire.py`."""

from __future__ import annotations

import pytest

from tests.plugins.stdio.driving import converse, reported, start

RECORD = "WARNING pegboard.stdout: something outside of any call printed to standard output: "


def log_of(*messages: str, env: dict[str, str] | None = None) -> str:
    """What is logged when those messages of the scene `prints` are sent."""
    with start("prints", env=env) as process:
        for message in messages:
            process.call(message)
        return process.finish()


@pytest.mark.parametrize(
    ("message", "logged"),
    [
        ("print said", "said"),
        ("bytes said", "said\\xff"),
        ("former said", "said"),
        ("descriptor said", "said"),
        ("incomplete said", "said"),
        ("c said", "said"),
        ("child said", "said"),
        ("fork said", "said"),
        ("thread said", "said"),
        ("surrogate said", "said\\ud83d"),
        ("print grüße 世界", "grüße 世界"),
        ("print \x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("long x", "x" * 2000 + "... (1000000 bytes)"),
    ],
)
def test_output_is_logged(message: str, logged: str) -> None:
    assert log_of(message, env={"PYTHONUTF8": "1"}).splitlines() == [RECORD + logged]


@pytest.mark.parametrize("text", ["said", "x"])
def test_a_megabyte_is_logged_whole(text: str) -> None:
    lines = [RECORD + text * 100] * (10_000 // len(text))
    with start("prints") as process:
        process.call(f"megabyte {text}")
        log = b""
        while log.count(b"\n") < len(lines):
            log += process.stderr.read(1 << 20)
        assert log.decode().splitlines() == lines
        assert process.finish() == ""


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp932"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONUNBUFFERED": "1"},
        {"PYTHONDEVMODE": "1"},
    ],
)
def test_the_environment_makes_no_difference(env: dict[str, str]) -> None:
    log = log_of("print grüße", "former latin", "child of another", "surrogate half", "descriptor plain", env=env)
    for text in ("latin", "of another", "half\\ud83d", "plain"):
        assert f"{RECORD}{text}\n" in log
    # in development mode asyncio complains of the child that took its time, and is right
    rest = [line for line in log.splitlines() if not line.startswith((RECORD, "WARNING asyncio: Executing"))]
    assert (log.count(RECORD), rest) == (5, [])


def test_tools_read_nothing() -> None:
    assert reported(log_of("input "), "input") == ["", ""]


def test_closing_it_closes_it_for_nobody() -> None:
    assert log_of("close ", "print said", "bytes said").splitlines() == [RECORD + "said", RECORD + "said\\xff"]


def test_a_handler_that_logs_to_standard_output_makes_no_circle() -> None:
    with start("prints", "--log-to-stdout") as process:
        process.call("logged trouble")
        log = process.finish()
    # the record of the library came as output, was logged, came back, and ended on standard error
    assert log.count("trouble") == 1
    assert "WARNING a.library: trouble" in log


def test_nobody_reads_the_log() -> None:
    with start("prints") as process:
        for _ in range(3):
            process.call("megabyte x")
            process.call("descriptor said")
        process.stdin.close()
        assert process.wait() == 0


def test_more_than_can_be_logged_is_counted() -> None:
    with start("prints") as process:
        for _ in range(20):  # nobody reads the log meanwhile
            process.call("megabyte x")
        log = b""
        while b"left out" not in log:
            log += process.stderr.read(1 << 20)


def test_everything_is_given_back() -> None:
    out, err = converse("restored", b'"one"\n')
    assert out == [b'"one"', b"on standard output again"]
    assert reported(err, "restored") is True


def test_it_can_run_again() -> None:
    with start("twice") as process:
        for number in (b"1\n", b"2\n"):
            process.stdin.write(number)
            assert process.read(2) == number
        process.finish()


def test_only_one_can_have_the_streams() -> None:
    with start("both") as process:
        process.stdin.write(b'"one"\n')
        assert process.read(6) == b'"one"\n'
        assert "another client" in reported(process.finish(), "refused")
