"""Typed errors for failures of `slack_sdk` that a tool does not handle.

This module only describes the plugin. The mapping is imported at the first exception, once a tool has imported the
library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard import ToolRuntimeError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl


class SlackErrorAdapter(ErrorAdapter):
    """An adapter for exceptions of `slack_sdk`."""

    slug = "_slack_sdk"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if "slack_sdk.errors" not in sys.modules:
            return None
        from pegboard_plugins.errors.errors_slack.slack_errors import map_slack_error

        return map_slack_error(error, self.slug)


class SlackErrorsPlugin(Plugin):
    """The plugin. It registers the adapter and has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [SlackErrorAdapter()]
