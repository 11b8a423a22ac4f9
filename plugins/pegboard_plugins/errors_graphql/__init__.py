"""Failures of `gql` that a tool did not expect, as errors that tell its caller what happened, and nothing more.

This module only describes the plugin; what it knows of the library is imported at the first exception in a process that
has imported the library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard.plugin import ErrorAdapter, Plugin, ToolRuntimeError, hookimpl


class GraphQLErrorAdapter:
    """Knows the exceptions of `gql`."""

    slug = "_graphql"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """What an exception of the library amounts to, None when it is not one of its own."""
        if "gql.transport.exceptions" not in sys.modules:
            return None
        from pegboard_plugins.errors_graphql.graphql_errors import map_graphql_error

        return map_graphql_error(error, self.slug)


class GraphQLErrorsPlugin(Plugin):
    """The adapter; it has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        """The one adapter."""
        return [GraphQLErrorAdapter()]
