"""Tokens from the Arcade cloud, for operators with an account there.

The cloud keeps the tokens of its users and asks them to authorize. The plugin is disabled by default.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.plugin import Lifespan, Middleware, Plugin, PluginContext, PluginError, TokenSource, hookimpl
from pegboard_plugins.auth.arcade_cloud.settings import ArcadeCloudConfig, is_api_key
from pegboard_plugins.support.login_questions import LoginQuestions

if TYPE_CHECKING:
    from pegboard_plugins.auth.arcade_cloud.cloud_source import CloudTokens

DEFAULT_URL = "https://api.arcade.dev"


class ArcadeCloudPlugin(Plugin):
    """A source of tokens, and the questions for authorization."""

    Config = ArcadeCloudConfig

    def __init__(self, config: ArcadeCloudConfig) -> None:
        super().__init__(config)
        self._made: CloudTokens | None = None

    def _tokens(self) -> CloudTokens:
        if self._made is None:
            from pegboard_client import checked_url
            from pegboard_plugins.auth.arcade_cloud.cloud_api import CloudApi
            from pegboard_plugins.auth.arcade_cloud.cloud_source import CloudTokens

            config: ArcadeCloudConfig = self.config
            key = config.api_key.get_secret_value() if config.api_key else os.environ.get("ARCADE_API_KEY", "").strip()
            if not is_api_key(key):
                raise PluginError("[plugins.arcade_cloud] has no usable API key: set the variable ARCADE_API_KEY")
            named = (os.environ.get(name, "").strip() for name in ("ARCADE_API_URL", "ARCADE_API_BASE_URL"))
            url = config.url or next(filter(None, named), DEFAULT_URL)
            try:
                checked_url(url)
            except ValueError as error:
                raise PluginError(f"ARCADE_API_URL or ARCADE_API_BASE_URL: {error}") from None
            self._made = CloudTokens(config, CloudApi(url, key))
        return self._made

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        """Return the source of tokens from the cloud."""
        return [self._tokens()]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the middleware that asks the user to authorize."""
        return [LoginQuestions(self._tokens().pending)]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Return the lifespan, which closes the connections to the cloud."""
        ends = AsyncExitStack()
        ends.push_async_callback(self._tokens().close)
        return ends
