"""The token source of the Arcade cloud."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import TokenRequest, ToolAuthorization
from pegboard_client import LoginFailedError
from pegboard_plugins.support.latest_entries import LatestEntries
from pegboard_plugins.support.login_questions import PendingLogin

if TYPE_CHECKING:
    from pegboard_plugins.auth.arcade_cloud import ArcadeCloudConfig
    from pegboard_plugins.auth.arcade_cloud.cloud_api import CloudApi, CloudAuthorization

MAX_PENDING_AUTHORIZATIONS = 1000
"""The limit of remembered authorizations that wait for a user. The oldest are forgotten first."""
PAUSE_SECONDS = 1.0
"""The pause between two requests for a status, which wait in the cloud."""


class CloudTokens(TokenSource):
    """Supplies the tokens that the cloud has for a user. A call without a token fails with the link of the cloud.

    Args:
        config: the settings.
        api: the API of the account.
    """

    def __init__(self, config: ArcadeCloudConfig, api: CloudApi) -> None:
        self._config = config
        self._api = api
        self._pending: LatestEntries[str, PendingLogin] = LatestEntries(MAX_PENDING_AUTHORIZATIONS)

    def secret(self, required: ToolAuthorization) -> str | None:
        return None if required.name in (self._config.providers or [required.name]) else ""

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token for a requirement, or None if the cloud does not know its provider or the user.

        Raises:
            AuthorizationRequiredError: the user must authorize, the operator has no user id, or the cloud cannot be
                reached or refuses the request.
        """
        required = request.required
        user = None if self.secret(required) == "" else self._user(request)
        if user is None:
            return None
        try:
            is_own = required.name != required.provider.id
            authorization = await self._api.authorize(user, required.scopes, required.name, is_own=is_own)
        except LoginFailedError as error:
            raise _failed(required, str(error)) from None
        if authorization is None:
            return None
        if authorization.status == "completed" and authorization.token:
            return Authorization(authorization.token, authorization.user_info, authorization.scopes or required.scopes)
        if authorization.status == "failed" or authorization.url is None or not authorization.id:
            raise _failed(required)
        self._remember(authorization, authorization.url, required)
        raise AuthorizationRequiredError(
            required.name,
            title=required.provider.title,
            scopes=required.scopes,
            url=authorization.url,
            authorization_id=authorization.id,
        )

    def pending(self, authorization_id: str | None) -> PendingLogin | None:
        """Return the authorization with an id, as a question to the user."""
        return self._pending.get(authorization_id or "")

    async def aclose(self) -> None:
        await self._api.close()

    def _remember(self, authorization: CloudAuthorization, url: str, required: ToolAuthorization) -> None:
        async def wait() -> None:
            try:
                while True:
                    now = await self._api.status(authorization.id)
                    if now is None or now.status != "pending":
                        break
                    await asyncio.sleep(PAUSE_SECONDS)
            except LoginFailedError as error:
                raise _failed(required, str(error)) from None
            if now is None or now.status != "completed":
                raise _failed(required)

        self._pending.keep(authorization.id, PendingLogin(title=required.provider.title, url=url, wait=wait))

    def _user(self, request: TokenRequest) -> str | None:
        """Return the user id of a caller in the cloud, or None if the caller has none."""
        call = request.call
        if call.supplied is not None and call.supplied.user_id is not None:
            return None  # a program names the user, and no issuer proves the name
        caller = call.caller
        if caller.subject is None:
            return self._operator(request) if caller.trusted else None
        if self._config.issuer is None or caller.issuer != self._config.issuer:
            return None
        if self._config.user_claim == "sub":
            return caller.subject
        claims = caller.extra or {}
        email = claims.get("email")
        return email if isinstance(email, str) and email and claims.get("email_verified") is True else None

    def _operator(self, request: TokenRequest) -> str:
        user = self._config.user or request.user_id
        if not user:
            raise AuthorizationRequiredError(
                request.required.name,
                title=request.required.provider.title,
                scopes=request.required.scopes,
                hint="the operator has no user id at Arcade; set [plugins.arcade_cloud] user",
            )
        return user


def _failed(required: ToolAuthorization, reason: str | None = None) -> AuthorizationRequiredError:
    return AuthorizationRequiredError(
        required.name,
        title=required.provider.title,
        scopes=required.scopes,
        status="failed",
        developer_message=reason,
    )
