"""The settings of `[plugins.redis]`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from pegboard import PluginConfig


class RedisConfig(PluginConfig):
    """The settings `[plugins.redis]`.

    Attributes:
        url: the server: `redis://host:6379/0`, `rediss://` with TLS, or `unix://` with the path of a socket.
        user: the user name.
        password: the password; write `{ env = "NAME" }`.
        ca_file: the certificate authorities for the certificate of the server; those of the system by default.
        prefix: the beginning of all keys. Installations that share a server need different prefixes.
        idle_seconds: how long a session without requests is kept.
        max_sessions: the largest number of sessions.
    """

    url: str = Field(default="redis://127.0.0.1:6379/0", pattern=r"^(rediss?|unix)://")
    user: str | None = None
    password: SecretStr | None = None
    ca_file: Path | None = None
    prefix: str = "pegboard:"
    idle_seconds: float = Field(default=3600, ge=60)
    max_sessions: int = Field(default=100_000, ge=1)
