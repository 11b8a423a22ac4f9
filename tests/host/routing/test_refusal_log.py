"""The log of refusals: the caller and the reason, without secrets, in a limited number of lines."""

from __future__ import annotations

import logging

import pytest

from pegboard.plugin import RefusalLog, fingerprint
from pegboard.routing.refusal_log import MAX_FACT_CHARACTERS, MAX_LINES, PERIOD_SECONDS
from pegboard.types import Caller


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "pegboard.audit")
    return caplog


def test_a_line_says_who_and_what(told: pytest.LogCaptureFixture) -> None:
    ben = Caller("ben", issuer="https://auth.example", client_id="desk", scopes=frozenset(["work"]))
    RefusalLog().refused("a session", ben, {"peer": "10.0.0.1", "owner": None, "number": 5})
    RefusalLog().refused("a token", level=logging.INFO)
    who = "subject='ben', issuer='https://auth.example', client_id='desk', peer='10.0.0.1', number='5'"
    assert told.record_tuples == [
        ("pegboard.audit", logging.WARNING, f"refused: a session ({who})"),
        ("pegboard.audit", logging.INFO, "refused: a token"),
    ]
    assert vars(told.records[0])["audit"] == {
        "refused": "a session",
        "subject": "ben",
        "issuer": "https://auth.example",
        "client_id": "desk",
        "peer": "10.0.0.1",
        "number": 5,
    }


def test_a_line_is_one_line_of_ascii_and_not_long(told: pytest.LogCaptureFixture) -> None:
    RefusalLog().refused("it", Caller("a\nWARNING b\x1b[2Jé"), {"long": "x" * 5000})
    message = told.messages[0]
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < MAX_FACT_CHARACTERS + 100


def test_there_are_never_many_of_a_kind(told: pytest.LogCaptureFixture) -> None:
    """How many were left out is told with the next one; other kinds, and other minutes, are not concerned."""
    clock = Clock()
    log = RefusalLog(clock)
    for _ in range(MAX_LINES + 7):
        log.refused("a token")
    assert told.messages == ["refused: a token"] * MAX_LINES
    told.clear()
    log.refused("a session")
    assert told.messages == ["refused: a session"]
    told.clear()
    clock.now += PERIOD_SECONDS - 0.1
    log.refused("a token")
    assert told.messages == []
    clock.now += 0.1
    for _ in range(MAX_LINES + 1):
        log.refused("a token")
    assert told.messages == ["refused: a token (left_out='8')"] + ["refused: a token"] * (MAX_LINES - 1)


def test_a_disabled_level_is_not_counted(told: pytest.LogCaptureFixture) -> None:
    log = RefusalLog(Clock())
    for _ in range(MAX_LINES + 1):
        log.refused("a token", level=logging.DEBUG)
    log.refused("a token")
    assert told.messages == ["refused: a token"]


def test_a_fingerprint_tells_secrets_apart_and_nothing_of_them() -> None:
    one, other = fingerprint("one\udc80"), fingerprint("other")
    assert one != other
    assert {len(one), len(other)} == {12}
    assert fingerprint("other") == other
