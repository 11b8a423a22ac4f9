"""The Arcade Worker protocol: tools and resources over REST, for callers with a JWT of a shared secret.

It is served if a secret is configured, on the same port as MCP.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pegboard.plugin import Authenticator, Plugin, Route, hookimpl
from pegboard_plugins.protocols.worker.settings import NOT_SERVED, WorkerConfig

logger = logging.getLogger("pegboard.plugins.worker")


class WorkerPlugin(Plugin):
    """The routes and the authenticator of the worker."""

    Config = WorkerConfig

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticator for tokens of the secret."""
        from pegboard_plugins.protocols.worker.jwt_authenticator import WorkerAuthenticator

        return [WorkerAuthenticator(self.config)] if self.config.secret else []

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the routes for health, tools, calls and resources."""
        if not self.config.secret:
            logger.warning("not served: %s", NOT_SERVED)
            return []
        from pegboard_plugins.protocols.worker.handlers import WorkerHandlers, method_not_allowed

        path, endpoint = self.config.path, WorkerHandlers(self.config)
        routes = [
            Route("GET", f"{path}/health", endpoint.health, auth="public"),
            Route("GET", f"{path}/tools", endpoint.tools, auth="worker"),
            Route("POST", f"{path}/tools/invoke", endpoint.invoke, auth="worker"),
            Route("POST", f"{path}/resources/list", endpoint.list_resources, auth="worker"),
            Route("POST", f"{path}/resources/read", endpoint.read_resource, auth="worker"),
        ]
        return routes + [Route("*", route.path, method_not_allowed(route.method), auth="public") for route in routes]
