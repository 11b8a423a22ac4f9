"""The toolkit `exchanging`: a tool that returns the claims of its token, in a process under test."""

from __future__ import annotations

from typing import Any

import jwt

from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import OAuth2

kit = Toolkit("exchanging")


@kit.tool
def whoami(context: Context) -> str | None:
    """Return the user."""
    return context.user_id


@kit.tool(requires_auth=OAuth2(id="orders", scopes=["orders.read"]))
def claims(context: Context) -> dict[str, Any]:
    """Return the claims of the token."""
    token = context.get_auth_token_or_empty()
    payload: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return {name: payload.get(name) for name in ("iss", "sub", "aud", "scope")}
