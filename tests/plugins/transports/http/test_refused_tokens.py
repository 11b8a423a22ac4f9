"""The log of refused tokens."""

from __future__ import annotations

import logging

import pytest

from pegboard.types import Response, header_fields
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.support.refusal_log import RefusalLog
from pegboard_plugins.support.refusal_log import fingerprint as digits
from pegboard_plugins.transports.http.access_log import log_refused_token

TOKEN = "Bearer wrong-token"
KEPT: dict[str, tuple[Response, str, dict[str, str]]] = {
    "a bad token": (BearerScheme().invalid("old"), TOKEN, {"why": "old", "token": digits("wrong-token")}),
    "without a reason": (Response(401), TOKEN, {"token": digits("wrong-token")}),
    "in the wrong place": (BearerScheme().refusal(400, "invalid_request", "in the URL"), "x", {"why": "in the URL"}),
}
NOT_KEPT: dict[str, tuple[Response, str]] = {
    "none": (BearerScheme().refusal(401), ""),
    "that allows too little": (BearerScheme().insufficient(["a"], "more"), TOKEN),
    "of an unavailable service": (Response(503), TOKEN),
    "in an invalid request": (Response(400), TOKEN),
}


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(
        "pegboard_plugins.transports.http.access_log._AUDIT", RefusalLog()
    )  # no other test's lines count
    caplog.set_level(logging.INFO, "pegboard.audit")
    return caplog


@pytest.mark.parametrize(("refusal", "credentials", "facts"), KEPT.values(), ids=KEPT)
def test_an_invalid_token_is_logged(
    logged: pytest.LogCaptureFixture, refusal: Response, credentials: str, facts: dict[str, str]
) -> None:
    log_refused_token("/here", header_fields({"Authorization": credentials}), refusal, "10.0.0.1")
    (record,) = logged.records
    assert vars(record)["audit"] == {"refused": "a token", "peer": "10.0.0.1", "path": "/here", **facts}
    assert record.levelno == logging.INFO
    assert "wrong-token" not in record.getMessage()


@pytest.mark.parametrize(("refusal", "credentials"), NOT_KEPT.values(), ids=NOT_KEPT)
def test_a_request_without_an_invalid_token_is_not_logged(
    logged: pytest.LogCaptureFixture, refusal: Response, credentials: str
) -> None:
    log_refused_token("/here", header_fields({"Authorization": credentials}), refusal, "10.0.0.1")
    assert logged.records == []
