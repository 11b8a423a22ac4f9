"""Traces, metrics and logs by the OpenTelemetry SDK (the extra `opentelemetry`). Docs: `docs/telemetry.md`.

Names and attributes follow the OpenTelemetry conventions for MCP.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pegboard.plugin import Lifespan, Middleware, Observer, Plugin, PluginError, hookimpl
from pegboard_plugins.operation.opentelemetry.settings import OpenTelemetryConfig

if TYPE_CHECKING:
    from pegboard_plugins.operation.opentelemetry.telemetry import Telemetry


class OpenTelemetryPlugin(Plugin):
    """Records requests, sessions and the log, and sends them to a collector."""

    Config = OpenTelemetryConfig

    def __init__(self, config: OpenTelemetryConfig) -> None:
        super().__init__(config)
        if config.enabled and not _sdk_is_installed():
            raise PluginError(
                "the OpenTelemetry SDK is not installed; install it with: "
                "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
            )

    @cached_property
    def _telemetry(self) -> Telemetry:
        with warnings.catch_warnings():  # the SDK adds a filter, which the host would report
            from pegboard_plugins.operation.opentelemetry.telemetry import Telemetry

        return Telemetry(self.config)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return middleware that records requests, and requests to mounted servers."""
        return self._telemetry.middleware if self.config.enabled else []

    @hookimpl
    def register_telemetry(self) -> Iterable[Observer]:
        """Return the observer of sessions and gauges."""
        return [self._telemetry] if self.config.enabled and self.config.metrics else []

    @hookimpl
    def lifespan(self) -> Lifespan:
        """Start the SDK. When the host stops, send the remaining telemetry."""
        return self._telemetry.lifespan() if self.config.enabled else nullcontext()


def _sdk_is_installed() -> bool:
    try:
        return find_spec("opentelemetry.sdk") is not None
    except ModuleNotFoundError:  # the package `opentelemetry` is missing too
        return False
