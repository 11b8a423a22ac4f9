"""The log of refusals: the caller and the reason, without secrets, in a limited number of lines."""

from __future__ import annotations

import logging

import pytest

from pegboard.types import Caller
from pegboard_plugins.support.refusal_log import MAX_FACT_CHARACTERS, MAX_LINES, PERIOD_SECONDS, RefusalLog


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "pegboard.audit")
    return caplog


def test_a_line_has_the_caller_and_the_facts(logged: pytest.LogCaptureFixture) -> None:
    ben = Caller("ben", issuer="https://auth.example", client_id="desk", scopes=frozenset(["work"]))
    RefusalLog().refused("a session", ben, {"peer": "10.0.0.1", "owner": None, "number": 5})
    RefusalLog().refused("a token", level=logging.INFO)
    facts = "subject='ben', issuer='https://auth.example', client_id='desk', peer='10.0.0.1', number='5'"
    assert logged.record_tuples == [
        ("pegboard.audit", logging.WARNING, f"refused: a session ({facts})"),
        ("pegboard.audit", logging.INFO, "refused: a token"),
    ]
    caller = {"subject": "ben", "issuer": "https://auth.example", "client_id": "desk"}
    audit = {"refused": "a session", **caller, "peer": "10.0.0.1", "number": 5}
    assert vars(logged.records[0])["audit"] == audit


def test_a_line_is_one_short_line_of_ascii(logged: pytest.LogCaptureFixture) -> None:
    RefusalLog().refused("it", Caller("a\nWARNING b\x1b[2Jé"), {"long": "x" * 5000})
    message = logged.messages[0]
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < MAX_FACT_CHARACTERS + 100


def test_each_kind_has_a_limited_number_of_lines_in_a_period(logged: pytest.LogCaptureFixture) -> None:
    now = 50.0
    log = RefusalLog(lambda: now)

    def refused(times: int, what: str = "a token") -> list[str]:
        logged.clear()
        for _ in range(times):
            log.refused(what)
            log.refused(what, level=logging.DEBUG)  # a disabled level is not counted
        return logged.messages

    assert refused(MAX_LINES + 7) == ["refused: a token"] * MAX_LINES
    assert refused(1, "a session") == ["refused: a session"]
    now += PERIOD_SECONDS - 0.1
    assert refused(1) == []
    now += 0.1
    assert refused(MAX_LINES + 1) == ["refused: a token (left_out='8')"] + ["refused: a token"] * (MAX_LINES - 1)
