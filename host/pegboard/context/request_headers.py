"""HTTP headers without credentials for this host or for a proxy in front of the host."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.types.http import Headers

_NAMES = """
authorization proxy-authorization x-authorization x-original-authorization x-forwarded-authorization
x-serverless-authorization cookie cookie2 set-cookie set-cookie2 dpop
api-key apikey x-api-key x-auth-token x-access-token x-id-token x-amz-security-token
x-forwarded-access-token x-forwarded-id-token x-auth-request-access-token x-vercel-oidc-token
cf-access-jwt-assertion cf-access-client-secret cf-access-token x-goog-iap-jwt-assertion x-pomerium-jwt-assertion
x-jwt-assertion
client-cert client-cert-chain x-client-cert x-ssl-client-cert ssl-client-cert x-forwarded-client-cert
x-forwarded-tls-client-cert x-arr-clientcert
"""
CREDENTIALS = frozenset(_NAMES.split())
"""Names of headers with credentials, as used by HTTP, by gateways, and by proxies that authenticate users.

A token for this host must not reach a tool (MCP, "Token Passthrough").
"""
CREDENTIAL_PREFIXES = ("x-amzn-oidc-", "x-amzn-mtls-", "x-ms-token-", "x-ms-client-principal")


class RequestHeaders:
    """Headers without credentials."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def get(self, key: str, /) -> str | None:
        """Return the value of the first header with a name."""
        return None if is_credential(key) else self._headers.get(key)

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Return the values of all headers with a name, in order."""
        return default if is_credential(key) else self._headers.getall(key, default)


def is_credential(name: str) -> bool:
    """Return True if a header holds a credential."""
    name = name.lower()
    return name in CREDENTIALS or name.startswith(CREDENTIAL_PREFIXES)
