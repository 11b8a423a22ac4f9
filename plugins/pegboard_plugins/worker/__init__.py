"""The Arcade Worker protocol: tools and resources over REST, for callers with a JWT of a shared secret.

It is served if a secret is configured, on the same port as MCP.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import (
    Authenticator,
    Command,
    FromEnvironment,
    Plugin,
    Route,
    WidensAccess,
    encode,
    hookimpl,
    is_weak_secret,
)

logger = logging.getLogger("pegboard.plugins.worker")

MAX_TOKEN_SECONDS = 366 * 24 * 3600
"""The longest lifetime of a token made by `pegboard token`."""


class WorkerConfig(PluginConfig):
    """`[plugins.worker]`.

    Attributes:
        secret: the secret that signs tokens; also ARCADE_WORKER_SECRET. Without it the worker is not served. A weak
            secret (fewer than 32 bytes or fewer than 8 different characters) admits callers on this machine only.
        path: the path prefix of the routes.
        auth_disabled: admit callers without a token, on this machine only; also ARCADE_AUTH_DISABLED.
        auth_disabled_anywhere: with `auth_disabled`, admit callers from other machines too. Every caller that reaches
            the port may do everything.
        leeway_seconds: the tolerated difference between the clocks of host and callers.
        require_exp: refuse tokens without an expiry.
        weak_secrets_anywhere: accept a weak secret from other machines too.
        unknown_tool: the response to a call of an unknown tool: 404 with JSON, or 500 with a string.
        check_requirements: check the requirements of a tool before it runs, and name the missing ones.
        expose_internals: show developer messages and stack traces in errors.
        none_is_empty: return "" instead of null for a tool whose result may be None.
        zoneless_times: write `finished_at` without a time zone.
    """

    secret: Annotated[
        SecretStr | None,
        WidensAccess("admits callers with tokens of this secret"),
        FromEnvironment("ARCADE_WORKER_SECRET"),
    ] = None
    path: str = "/worker"
    auth_disabled: Annotated[
        bool, WidensAccess("admits callers without a token"), FromEnvironment("ARCADE_AUTH_DISABLED")
    ] = False
    auth_disabled_anywhere: Annotated[bool, WidensAccess("admits them from other machines")] = False
    leeway_seconds: float = Field(0, ge=0, le=300)
    require_exp: Annotated[bool, WidensAccess("accepts tokens without an end")] = True
    weak_secrets_anywhere: Annotated[bool, WidensAccess("accepts weak secrets from other machines")] = False
    unknown_tool: Literal["not_found", "internal_error"] = "not_found"
    check_requirements: bool = True
    expose_internals: Annotated[bool, WidensAccess("shows internals to callers")] = False
    none_is_empty: bool = False
    zoneless_times: bool = False

    @field_validator("path")
    @classmethod
    def _check_path(cls, path: str) -> str:
        if not path.startswith("/") or path.endswith("/"):
            raise ValueError('invalid path: use a path such as "/worker"')
        return path

    @model_validator(mode="after")
    def _check_secret(self) -> Self:
        if not self.auth_disabled and (self.secret is None or not self.secret.get_secret_value()):
            raise ValueError("missing secret: set ARCADE_WORKER_SECRET, or secret in this section")
        return self


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
