"""The settings of `[toolkits.github]`."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess

__all__ = ["GithubConfig", "is_loopback"]


class GithubConfig(PluginConfig):
    """Which GitHub, and how far the tools may go."""

    base_url: Annotated[
        str,
        Field(description="GitHub's REST API; of an Enterprise Server https://HOST/api/v3"),
        WidensAccess("sends the token there"),
    ] = "https://api.github.com"
    write: Annotated[
        bool,
        Field(description="offers the tools that create, change, merge and delete"),
        WidensAccess("changes things on GitHub"),
    ] = False
    timeout_seconds: Annotated[float, Field(gt=0, le=600, description="how long one request may take")] = 30.0
    max_answer_bytes: Annotated[
        int, Field(ge=65_536, le=256 << 20, description="the largest answer of GitHub that is read, in bytes")
    ] = 16 << 20
    max_file_bytes: Annotated[
        int, Field(ge=1024, le=100 << 20, description="the largest file that is fetched, in bytes")
    ] = 10 << 20
    max_log_bytes: Annotated[
        int, Field(ge=65_536, le=1 << 30, description="the longest job log that is looked through, in bytes")
    ] = 64 << 20
    cache_bytes: Annotated[
        int,
        Field(
            ge=0, le=1 << 30, description="how much is kept of answers that GitHub may say are unchanged; 0 for none"
        ),
    ] = 8 << 20

    @field_validator("base_url")
    @classmethod
    def _is_an_api(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError("it is not a URL") from None
        if not host or port == 0 or not url.isascii() or not url.isprintable() or set(url) & set(" \\%"):
            raise ValueError("it is not a URL of a host, such as https://github.example.com/api/v3")
        if parts.username is not None or parts.password is not None or set(url) & set("?#"):
            raise ValueError("it takes no user, password, query or fragment; the token is the secret GITHUB_TOKEN")
        if {".", ".."} & set(parts.path.split("/")) or "//" in parts.path:
            raise ValueError("its path goes astray")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
            raise ValueError("it must begin with https://, or the token would travel in the clear")
        if host.rstrip(".") in ("github.com", "www.github.com"):
            raise ValueError("that is the web site; the API is https://api.github.com")
        return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Return True if a host name or address means this machine."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
