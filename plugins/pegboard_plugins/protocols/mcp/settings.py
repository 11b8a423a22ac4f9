"""The settings of `[plugins.mcp]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from pegboard import PluginConfig
from pegboard.plugin import EventStore, PluginError, SessionStore, SharedKeys, StoreName, WidensAccess

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.result_encoder import CacheableKind

MIN_KEY_CHARACTERS = 32
"""The minimum length of a key in `state_keys`."""


def _need_common_keys(config: McpConfig, count: int) -> None:
    """Refuse workers that cannot read what other workers have encrypted for clients.

    Raises:
        PluginError: there are several workers, but no keys.
    """
    if count > 1 and config.http and not config.state_keys:
        raise PluginError(
            f"{count} workers need common keys for sessions and answers of clients: set [plugins.mcp] state_keys "
            "to a list with the output of `openssl rand -base64 32`"
        )


class McpConfig(PluginConfig):
    """The settings `[plugins.mcp]`.

    Attributes:
        list_ttl_ms: how long clients may cache lists and the discovery result, in milliseconds (2026-07-28).
        tools_ttl_ms: how long clients may cache the list of tools; `list_ttl_ms` by default.
        resources_ttl_ms: how long clients may cache the lists of resources and templates; `list_ttl_ms` by default.
        prompts_ttl_ms: how long clients may cache the list of prompts; `list_ttl_ms` by default.
        max_batch: the largest number of messages in a batch (2025-03-26).
        http: serve MCP over HTTP; False to serve only the worker and other routes.
        path: the path of the MCP endpoint.
        anonymous: serve MCP to other machines without an authenticator. Every client can then use every tool that
            requires no secrets, tokens or scopes.
        max_sessions: the largest number of sessions over HTTP.
        max_sessions_per_caller: the largest number of sessions of one caller, or of one address without authentication.
            It does not apply to the operator.
        session_idle_seconds: how long a session without requests is kept.
        sessions: "stored" keeps sessions over HTTP in `session_store`. "sealed" keeps them in the session id, encrypted
            with `state_keys`: any process serves them, but without questions to the client, subscriptions to resources,
            log levels and session data. "off" refuses `initialize`.
        sealed_seconds: how long a sealed session lasts.
        session_store: the plugin that stores sessions. "memory" keeps them in this process; in any other store they
            outlive the process.
        event_store: the plugin that stores the messages of the streams of sessions.
        max_listening: the largest number of streams for notifications of changes.
        change_delay_ms: how long a change of a list or resource waits for further changes, so that clients are notified
            once.
        changes_per_minute: how often per minute clients are notified of one list or resource; 0 for no limit. Later
            changes wait, and are notified once.
        progress_per_second: the number of progress reports of one call per second, after the first ten; 0 for no limit.
            Only the latest waiting report is sent.
        logs_per_second: the number of log messages per second to one session, or of one call in 2026-07-28; 0 for no
            limit. Further messages are dropped; the next one is preceded by their number.
        events_bytes: how much of the streams of all sessions is stored, for clients that lose a connection; 0 for
            nothing.
        session_events_bytes: how much of the streams of one session is stored.
        events_seconds: how long a stream is stored after its last message.
        retry_ms: how long a client waits before it resumes a stream that has ended (2025-11-25).
        poll_after_seconds: how long the stream of a call stays open before its client must resume it (2025-11-25), for
            proxies that close long connections; 0 for no limit.
        state_keys: the keys that encrypt the state that clients return between the rounds of a call (2026-07-28), and
            sealed sessions. Processes that serve the same clients need the same keys. The default is `[host]
            state_keys`, else a new key of each process.
        state_seconds: how long a client may take to return this state.
        profiles: parts of the catalogue, by name. `[plugins.mcp.profiles.readonly]` is served at `/mcp/readonly`. Its
            keys are `tools`, `resources`, `prompts`, `toolkits`, `tags`, `read_only` and `auth`.
        stream_profile: the profile that message streams such as stdio serve; the whole catalogue by default.
    """

    list_ttl_ms: int = Field(default=300_000, ge=0)
    tools_ttl_ms: int | None = Field(default=None, ge=0)
    resources_ttl_ms: int | None = Field(default=None, ge=0)
    prompts_ttl_ms: int | None = Field(default=None, ge=0)
    max_batch: int = Field(default=100, ge=1)
    http: bool = True
    path: str = Field(default="/mcp", pattern="^/")
    anonymous: Annotated[bool, WidensAccess("lets everybody use MCP beyond this machine")] = False
    max_sessions: int = Field(default=10_000, ge=1)
    max_sessions_per_caller: int = Field(default=1000, ge=1)
    session_idle_seconds: float = Field(default=3600, gt=0)
    sessions: Literal["stored", "sealed", "off"] = "stored"
    sealed_seconds: float = Field(default=86_400, gt=0)
    session_store: Annotated[str, StoreName(SessionStore, _need_common_keys)] = "memory"
    event_store: Annotated[str, StoreName(EventStore)] = "memory"
    max_listening: int = Field(default=10_000, ge=1)
    change_delay_ms: float = Field(default=50, ge=0, le=60_000)
    changes_per_minute: float = Field(default=0, ge=0)
    progress_per_second: float = Field(default=20, ge=0)
    logs_per_second: float = Field(default=0, ge=0)
    events_bytes: int = Field(default=64 * 1024 * 1024, ge=0)
    session_events_bytes: int = Field(default=1024 * 1024, ge=1)
    events_seconds: float = Field(default=300, gt=0)
    retry_ms: int = Field(default=1000, ge=0)
    poll_after_seconds: float = Field(default=0, ge=0)
    state_keys: Annotated[tuple[SecretStr, ...], SharedKeys()] = ()
    state_seconds: float = Field(default=600, gt=0)
    profiles: Mapping[str, Any] = {}
    stream_profile: str | None = None

    @field_validator("state_keys")
    @classmethod
    def _long_enough(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < MIN_KEY_CHARACTERS for key in keys):
            raise ValueError(
                f"a key is shorter than {MIN_KEY_CHARACTERS} characters: create one with `openssl rand -base64 32`"
            )
        return keys

    @field_validator("profiles")
    @classmethod
    def _read_profiles(cls, profiles: Mapping[str, Any]) -> Mapping[str, Any]:
        from pegboard_plugins.protocols.mcp.profiles import read_profiles

        return read_profiles(profiles)

    @field_validator("stream_profile")
    @classmethod
    def _is_profile(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and name not in info.data.get("profiles", (name,)):  # absent if they are invalid
            raise ValueError(f"there is no profile {name!r}: add [plugins.mcp.profiles.{name}]")
        return name

    def ttl_ms(self) -> dict[CacheableKind, int]:
        """Return how long clients may cache each kind of result, in milliseconds."""
        rest = self.list_ttl_ms
        tools, resources, prompts = (
            rest if ttl is None else ttl for ttl in (self.tools_ttl_ms, self.resources_ttl_ms, self.prompts_ttl_ms)
        )
        return {"tools": tools, "resources": resources, "templates": resources, "prompts": prompts, "discovery": rest}
