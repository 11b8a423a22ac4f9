"""Log records as lines: they cannot forge a line or control a terminal, and each names its call."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pegboard.messages.texts import escape_invisible
from pegboard.plugin import redact_logs
from pegboard.runtime.log_lines import JsonFormatter, TextFormatter
from pegboard.secrets.redaction import Redactor
from pegboard.types import Call, Caller

HEAD = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
FORGED = "\n2026-01-01T00:00:00.000Z ERROR pegboard: forged"
OBEYED = [
    *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))),
    *"\u2028\u2029\u200b\u200e\u202a\u202e\u2066\u2069\ufeff\u00ad\u3164\U000e0041\ue000",
]
CALL = Call("tools/call", {"name": "x"}, Caller("alice", client_id="agent"), request_id=7, peer="10.0.0.5")

log = logging.getLogger("of.test")


@pytest.fixture(params=[TextFormatter, JsonFormatter], ids=["text", "json"])
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """The output of the logger `of.test`, in each format."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(request.param())
    redact_logs([handler])
    log.addHandler(handler)
    yield stream
    log.removeHandler(handler)


def test_invisible_and_control_characters_are_escaped(written: io.StringIO) -> None:
    for char in OBEYED:
        log.error("a%sb", char, extra={"data": {char: char}, "peer": f"1{char}2", "caller": Caller(f"a{char}")})
    lines = written.getvalue().split("\n")[:-1]
    assert len(lines) == len(OBEYED)
    assert [
        ascii(char) for char, line in zip(OBEYED, lines, strict=True) if any(symbol in line for symbol in OBEYED)
    ] == []
    assert [ascii(char) for char, line in zip(OBEYED, lines, strict=True) if escape_invisible(char) not in line] == []
    for text in ("é ü 日本 \u2764\ufe0f", "a\u00a0b"):
        log.error("visible: %s", text)
        assert f"visible: {text}" in written.getvalue()


def test_lines_of_a_traceback_are_indented(written: io.StringIO) -> None:
    try:
        raise ValueError(f"first{FORGED}\x1b[2J")
    except ValueError:
        log.exception("it failed%s", FORGED, stack_info=True)
    lines = written.getvalue().splitlines()
    assert [line for line in lines if re.match(HEAD + "ERROR pegboard", line)] == []
    assert len([line for line in lines if not line.startswith("    ")]) == 1
    assert "\x1b" not in written.getvalue()
    assert "ValueError: first" in written.getvalue()


ALICE = {"subject": "alice", "client_id": "agent", "trusted": False}


@pytest.mark.parametrize(
    ("extra", "text", "data"),
    [
        ({}, "", {}),
        (
            {"call": CALL},
            " [request_id=7 caller=alice peer=10.0.0.5]",
            {"request_id": 7, "caller": ALICE, "peer": "10.0.0.5"},
        ),
        ({"caller": Caller()}, " [caller=anonymous]", {"caller": {"trusted": False}}),
        ({"caller": Caller("operator")}, " [caller='operator']", {"caller": {"subject": "operator", "trusted": False}}),
        ({"peer": "] x=["}, " [peer='] x=[']", {"peer": "] x=["}),
    ],
)
def test_a_line_names_its_call_and_a_token_cannot_imitate_the_operator(
    written: io.StringIO, extra: dict[str, Any], text: str, data: dict[str, Any]
) -> None:
    log.warning("told", extra=extra)
    line = written.getvalue()
    if line.startswith("{"):
        record = json.loads(line)
        assert {key: record[key] for key in ("request_id", "caller", "peer") if key in record} == data
    else:
        assert re.fullmatch(HEAD + re.escape(f"WARNING of.test{text}: told\n"), line)


def test_secrets_are_masked_in_every_field(written: io.StringIO) -> None:
    redactor = Redactor()
    redactor.add('cnry "7f\n3a')
    secret = 'cnry "7f\n3a'
    log.error("it is %s", secret, extra={"data": {secret: [secret]}, "peer": secret, "caller": Caller(secret)})
    assert "cnry" not in written.getvalue()


def test_a_json_line_has_the_documented_keys() -> None:
    about = {"call": CALL, "data": {"n": 1, "of": [True, None, 1.5, object]}}
    try:
        raise ValueError("it\nbroke")
    except ValueError:
        record = log.makeRecord("x", logging.ERROR, "", 0, "m", (), sys.exc_info(), extra=about)
    fields = json.loads(JsonFormatter().format(record))
    assert " ".join(fields) == "time level logger message request_id caller peer exception data"
    assert fields["level"] == "error"
    assert fields["exception"].startswith("Traceback")
    assert fields["exception"].endswith("ValueError: it\nbroke")
    assert fields["data"] == {"n": 1, "of": [True, None, 1.5, "<class 'object'>"]}
