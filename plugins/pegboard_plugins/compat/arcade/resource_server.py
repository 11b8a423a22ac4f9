"""`ResourceServerAuth`: the feature `auth.resource_server`, as an app of Arcade configures it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pegboard_plugins.auth.resource_server import ResourceServerPlugin
from pegboard_plugins.compat.missing import missing_names

__all__ = ["AccessTokenValidationOptions", "AuthorizationServerEntry", "ResourceServerAuth"]

__getattr__ = missing_names(__name__)

_VARIABLE = "MCP_RESOURCE_SERVER_"


@dataclass
class AccessTokenValidationOptions:
    """The checks of tokens. All are required, except that clocks may differ by `leeway` seconds."""

    verify_exp: bool = True
    verify_iat: bool = True
    verify_iss: bool = True
    verify_nbf: bool = True
    leeway: int = 0


@dataclass
class AuthorizationServerEntry:
    """An authorization server whose tokens are accepted.

    Attributes:
        authorization_server_url: the URL that clients are sent to.
        issuer: the claim `iss` of its tokens.
        jwks_uri: the URL of its keys.
        algorithm: the algorithm of its signatures.
        expected_audiences: the accepted audiences; the URL of the endpoint when None.
        validation_options: the checks of its tokens.
    """

    authorization_server_url: str
    issuer: str
    jwks_uri: str
    algorithm: str = "RS256"
    expected_audiences: list[str] | None = None
    validation_options: AccessTokenValidationOptions = field(default_factory=AccessTokenValidationOptions)


class ResourceServerAuth:
    """The authentication of an app. Variables such as MCP_RESOURCE_SERVER_CANONICAL_URL replace missing arguments.

    Args:
        authorization_servers: the accepted authorization servers.
        canonical_url: the public URL of the MCP endpoint.
        cache_ttl: the age in seconds from which keys are fetched again.
        scopes_supported: the scopes that the metadata lists.
        default_challenge_scopes: the scopes that clients without a token should request.

    Raises:
        ValueError: a value is invalid, or the URL or the servers are missing.

    Attributes:
        plugin: the plugin with these settings.
    """

    def __init__(
        self,
        authorization_servers: Sequence[AuthorizationServerEntry] | None = None,
        canonical_url: str | None = None,
        cache_ttl: int = 3600,
        scopes_supported: Sequence[str] | None = None,
        default_challenge_scopes: Sequence[str] | None = None,
    ) -> None:
        values: dict[str, Any] = {
            "canonical_url": canonical_url,
            "authorization_servers": authorization_servers and [asdict(server) for server in authorization_servers],
            "scopes_supported": scopes_supported,
            "default_challenge_scopes": default_challenge_scopes,
        }
        settings = {
            name: os.environ.get(_VARIABLE + name.upper()) if value is None else value for name, value in values.items()
        }
        for name in ("canonical_url", "authorization_servers"):
            if not settings[name]:
                raise ValueError(f"{name!r} is missing: pass it, or set {_VARIABLE}{name.upper()}")
        names = {"canonical_url": "resource", "default_challenge_scopes": "challenge_scopes"}
        members = {names.get(name, name): value for name, value in settings.items() if value is not None}
        self.plugin = ResourceServerPlugin(
            ResourceServerPlugin.Config.model_validate({**members, "refresh_seconds": cache_ttl})
        )
