"""The settings of `[plugins.http]`."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from pegboard_plugins.support.loopback import is_loopback


def _file_mode(value: Any) -> Any:
    """Return a file mode as a number. A string is octal."""
    if isinstance(value, str):
        value = int(value, 8) if re.fullmatch("(0o)?[0-7]+", value) else -1
    if isinstance(value, int) and not 0 <= value <= 0o777:
        raise ValueError('expected a file mode in octal, such as "0o600"')
    return value


def _octal(mode: int | str) -> str:
    return f"0o{_file_mode(mode):03o}"


def _is_owners(mode: int | str) -> bool:
    return not _file_mode(mode) & 0o077


class HttpConfig(PluginConfig):
    """The settings `[plugins.http]`.

    Sockets that systemd passes to the server (`LISTEN_FDS`) replace `host`, `port` and `socket`.

    For the ASGI application of `Host.asgi`, the addresses, TLS, headers and idle connections are the ASGI server's, and
    `loopback_is_operator` and `drain_seconds` have no effect. It serves other machines only under the names in
    `allowed_hosts` and the host of `resource`.

    Attributes:
        host: the address to listen on; any address but loopback opens the server to other machines.
        port: the port; 0 for any free port.
        socket: the path of a Unix socket, instead of host and port.
        workers: the number of processes that serve; 0 for one on each usable core. More than one require `[plugins.mcp]
            state_keys`, and sessions that are not stored in memory. A program and `Host.asgi` ignore it.
        socket_mode: the permissions of the socket in octal, such as `"0o660"`; by default only its owner may connect.
        certificate: a file with the TLS certificate chain (PEM); with it the server speaks HTTPS.
        key: a file with the certificate's private key, if the certificate's file does not hold it.
        allowed_hosts: more names of the server, such as `tools.example.com`; "*" allows any name. Loopback names and
            the host of `resource` in `[plugins.resource_server]` or `[plugins.login]` are always allowed; beyond
            loopback, addresses and the name of the machine too.
        cors_origins: web origins whose pages may use the server, in addition to its own, such as `https://app.example`;
            "*" for all, without credentials.
        cors_credentials: allow pages of `cors_origins` to send cookies and other credentials.
        cors_methods: the methods that pages of `cors_origins` may use.
        cors_headers: the request headers that pages of `cors_origins` may send, in addition to those of MCP.
        trusted_proxies: addresses or networks of proxies whose forwarded headers are trusted; "unix" for every client
            of `socket`. With any, the host assumes that other machines can reach the server.
        loopback_is_operator: treat a request as that of the operator if it arrives at a loopback address, names it as
            its Host, and has no header of a proxy or a web page. Behind a proxy that adds no header, such as nginx with
            `proxy_pass` alone, every client gets the rights of the operator.
        max_body_bytes: the largest request body; larger bodies get 413.
        max_header_bytes: the largest header field, and so the longest token; all fields of a request may have four
            times as many bytes.
        max_requests: the number of requests served at once; further requests get 503.
        max_streams: the number of open event streams, which do not count as requests.
        header_seconds: how long a client may take to send the headers of a request.
        body_seconds: how long a client may take to send the body of a request.
        send_seconds: how long a client may read nothing of a response before its connection is closed.
        call_seconds: how long a request may take before its response begins; 0 for no limit.
        idle_seconds: how long a connection may stay open between requests.
        stream_ping_seconds: the interval of keep-alive comments on a silent event stream.
        drain_seconds: how long the server still accepts requests after SIGTERM, before `[host] grace_seconds` begin.
            Meanwhile `/readyz` answers 503, and every response closes its connection.
    """

    host: Annotated[
        str,
        Field(min_length=1),
        WidensAccess("listens beyond loopback", unless=is_loopback),
    ] = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    socket: Path | None = None
    workers: int = Field(default=1, ge=0, le=1024)
    socket_mode: Annotated[
        int,
        WidensAccess("lets other users connect", unless=_is_owners),
        BeforeValidator(_file_mode),
        PlainSerializer(_octal),
        WithJsonSchema({"type": ["integer", "string"]}),
    ] = 0o600
    certificate: Path | None = None
    key: Path | None = None
    allowed_hosts: Annotated[tuple[str, ...], WidensAccess("answers under these names")] = ()
    cors_origins: Annotated[tuple[str, ...] | str, WidensAccess("lets pages of these origins call")] = ()
    cors_credentials: Annotated[bool, WidensAccess("lets those pages send cookies")] = False
    cors_methods: tuple[str, ...] = ("GET", "POST", "DELETE")
    cors_headers: tuple[str, ...] = ()
    trusted_proxies: Annotated[tuple[str, ...], WidensAccess("trusts their forwarded headers")] = ()
    loopback_is_operator: Annotated[bool, WidensAccess("treats every program of this machine as the operator")] = False
    max_body_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    max_header_bytes: int = Field(default=32 * 1024, ge=1024)
    max_requests: int = Field(default=1000, ge=1)
    max_streams: int = Field(default=10_000, ge=1)
    header_seconds: float = Field(default=10, gt=0)
    body_seconds: float = Field(default=30, gt=0)
    send_seconds: float = Field(default=30, gt=0)
    call_seconds: float = Field(default=0, ge=0)
    idle_seconds: float = Field(default=75, gt=0)
    stream_ping_seconds: float = Field(default=15, gt=0)
    drain_seconds: float = Field(default=0, ge=0, le=3600)

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for network in networks:
            if network != "unix":
                ip_network(network, strict=False)
        return networks

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        from pegboard_plugins.transports.http.authority import parse_authority

        for host in hosts:
            if host != "*" and parse_authority(host) is None:
                raise ValueError(f'"{host}" is not a host: use a name such as tools.example.com, or an IP address')
        return hosts

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _parse_origins(cls, origins: Any) -> Any:
        """Return origins as a list. A variable separates them by commas."""
        return origins.replace(" ", "").split(",") if isinstance(origins, str) and "," in origins else origins

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...] | str) -> tuple[str, ...] | str:
        from pegboard_plugins.transports.http.authority import parse_origin

        for origin in (origins,) if isinstance(origins, str) else origins:
            if origin and origin != "*" and parse_origin(origin.removesuffix("/")) is None:
                raise ValueError(
                    f'"{origin}" is not an origin: use a URL such as https://app.example or http://localhost:3000'
                )
        return origins

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.key is not None and self.certificate is None:
            raise ValueError("key requires a certificate: set certificate as well")
        if "unix" in self.trusted_proxies and self.socket is None:
            raise ValueError('"unix" in trusted_proxies requires a socket: set socket as well')
        if "*" in self.origins and self.cors_credentials:
            raise ValueError("cors_credentials requires named origins: replace * in cors_origins with the origins")
        return self

    @property
    def origins(self) -> frozenset[str]:
        origins = (self.cors_origins,) if isinstance(self.cors_origins, str) else self.cors_origins
        return frozenset(origin.removesuffix("/") for origin in origins if origin)
