"""The toolkit `network`: a tool that returns its token, in a process under test."""

from __future__ import annotations

from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import OAuth2

kit = Toolkit("network")


@kit.tool(requires_auth=OAuth2(id="acme", scopes=["read", "write"]))
def use(context: Context) -> str:
    """Return the token."""
    return context.get_auth_token_or_empty()
