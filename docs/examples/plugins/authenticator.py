"""Authenticates callers of the MCP endpoint by an API key: `Authorization: ApiKey <key>`."""

from __future__ import annotations

from collections.abc import Iterable
from hmac import compare_digest

from pydantic import SecretStr

from pegboard import PluginConfig
from pegboard.plugin import Authenticator, Plugin, hookimpl
from pegboard.types import Caller, Request, Response


class ApiKeysConfig(PluginConfig):
    """The settings in `[plugins.api_keys]`."""

    keys: dict[str, SecretStr]
    """The key of each user."""


class ApiKeysAuthenticator(Authenticator):
    """Admits requests with a known key."""

    policy = "mcp"

    def __init__(self, keys: dict[str, SecretStr]) -> None:
        self._keys = {name: key.get_secret_value().encode() for name, key in keys.items()}

    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the user of the key, or a response with status 401."""
        scheme, _, key = (request.headers.get("Authorization") or "").partition(" ")
        if scheme.lower() == "apikey":
            given = key.encode(errors="replace")
            found = [name for name, known in self._keys.items() if compare_digest(known, given)]
            if found:
                return Caller(subject=found[0])
        return Response(status=401, headers={"WWW-Authenticate": "ApiKey"})

    def complete(self, response: Response) -> Response:
        """Replace the challenge of MCP, because no bearer token would help: this is the only authenticator."""
        return response._replace(headers={**response.headers, "WWW-Authenticate": "ApiKey"})


class ApiKeysPlugin(Plugin[ApiKeysConfig]):
    """Enabled by `[plugins.api_keys]`."""

    Config = ApiKeysConfig

    @hookimpl
    def register_authenticators(self) -> Iterable[Authenticator]:
        """Return the authenticator."""
        return [ApiKeysAuthenticator(self.config.keys)]
