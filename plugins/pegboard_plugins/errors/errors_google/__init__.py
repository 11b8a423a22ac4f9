"""Typed errors for failures of `googleapiclient` that a tool does not handle.

This module only describes the plugin. The mapping is imported at the first exception, once a tool has imported the
library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard import ToolRuntimeError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl


class GoogleErrorAdapter(ErrorAdapter):
    """An adapter for exceptions of `googleapiclient` and of `google.auth`, which it uses."""

    slug = "_google_api_client"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if sys.modules.keys().isdisjoint(("googleapiclient.errors", "google.auth.exceptions")):
            return None
        from pegboard_plugins.errors.errors_google.google_errors import map_google_error

        return map_google_error(error, self.slug)


class GoogleErrorsPlugin(Plugin):
    """The plugin. It registers the adapter and has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [GoogleErrorAdapter()]
