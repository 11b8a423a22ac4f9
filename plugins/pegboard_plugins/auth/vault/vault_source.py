"""The token source of the vault."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import Call, TokenRequest, ToolAuthorization
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.vault.file_tokens import FileTokens
from pegboard_plugins.auth.vault.kept_tokens import covers, has_expired
from pegboard_plugins.auth.vault.login_flows import OPERATOR, LoginFlows
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

    def secret(self, required: ToolAuthorization) -> str | None:
        return None if required.name in self._flows.clients else ""

    async def state(self, required: ToolAuthorization) -> str:
        """Return whether the operator has logged in."""
        return await login_problem(self._flows, required) or "the operator is logged in"

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
        raise AuthorizationRequiredError(
            required.name,
            title=title,
            scopes=required.scopes,
            url=flow.url,
            authorization_id=flow.id,
            login_command=() if key.subject else _login_command(required),
        )

    def _owner(self, call: Call) -> tuple[str, str] | None:
        """Return the issuer and the subject of a caller in the vault, or None. Both are "" for the operator."""
        if call.supplied is not None and call.supplied.user_id is not None:
            return None  # a program names the user, and no login proves the name
        return self._flows.owner(call.caller)


async def login_problem(flows: LoginFlows, required: ToolAuthorization, options: Sequence[str] = ()) -> str:
    """Return why the operator has no usable login for a requirement, or "". No other machine is asked.

    Args:
        flows: the logins.
        required: the requirement.
        options: more options for the login command in the advice.
    """
    name, tokens = required.name, flows.tokens
    if name not in flows.clients:
        return f"no login is possible before [plugins.vault.providers.{name}] exists"
    if not isinstance(tokens, FileTokens):
        return "`pegboard logins` lists the logins of the operator"
    try:
        token = await tokens.load(TokenKey(*OPERATOR, name)) if await tokens.exists() else None
    except VaultError as error:
        return str(error)
    advice = f"run `{shlex.join(['pegboard', *_login_command(required), *options])}`"
    if token is None or (token.refresh_token is None and has_expired(token)):
        return f"the operator is not logged in: {advice}"
    return "" if covers(token, required.scopes) else f"the login of the operator lacks scopes: {advice}"


def _login_command(required: ToolAuthorization) -> tuple[str, ...]:
    scopes = ("--scopes", *required.scopes) if required.scopes else ()
    return "login", required.name, *scopes
