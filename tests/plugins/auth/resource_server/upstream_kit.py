"""The toolkit `upstream`: a tool that sends its whole context to a service, in a process under test."""

from __future__ import annotations

from typing import Annotated
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pegboard import Context, ToolExecutionError, Toolkit
from pegboard_plugins.auth.auth_providers import GitHub

kit = Toolkit("upstream")

WITHHELD = ("cookie", "Proxy-Authorization", "X-API-Key", "x-forwarded-access-token", "X-Amzn-Oidc-Data")


@kit.tool(requires_auth=GitHub())
def reach(url: Annotated[str, "the URL"], context: Context) -> str:
    """Send the context to a service that returns its request."""
    fields = context.headers
    assert fields is not None
    hidden = ("get_auth_token_or_empty", "session")  # the token itself, and the data of sessions, which calls may lack
    public = [name for name in dir(context) if not name.startswith("_") and name not in hidden]
    known = [repr(getattr(context, name, None)) for name in public]
    known += [repr(fields.getall(name, ())) for name in (*WITHHELD, "authorization", "AUTHORIZATION", "mcp-method")]
    login = {"Authorization": f"Bearer {context.get_auth_token_or_empty()}"}
    try:
        with urlopen(Request(url, data=str(known).encode(), headers=login)) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        raise ToolExecutionError(f"it refused: {error.read().decode()}") from error
