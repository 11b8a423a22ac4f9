"""The Arcade Worker protocol: tools and resources over REST, for callers with a JWT of a shared secret.

It is served if a secret is configured, on the same port as MCP.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from pegboard.plugin import Authenticator, Command, Plugin, Route, encode, hookimpl, is_weak_secret
from pegboard_plugins.worker.settings import WorkerConfig

logger = logging.getLogger("pegboard.plugins.worker")

MAX_TOKEN_SECONDS = 366 * 24 * 3600
"""The longest lifetime of a token made by `pegboard token`."""


def _seconds(text: str) -> int:
    from argparse import ArgumentTypeError

    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 0 < seconds <= MAX_TOKEN_SECONDS:
        raise ArgumentTypeError(f"expected a whole number from 1 to {MAX_TOKEN_SECONDS}, found {text!r}")
    return seconds


class WorkerPlugin(Plugin):
    """The routes and the authenticator of the worker."""

    Config = WorkerConfig

    @hookimpl
    def register_commands(self) -> Iterable[Command]:
        """Return the command `pegboard token`."""
        seconds_option = {
            "type": _seconds,
            "default": 3600,
            "metavar": "N",
            "help": "lifetime in seconds; 3600 by default",
        }
        token = Command(
            name="token",
            summary="make a token to try the worker protocol",
            run=self._token,
            arguments=[("--seconds", seconds_option)],
            examples=("pegboard token", "pegboard token --seconds 60", "pegboard token --json"),
        )
        return [token] if self.config.secret else []

    def _token(self, options: Any) -> str:
        from pegboard_plugins.worker.jwt_authenticator import create_token

        secret = self.config.secret.get_secret_value()
        if is_weak_secret(secret):
            logger.warning("the secret is weak: set a random one, because others can guess it and create tokens")
        token = create_token(secret, options.seconds)
        return encode({"token": token, "expires_in": options.seconds}).decode() if options.json else token

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticator for tokens of the secret."""
        from pegboard_plugins.worker.jwt_authenticator import WorkerAuthenticator

        return [WorkerAuthenticator(self.config)] if self.config.secret else []

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the routes for health, tools, calls and resources."""
        if not self.config.secret:
            logger.warning(
                "not served: set ARCADE_WORKER_SECRET, because a secret is required even if callers need no token"
            )
            return []
        from pegboard_plugins.worker.handlers import WorkerHandlers, method_not_allowed

        path, endpoint = self.config.path, WorkerHandlers(self.config)
        routes = [
            Route("GET", f"{path}/health", endpoint.health, auth="public"),
            Route("GET", f"{path}/tools", endpoint.tools, auth="worker"),
            Route("POST", f"{path}/tools/invoke", endpoint.invoke, auth="worker"),
            Route("POST", f"{path}/resources/list", endpoint.list_resources, auth="worker"),
            Route("POST", f"{path}/resources/read", endpoint.read_resource, auth="worker"),
        ]
        return routes + [Route("*", one.path, method_not_allowed(one.method), auth="public") for one in routes]
