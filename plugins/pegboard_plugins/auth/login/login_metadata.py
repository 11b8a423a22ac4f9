"""The metadata that leads clients to the login: of the resource (RFC 9728), and of the issuer (RFC 8414)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pegboard_plugins.auth.login.settings import LoginConfig

RESOURCE_PATH = "/.well-known/oauth-protected-resource"
SERVER_PATH = "/.well-known/oauth-authorization-server"
AUTHORIZE, CONSENT_ANSWER, CALLBACK = "/login/authorize", "/login/consent", "/login/callback"
PROGRAMS = "/login/programs"
TOKEN, REVOKE, REGISTER = "/login/token", "/login/revoke", "/login/register"


def resource_metadata_path(config: LoginConfig) -> str:
    """Return the path of the metadata of the resource (RFC 9728, section 3.1)."""
    return RESOURCE_PATH + urlsplit(config.resource).path.rstrip("/")


def resource_metadata_url(config: LoginConfig) -> str:
    """Return the URL of the metadata of the resource."""
    return config.issuer + resource_metadata_path(config)


def resource_metadata(config: LoginConfig, name: str) -> dict[str, Any]:
    """Return the metadata of the resource, a server called `name`."""
    return {
        "resource": config.resource,
        "authorization_servers": [config.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        **({"scopes_supported": list(config.challenge_scopes)} if config.challenge_scopes else {}),
    }


def server_metadata(config: LoginConfig) -> dict[str, Any]:
    """Return the metadata of the authorization server."""
    issuer = config.issuer
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE,
        "token_endpoint": issuer + TOKEN,
        "registration_endpoint": issuer + REGISTER,
        "revocation_endpoint": issuer + REVOKE,
        **({"scopes_supported": list(config.scopes)} if config.scopes else {}),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": config.client_metadata_documents,
    }
