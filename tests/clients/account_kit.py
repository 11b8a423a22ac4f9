"""The toolkit `account`: a tool that proves whose token the vault has supplied, in a process under test."""

from __future__ import annotations

import jwt

from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import OAuth2

kit = Toolkit("account")


@kit.tool(requires_auth=OAuth2(id="acme", scopes=["work"]))
def show(context: Context) -> str:
    """Verify the token as an API of the provider does, and return its issuer, subject and scopes."""
    token = context.get_auth_token_or_empty()
    issuer = jwt.decode(token, options={"verify_signature": False})["iss"]
    key = jwt.PyJWKClient(f"{issuer}/jwks").get_signing_key_from_jwt(token)
    claims = jwt.decode(token, key, algorithms=["RS256"], options={"verify_aud": False})
    return f"{claims['iss']} {claims['sub']} {claims['scope']}"
