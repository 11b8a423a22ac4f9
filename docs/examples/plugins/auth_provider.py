"""A provider of tokens, whose tokens come from other plugins such as `static_tokens`."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import Plugin, hookimpl
from pegboard.types import AuthProvider, ToolAuthorization


class Tracker(ToolAuthorization):
    """A token of Tracker: `@kit.tool(requires_auth=Tracker(scopes=["read"]))`."""

    provider = AuthProvider(id="tracker", title="Tracker", documentation="https://tracker.example/docs/oauth")


class TrackerPlugin(Plugin):
    """Enabled by `[plugins.tracker]`."""

    @hookimpl
    def register_auth_providers(self) -> Iterable[AuthProvider]:
        """Return the provider."""
        return [Tracker.provider]
