"""A peer that is gone while its response is written: nothing went wrong here, and the log is quiet."""

from __future__ import annotations

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp import ClientConnectionResetError

from pegboard_plugins.http.http_connection import HttpConnection


@pytest.mark.parametrize("begun", [0, 100])
def test_a_response_to_nobody_is_no_failure(begun: int, caplog: pytest.LogCaptureFixture) -> None:
    request: Any = Mock(remote="127.0.0.1")
    request.writer.output_size = begun
    gone = ClientConnectionResetError("Cannot write to closing transport")
    with caplog.at_level(logging.DEBUG), pytest.raises(ClientConnectionResetError):
        HttpConnection.handle_error(Mock(spec=HttpConnection), request, 500, gone)
    assert not caplog.records
