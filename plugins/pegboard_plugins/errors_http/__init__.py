"""Failures of HTTP clients that a tool did not expect, as errors that tell its caller what happened, and nothing more.

This module only describes the plugin; what it knows of the libraries is imported at the first exception, and the
libraries themselves never are.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import ErrorAdapter, Plugin, ToolRuntimeError, hookimpl


class HttpErrorAdapter:
    """Knows the exceptions of aiohttp, httpx, httpx2, httplib2, requests, urllib3 and urllib."""

    slug = "_http"
    fallback = True
    """Clients of single services stand on these libraries and know more."""

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """What an exception of one of the libraries amounts to, None when it is not one of theirs."""
        from pegboard_plugins.errors_http.http_errors import map_http_error

        return map_http_error(error, self.slug)


class HttpErrorsPlugin(Plugin):
    """The adapter; it has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        """The one adapter for all libraries."""
        return [HttpErrorAdapter()]
