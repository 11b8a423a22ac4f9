"""The settings of `[toolkits.github]`."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess

__all__ = ["GithubConfig", "is_loopback"]


class GithubConfig(PluginConfig):
    """The GitHub server, permissions and limits of the tools."""

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
    timeout_seconds: Annotated[float, Field(gt=0, le=600, description="the time limit of one request")] = 30.0
    max_answer_bytes: Annotated[
        int, Field(ge=65_536, le=256 << 20, description="the maximum size of a response of GitHub, in bytes")
    ] = 16 << 20
    max_file_bytes: Annotated[
        int, Field(ge=1024, le=100 << 20, description="the maximum size of a fetched file, in bytes")
    ] = 10 << 20
    max_log_bytes: Annotated[
        int, Field(ge=65_536, le=1 << 30, description="the maximum size of a job log to search, in bytes")
    ] = 64 << 20
    cache_bytes: Annotated[
        int,
        Field(ge=0, le=1 << 30, description="the size of the cache of responses in bytes; 0 to disable it"),
    ] = 8 << 20

    @field_validator("base_url")
    @classmethod
    def _is_an_api(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError("it is not a valid URL: use a URL such as https://github.example.com/api/v3") from None
        if not host or port == 0 or not url.isascii() or not url.isprintable() or set(url) & set(" \\%"):
            raise ValueError("it has no valid host: use a URL such as https://github.example.com/api/v3")
        if parts.username is not None or parts.password is not None or set(url) & set("?#"):
            raise ValueError(
                "it must not have a user, password, query or fragment: set the token as the secret GITHUB_TOKEN"
            )
        if {".", ".."} & set(parts.path.split("/")) or "//" in parts.path:
            raise ValueError("its path contains '.', '..' or '//': use a path such as /api/v3")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
            raise ValueError("it must begin with https:// so that the token is encrypted in transit")
        if host.rstrip(".") in ("github.com", "www.github.com"):
            raise ValueError("this is the web site: use https://api.github.com")
        return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Return True if a host name or address is this machine."""
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
