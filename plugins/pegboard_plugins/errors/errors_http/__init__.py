"""Typed errors for failures of HTTP clients that a tool does not handle.

This module only describes the plugin. The mapping is imported at the first exception. The libraries are never imported.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard import ToolRuntimeError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl


class HttpErrorAdapter(ErrorAdapter):
    """An adapter for exceptions of aiohttp, httpx, httpx2, httplib2, requests, urllib3 and urllib."""

    slug = "_http"
    fallback = True
    """Run after the adapters for single services, because their clients use these libraries."""

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        from pegboard_plugins.errors.errors_http.http_errors import map_http_error

        return map_http_error(error, self.slug)


class HttpErrorsPlugin(Plugin):
    """The plugin. It registers the adapter and has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [HttpErrorAdapter()]
