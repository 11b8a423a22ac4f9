"""The log of refused tokens."""

import logging

import pytest

from pegboard.types import Response, header_fields
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.transports.http.access_log import log_refused_token

TOKEN = "Bearer wrong-token"
CASES: dict[str, tuple[Response, str]] = {
    "none": (BearerScheme().refusal(401), ""),
    "that allows too little": (BearerScheme().insufficient(["a"], "more"), TOKEN),
    "of an unavailable service": (Response(503), TOKEN),
    "in an invalid request": (Response(400), TOKEN),
}


@pytest.mark.parametrize(("refusal", "credentials"), CASES.values(), ids=CASES)
def test_a_request_without_an_invalid_token_is_not_logged(
    caplog: pytest.LogCaptureFixture, refusal: Response, credentials: str
) -> None:
    caplog.set_level(logging.INFO, "pegboard.audit")
    log_refused_token("/here", header_fields({"Authorization": credentials}), refusal, "10.0.0.1")
    assert caplog.records == []
