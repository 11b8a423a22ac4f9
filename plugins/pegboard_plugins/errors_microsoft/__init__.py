"""Failures of `msgraph` that a tool did not expect, as errors that tell its caller what happened, and nothing more.

This module only describes the plugin; what it knows of the library is imported at the first exception in a process that
has imported the library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard.plugin import ErrorAdapter, Plugin, ToolRuntimeError, hookimpl


class MicrosoftErrorAdapter:
    """Knows the exceptions of `msgraph`, which are kiota's: those of every client that kiota made."""

    slug = "_microsoft_graph"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """What an exception of the library amounts to, None when it is not one of its own."""
        if "kiota_abstractions.api_error" not in sys.modules:
            return None
        from pegboard_plugins.errors_microsoft.microsoft_errors import map_microsoft_error

        return map_microsoft_error(error, self.slug)


class MicrosoftErrorsPlugin(Plugin):
    """The adapter; it has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        """The one adapter."""
        return [MicrosoftErrorAdapter()]
