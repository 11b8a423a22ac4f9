"""The settings of `[plugins.worker]`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess

NOT_SERVED = "set ARCADE_WORKER_SECRET, because a secret is required even if callers need no token"


class WorkerConfig(PluginConfig):
    """`[plugins.worker]`.

    Attributes:
        secret: the secret that signs tokens. Without it the worker is not served. A weak secret (fewer than 32 bytes or
            fewer than 8 different characters) serves the operator alone.
        path: the path prefix of the routes.
        auth_disabled: serve the operator without a token.
        auth_disabled_anywhere: with `auth_disabled`, serve every caller that reaches the port.
        leeway_seconds: the tolerated difference between the clocks of host and callers.
        require_exp: refuse tokens without an expiry.
        weak_secrets_anywhere: accept a weak secret from every caller.
        unknown_tool: the response to a call of an unknown tool: 404 with JSON, or 500 with a string.
        check_requirements: check the requirements of a tool before it runs, and name the missing ones.
        expose_internals: show developer messages and stack traces in errors.
        none_is_empty: return "" instead of null for a tool whose result may be None.
        zoneless_times: write `finished_at` without a time zone.
    """

    secret: Annotated[
        SecretStr | None,
        WidensAccess("admits callers with tokens of this secret"),
    ] = None
    path: str = "/worker"
    auth_disabled: Annotated[bool, WidensAccess("admits callers without a token")] = False
    auth_disabled_anywhere: Annotated[bool, WidensAccess("admits callers without a token from other machines")] = False
    leeway_seconds: float = Field(0, ge=0, le=300)
    require_exp: Annotated[bool, WidensAccess("accepts tokens without an expiry")] = True
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
