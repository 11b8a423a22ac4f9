"""Typed errors for failures of `msgraph` that a tool does not handle.

This module only describes the plugin. The mapping is imported at the first exception, once a tool has imported the
library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard import ToolRuntimeError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl


class MicrosoftErrorAdapter(ErrorAdapter):
    """An adapter for exceptions of `msgraph` and of other clients that kiota generated."""

    slug = "_microsoft_graph"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if "kiota_abstractions.api_error" not in sys.modules:
            return None
        from pegboard_plugins.errors.errors_microsoft.microsoft_errors import map_microsoft_error

        return map_microsoft_error(error, self.slug)


class MicrosoftErrorsPlugin(Plugin):
    """The plugin. It registers the adapter and has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [MicrosoftErrorAdapter()]
