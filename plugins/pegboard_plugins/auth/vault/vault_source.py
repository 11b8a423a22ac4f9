"""The token source of the vault."""

from __future__ import annotations

import logging

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import Call, TokenRequest
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultError

logger = logging.getLogger("pegboard.plugins.vault")
_ONLY_OPERATOR = (
    "%s: the vault has tokens of the operator only; a section [plugins.vault.callers] adds users of the host"
)


class VaultSource(TokenSource):
    """Supplies the tokens of the operator and of known callers.

    A call without a token starts a login and fails with its link.

    Args:
        flows: the logins.
    """

    def __init__(self, flows: LoginFlows) -> None:
        self._flows = flows

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token for a requirement. Callers from the network receive only their own.

        Raises:
            AuthorizationRequiredError: the user must log in, or the vault or the provider fails at present.
        """
        required = request.required
        client = self._flows.clients.get(required.name)
        owner = self._owner(request.call)
        if client is None:
            return None
        if owner is None:
            if self._flows.issuer is None:
                logger.warning(_ONLY_OPERATOR, request.tool, extra={"call": request.call})
            return None
        key = TokenKey(*owner, required.name)
        try:
            if (token := await self._flows.tokens.fresh(key, required.scopes)) is not None:
                user_info = {"name": token.account} if token.account else {}
                renewal = "" if key.subject else f"Log in again: run `pegboard login {required.name}`."
                return Authorization(token.access_token, user_info, token.scopes, renewal)
            flow = await self._flows.start(key, required.scopes)
        except (LoginFailedError, VaultError) as error:
            raise AuthorizationRequiredError(
                required.name,
                title=client.facts.title,
                scopes=required.scopes,
                status="failed",
                developer_message=str(error),
            ) from None
        title = client.facts.title + (f" (enter the code {flow.user_code})" if flow.user_code else "")
        scopes = ("--scopes", *required.scopes) if required.scopes else ()
        raise AuthorizationRequiredError(
            required.name,
            title=title,
            scopes=required.scopes,
            url=flow.url,
            authorization_id=flow.id,
            login_command=() if key.subject else ("login", required.name, *scopes),
        )

    def _owner(self, call: Call) -> tuple[str, str] | None:
        """Return the issuer and the subject of a caller in the vault, or None. Both are "" for the operator."""
        if call.supplied is not None and call.supplied.user_id is not None:
            return None  # a program names the user, and no login proves the name
        return self._flows.owner(call.caller)
