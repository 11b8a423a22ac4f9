"""Typed errors for failures of `gql` that a tool does not handle.

This module only describes the plugin. The mapping is imported at the first exception, once a tool has imported the
library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pegboard import ToolRuntimeError
from pegboard.plugin import ErrorAdapter, Plugin, hookimpl


class GraphQLErrorAdapter(ErrorAdapter):
    """An adapter for exceptions of `gql`."""

    slug = "_graphql"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        if "gql.transport.exceptions" not in sys.modules:
            return None
        from pegboard_plugins.errors.errors_graphql.graphql_errors import map_graphql_error

        return map_graphql_error(error, self.slug)


class GraphQLErrorsPlugin(Plugin):
    """The plugin. It registers the adapter and has no settings."""

    @hookimpl
    def register_error_adapters(self) -> Iterable[ErrorAdapter]:
        return [GraphQLErrorAdapter()]
