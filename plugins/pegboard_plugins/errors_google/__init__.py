"""Failures of `googleapiclient` that a tool did not expect, as errors that tell its caller what happened, no more.

This module only describes the plugin; what it knows of the library is imported at the first exception in a process that
has imported the library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard.plugin import ErrorAdapter, Plugin, ToolRuntimeError, hookimpl


class GoogleErrorAdapter:
    """Knows the exceptions of `googleapiclient`, and those of `google.auth` that come out of it."""

    slug = "_google_api_client"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """What an exception of the library amounts to, None when it is not one of its own."""
        if sys.modules.keys().isdisjoint(("googleapiclient.errors", "google.auth.exceptions")):
            return None
        from pegboard_plugins.errors_google.google_errors import map_google_error

        return map_google_error(error, self.slug)


class GoogleErrorsPlugin(Plugin):
    """The adapter; it has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        """The one adapter."""
        return [GoogleErrorAdapter()]
