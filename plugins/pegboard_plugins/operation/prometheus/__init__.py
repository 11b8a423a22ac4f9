"""Metrics for Prometheus, with the library `prometheus-client` (the extra `prometheus`). Docs: `docs/telemetry.md`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import asynccontextmanager, nullcontext
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, SecretStr, field_validator

from pegboard import PluginConfig
from pegboard.plugin import (
    Authenticator,
    Lifespan,
    Middleware,
    Observer,
    Plugin,
    PluginContext,
    PluginError,
    Route,
    WidensAccess,
    hookimpl,
)
from pegboard_plugins.support.bearer import is_bearer_token
from pegboard_plugins.support.loopback import is_loopback
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pegboard_plugins.operation.prometheus.metrics_endpoint import MetricsEndpoint


class PrometheusConfig(PluginConfig):
    """`[plugins.prometheus]`.

    Attributes:
        host: the address of the port for metrics.
        port: the port for metrics; 0 for any free port, which the log names. Each further worker has the next port.
        token: the bearer token of Prometheus. With it, the HTTP server serves the metrics, without another port.
        path: the path of the metrics on the HTTP server.
    """

    host: Annotated[str, WidensAccess("shows metrics beyond this machine", unless=is_loopback)] = "127.0.0.1"
    port: int = Field(9464, ge=0, le=65535)
    token: SecretStr | None = None
    path: str = Field("/metrics", pattern="^/")

    @field_validator("token")
    @classmethod
    def _check_token(cls, token: SecretStr | None) -> SecretStr | None:
        text = None if token is None else token.get_secret_value()
        if text is not None and (not is_bearer_token(text) or is_weak_secret(text)):
            raise ValueError(
                f"use {SECRET_BYTES} random letters and digits or more, for example from `openssl rand -hex 32`"
            )
        return token


POLICY = "metrics"
"""The policy of the route on the port of the HTTP server."""


class PrometheusPlugin(Plugin):
    """Counts calls and sessions, and serves the counts and all gauges."""

    Config = PrometheusConfig

    def __init__(self, config: PrometheusConfig) -> None:
        super().__init__(config)
        if find_spec("prometheus_client") is None:
            raise PluginError(
                "the library prometheus-client is not installed; install it with: pip install prometheus-client"
            )

    @cached_property
    def _endpoint(self) -> MetricsEndpoint:
        from pegboard_plugins.operation.prometheus.metrics_endpoint import MetricsEndpoint

        return MetricsEndpoint(self.config)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return middleware that counts requests."""
        return [self._endpoint.calls]

    @hookimpl
    def register_telemetry(self) -> Iterable[Observer]:
        """Return the observer of gauges and sessions."""
        return [self._endpoint.metrics]

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the route of the metrics, if there is a token for it."""
        if self.config.token is None:
            return []
        return [Route(method="GET", path=self.config.path, handler=self._endpoint.answer, auth=POLICY)]

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticator of that route."""
        return [] if self.config.token is None else [self._endpoint]

    @hookimpl
    def lifespan(self, context: PluginContext) -> Lifespan:
        """Open the port of the metrics, unless the HTTP server serves them. Each worker has a port of its own."""
        number, count = context.worker
        self._endpoint.metrics.worker = number if count > 1 else 0
        if self.config.token is not None:
            return nullcontext()
        return self._run_worker() if count > 1 else self._run()

    @asynccontextmanager
    async def _run_worker(self) -> AsyncIterator[Any]:
        opening = asyncio.create_task(self._endpoint.listen_when_free())
        try:
            yield None
        finally:
            opening.cancel()
            await asyncio.wait((opening,))
            if not opening.cancelled():
                opening.result()()

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[Any]:
        close = self._endpoint.listen()
        try:
            yield None
        finally:
            close()
