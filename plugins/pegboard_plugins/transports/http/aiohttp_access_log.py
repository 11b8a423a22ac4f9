"""aiohttp's logger of requests."""

from __future__ import annotations

import logging
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractAccessLogger

from pegboard_plugins.transports.http.access_log import access_logger, log_access

REQUEST_NOTES = "pegboard.notes"
"""The key of a request that stores its `caller` and `peer`."""


def notes_of(request: web.BaseRequest) -> dict[str, Any]:
    """Return the notes of a request."""
    notes: dict[str, Any] = request.get(REQUEST_NOTES, {})
    return notes


class AccessLogger(AbstractAccessLogger):
    """A logger of requests after their response. The logged size includes the head of the response."""

    @property
    def enabled(self) -> bool:
        return access_logger.isEnabledFor(logging.INFO)

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        """Log a request that took `time` seconds."""
        size, notes = request.writer.output_size, notes_of(request)
        peer, caller = notes.get("peer") or request.remote, notes.get("caller")
        log_access(request.method, request.path, response.status, size, time, peer=peer, caller=caller)
