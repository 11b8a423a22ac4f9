"""The settings of `[plugins.prometheus]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from pegboard_plugins.support.bearer import is_bearer_token
from pegboard_plugins.support.loopback import is_loopback
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret


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
