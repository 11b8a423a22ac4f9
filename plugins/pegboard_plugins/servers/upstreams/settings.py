"""The settings of mounted servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from pegboard_plugins.support.login_questions import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS

_SERVER_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*", re.ASCII)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_OWN_HEADERS = frozenset(
    ("accept", "connection", "content-length", "content-type", "host", "last-event-id", "transfer-encoding")
)
"""The headers that the client itself sends. Headers that start with `mcp-` belong to the protocol too."""
_UNUSED = {
    "object": ("args", "env", "cwd"),
    "url": ("args", "env", "cwd", "path"),
    "command": ("headers", "path"),
}
"""The keys without a meaning, for each kind of server."""
_LOGIN_KEYS = ("client_id", "client_secret", "issuer", "client_metadata_url", "scopes")
"""The keys of a server at which the operator or callers log in."""
_HOST_LOGIN_KEYS = ("redirect_uri", "shared")
"""The keys of a server at which only the operator logs in."""

USER_IDLE_SECONDS = 600.0
"""The default of `idle_seconds` for a connection of one caller."""


class UserSecret(PluginConfig):
    """The value of a header that each caller pastes once, such as `{ user_secret = "ACME_KEY" }`.

    Attributes:
        user_secret: the name of the key for people.
    """

    user_secret: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")


class ServerConfig(PluginConfig):
    """`[plugins.upstreams.servers.NAME]`: one mounted server. Set `url` or `command`.

    Attributes:
        object: a server of the program that makes the host; `Host(mount=...)` sets it.
        path: the path of the endpoint in the ASGI application of an `object`.
        url: the URL of a server that speaks Streamable HTTP.
        command: the program of a server that speaks MCP on its standard input and output: a name on PATH, or a path. A
            relative path with a separator is relative to the configuration file.
        args: the arguments of the program. Other users of the machine can see them: set secrets in `env`.
        env: environment variables of the program; `{ env = "NAME" }` takes a value from a variable. The program gets
            only these, and those that programs need to run, such as PATH and HOME.
        cwd: the working directory of the program; by default that of the configuration file.
        headers: headers of each HTTP request, such as `{ Authorization = { env = "NAME" } }`. With `identity = "user"`,
            `{ user_secret = "NAME" }` is a key that each caller pastes on a page of the vault.
        include: patterns of the served items: the server's own names, or URIs of resources. `*` matches any string.
        exclude: patterns of items that are not served.
        rename: new names of tools and prompts, without prefix, by the server's own names.
        prefix: the beginning of the names of tools and prompts; by default the name of the section. False for none.
        identity: "host" for one connection for all callers, or "user" for a connection of each caller.
        auth: the provider of the token that each caller's connection sends, such as "github". It requires a `url` and
            `identity = "user"`.
        auth_scopes: the scopes that the token must have.
        client_id: the id of the host at the authorization server of a `url`, with its `issuer`. By default the host
            registers itself.
        client_secret: the secret of the registration; None for a public client.
        issuer: the authorization server at which `client_id` is registered. No other receives the secret.
        redirect_uri: the redirect URI of the registration, on this machine and with a port; by default a free port.
        client_metadata_url: the https URL of a client id metadata document for this host. Its redirect URIs must
            include `http://127.0.0.1/callback`.
        scopes: scopes that a login requests, in place of those that the server suggests.
        shared: True to use the operator's login for the calls of all callers. Otherwise only the operator can use it.
        max_users: the maximum number of open connections of callers. An idle connection is closed for another caller.
        idle_seconds: the time without calls after which a connection is closed, and its program ended, until the next
            call; 0 for never. The default is 0, and 600 with `identity = "user"`. Subscriptions and calls that wait for
            answers keep a program running.
        refresh_seconds: the time after which lists are read again if the server announces no changes. A server of
            2026-07-28 may ask for a shorter time with `ttlMs`.
        timeout: the time limit of a request in seconds. Progress extends it.
        questions: True to let the server ask the person and for the client's roots, during calls.
        sampling: True to let the server use the client's model during calls, at the cost of the person.
        revision: the revision of MCP to speak, such as "2025-06-18"; by default the newest that both support.
        start: "eager" to connect at the start, without waiting; with `pegboard stdio`, at the first request for a list.
            "required" to fail the start if the connection fails. "lazy" to connect at the first call or read, or at the
            first request for a list if no definitions are remembered.
        optional: True if commands that need all tools succeed without the server, and only report that it is missing.
        stateless: True if the server keeps no state between calls. Several processes, with a connection each, then
            mount it without a warning.
    """

    object: Any = Field(None, repr=False)
    path: str | None = Field(None, pattern="^/")
    url: str | None = None
    command: str | None = Field(None, min_length=1)
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = {}
    cwd: Path | None = None
    headers: Mapping[str, SecretStr | UserSecret] = {}
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    rename: Mapping[str, str] = {}
    prefix: str | Literal[False] | None = None
    identity: Literal["host", "user"] = "host"
    auth: str | None = Field(None, min_length=1)
    auth_scopes: tuple[str, ...] = ()
    client_id: str | None = Field(None, min_length=1)
    client_secret: SecretStr | None = Field(None, min_length=1)
    issuer: str | None = None
    redirect_uri: str | None = None
    client_metadata_url: str | None = None
    scopes: tuple[str, ...] | None = None
    shared: bool = False
    max_users: int = Field(100, ge=1, le=10_000)
    idle_seconds: float | None = Field(None, ge=0)
    refresh_seconds: float = Field(300, ge=5)
    timeout: float = Field(60, gt=0)
    questions: bool = True
    sampling: bool = False
    revision: Literal["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] | None = None
    start: Literal["eager", "lazy", "required"] = "eager"
    optional: bool = False
    stateless: bool = False

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        if not _is_http_url(url):
            raise ValueError('invalid URL: use a URL such as "https://example.com/mcp"')
        if "@" in urlsplit(url).netloc:
            raise ValueError("the URL contains a user name or password: use headers")
        return url

    @field_validator("issuer")
    @classmethod
    def _check_issuer(cls, url: str | None) -> str | None:
        from pegboard_client import checked_url

        return None if url is None else checked_url(url)

    @field_validator("redirect_uri")
    @classmethod
    def _check_redirect(cls, url: str | None) -> str | None:
        from pegboard_client import LoopbackRedirect

        if url is not None:
            LoopbackRedirect(url)
        return url

    @field_validator("client_metadata_url")
    @classmethod
    def _check_metadata_url(cls, url: str | None) -> str | None:
        if url is not None and not (url.startswith("https://") and _is_http_url(url) and urlsplit(url).path.strip("/")):
            raise ValueError("use an https URL with a path, such as https://tools.example.com/client.json")
        return url

    @field_validator("object")
    @classmethod
    def _check_object(cls, server: Any) -> Any:
        if server is not None:
            from pegboard_plugins.servers.upstreams.mounted_objects import check_object

            check_object(server)
        return server

    @field_validator("command")
    @classmethod
    def _resolve_command(cls, command: str | None, info: ValidationInfo) -> str | None:
        is_path = command is not None and ("/" in command or "\\" in command)
        return str(cls.folder_of(info) / Path(command).expanduser()) if is_path and command else command

    @field_validator("cwd")
    @classmethod
    def _resolve_cwd(cls, cwd: Path | None, info: ValidationInfo) -> Path | None:
        if cwd is None:
            return None
        folder = cls.folder_of(info) / cwd.expanduser()
        if not folder.is_dir():
            raise ValueError(f"{str(folder)!r} is not a directory: create it")
        return folder

    @field_validator("env")
    @classmethod
    def _check_env(cls, env: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
        for name, value in env.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f'invalid variable name {name!r}: use a name such as "NOTES_TOKEN"')
            if "\0" in value.get_secret_value():
                raise ValueError(f"the variable {name!r} has a value with a null character: remove it")
        return env

    @field_validator("rename")
    @classmethod
    def _check_rename(cls, rename: Mapping[str, str]) -> Mapping[str, str]:
        owners: dict[str, str] = {}
        for own, name in rename.items():
            if not name:
                raise ValueError(f"the new name of {own!r} is empty: use a name")
            if (other := owners.setdefault(name, own)) != own:
                raise ValueError(f"{other!r} and {own!r} have the new name {name!r}: use two names")
        return rename

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: Mapping[str, SecretStr | UserSecret]) -> Mapping[str, SecretStr | UserSecret]:
        for name, value in headers.items():
            if not _HEADER.fullmatch(name):
                raise ValueError(f"invalid header name {name!r}: use letters, digits and hyphens")
            if name.lower() in _OWN_HEADERS or name.lower().startswith("mcp-"):
                raise ValueError(f"the header {name!r} belongs to the protocol: remove it")
            if isinstance(value, SecretStr) and not value.get_secret_value().isprintable():
                raise ValueError(f"the header {name!r} has a value with control characters: remove them")
        if sum(isinstance(value, UserSecret) for value in headers.values()) > 1:
            raise ValueError("several headers have a user_secret: use one")
        return headers

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        kinds = [kind for kind in ("object", "url", "command") if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError("a server needs either url or command: set exactly one of them")
        if wrong := [key for key in _UNUSED[kinds[0]] if key in self.model_fields_set]:
            raise ValueError(f"{wrong[0]} has no meaning with {kinds[0]}: remove it")
        self._check_login()
        if self.auth is not None and (self.url is None or self.identity != "user"):
            raise ValueError('auth requires url and identity = "user": the token belongs to each caller')
        if self.auth_scopes and self.auth is None:
            raise ValueError("auth_scopes requires auth: name the provider of the token")
        if self.identity == "user" and self.start == "required":
            raise ValueError('start = "required" needs identity = "host": at the start there is no caller')
        if self.optional and self.start == "required":
            raise ValueError('a server with start = "required" is not optional: remove one of them')
        return self

    def _check_login(self) -> None:
        if self.user_key is not None:
            from pegboard_client import checked_url

            if self.identity != "user" or self.auth is not None or self.url is None:
                raise ValueError('user_secret requires url and identity = "user", and no auth: each caller has a key')
            checked_url(self.url)
        keys = [key for key in _LOGIN_KEYS if key in self.model_fields_set]
        if keys and not (self.logs_in or self.callers_log_in):
            raise ValueError(f"{keys[0]} requires a url, no auth, and no Authorization among the headers")
        keys = [key for key in _HOST_LOGIN_KEYS if key in self.model_fields_set]
        if keys and not self.logs_in:
            raise ValueError(f'{keys[0]} requires a url, identity = "host", and no Authorization among the headers')
        if self.client_id is not None and self.issuer is None:
            raise ValueError("client_id requires issuer: name the authorization server at which it is registered")
        for key in ("client_secret", "issuer", "redirect_uri"):
            if getattr(self, key) is not None and self.client_id is None:
                raise ValueError(f"{key} requires client_id: both belong to one registration")

    @property
    def may_keep_state(self) -> bool:
        """True if calls may depend on earlier ones. A server of 2026-07-28 has no connections to keep state for."""
        return not self.stateless and self.revision != "2026-07-28"

    @property
    def logs_in(self) -> bool:
        """True if the host uses a login of the operator, if the server requires one."""
        return self.identity == "host" and self._may_log_in

    @property
    def callers_log_in(self) -> bool:
        """True if each caller uses an own login or key, if the server requires one."""
        return self.user_key is not None or (self.identity == "user" and self.auth is None and self._may_log_in)

    @property
    def shows_login(self) -> bool:
        """True if the section shows that callers must log in or paste a key."""
        return self.callers_log_in and (self.client_id is not None or self.user_key is not None)

    @property
    def user_key(self) -> tuple[str, str] | None:
        """The name of the header with the key of each caller, and the name of the key; None for none."""
        keys = [(name, value.user_secret) for name, value in self.headers.items() if isinstance(value, UserSecret)]
        return keys[0] if keys else None

    @property
    def fixed_headers(self) -> dict[str, str]:
        """The headers of all requests, with their values."""
        return {name: value.get_secret_value() for name, value in self.headers.items() if isinstance(value, SecretStr)}

    @property
    def _may_log_in(self) -> bool:
        return self.url is not None and not any(name.lower() == "authorization" for name in self.headers)

    @property
    def idle_limit(self) -> float:
        """The seconds after which an idle connection is closed; 0 for never."""
        if self.idle_seconds is not None:
            return self.idle_seconds
        return USER_IDLE_SECONDS if self.identity == "user" else 0.0

    def may_have(self, server: str, shown: str) -> bool:
        """Return True if a name has the prefix of this server, or is one of its new names."""
        start = self.shown_name(server, "")
        return shown in self.rename.values() or (bool(start) and shown.startswith(start))

    def may_match(self, server: str, stem: str) -> bool:
        """Return True if a glob that begins with `stem` may match a name with the prefix of this server."""
        return any(name.startswith(stem) for name in (self.shown_name(server, ""), *self.rename.values()))

    def shown_name(self, server: str, name: str) -> str:
        """Return the name under which a tool or prompt is served.

        Args:
            server: the name of the section.
            name: the server's own name of the item.
        """
        return self.rename[name] if name in self.rename else self.prefixed(server, name)

    def prefixed(self, server: str, name: str) -> str:
        """Return the name of a tool or prompt without `rename`."""
        prefix = server if self.prefix is None else self.prefix
        return f"{prefix}_{name}" if prefix else name


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return valid and url.isascii() and url.isprintable() and " " not in url


class UpstreamsConfig(PluginConfig):
    """`[plugins.upstreams]`.

    Attributes:
        servers: the mounted servers, each in its own section `[plugins.upstreams.servers.NAME]`.
        first_list_seconds: the time for which the first lists wait for servers that have neither connected nor failed,
            and have no remembered definitions.
        connect_seconds: the time limit of an attempt to connect, and of the wait of commands such as `list`, `lock` and
            `configure`.
        wait_seconds: the time for which a call waits for the login of its caller. Then the client must repeat the call.
        forget_days: the time without a connection after which the remembered definitions of a server are not served; 0
            to remember nothing.
    """

    servers: Annotated[
        Mapping[str, ServerConfig], WidensAccess("starts these programs, and serves what these servers offer")
    ] = {}
    first_list_seconds: float = Field(3, ge=0, le=60)
    connect_seconds: float = Field(120, gt=0, le=3_600)
    wait_seconds: float = Field(DEFAULT_WAIT_SECONDS, gt=0, le=MAX_WAIT_SECONDS)
    forget_days: float = Field(30, ge=0, le=3_650)

    @field_validator("servers", mode="before")
    @classmethod
    def _check_names(cls, servers: Any) -> Any:
        for name in servers if isinstance(servers, Mapping) else ():
            if not _SERVER_NAME.fullmatch(name) or len(name) > MAX_SERVER_NAME_CHARACTERS:
                raise ValueError(
                    f"invalid server name {name!r}: use at most {MAX_SERVER_NAME_CHARACTERS} lower-case letters and "
                    "digits, with '_' or '-' between them"
                )
        return servers


MAX_SERVER_NAME_CHARACTERS = 32
"""The maximum length of a server's name. Names of tools begin with it."""
