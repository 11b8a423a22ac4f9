"""aiohttp's logger of requests."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractAccessLogger

from pegboard_plugins.transports.http.access_log import log_access, wants_access_log

REQUEST_NOTES = "pegboard.notes"
"""The key of a request that stores its `caller` and `peer`."""


def notes_of(request: web.BaseRequest) -> dict[str, Any]:
    """Return the notes of a request."""
    notes: dict[str, Any] = request.get(REQUEST_NOTES, {})
    return notes


class AccessLogger(AbstractAccessLogger):
    """A logger of requests after their response. The logged size includes the head of the response.

    aiohttp asks once for each connection if it is enabled. A reload may change this meanwhile.
    """

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        """Log a request that took `time` seconds."""
        if not wants_access_log():
            return
        size, notes = request.writer.output_size, notes_of(request)
        peer, caller = notes.get("peer") or request.remote, notes.get("caller")
        log_access(request.method, request.path, response.status, size, time, peer=peer, caller=caller)
