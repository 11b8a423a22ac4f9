"""The requests to the Arcade cloud: `POST /v1/auth/authorize` and `GET /v1/auth/status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from pegboard_client import JsonRequests, LoginFailedError, is_access_token, names_this_machine

if TYPE_CHECKING:
    from pegboard_client import AiohttpExchange

STATUS_SECONDS = 20
"""The time that one request for a status waits for its end. It is shorter than the limit of a request."""
UNKNOWN_PROVIDER = frozenset((400, 404))
"""The statuses of a request for a provider that the account does not have."""


class CloudAuthorization(NamedTuple):
    """The authorization of a user at a provider.

    Attributes:
        id: its id in the cloud.
        status: "not_started", "pending", "completed" or "failed".
        url: the page on which the user authorizes; None if there is none.
        token: the token; "" if there is none.
        user_info: facts about the user's account at the provider.
        scopes: the scopes of the token.
    """

    id: str
    status: str
    url: str | None
    token: str
    user_info: Mapping[str, Any]
    scopes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the id and the status. The token must not reach logs."""
        return f"CloudAuthorization(id={self.id!r}, status={self.status!r})"


class CloudApi:
    """The API of one account.

    Args:
        url: the address.
        key: the API key.
    """

    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._exchange: AiohttpExchange | None = None

    async def authorize(
        self, user: str, scopes: Sequence[str], name: str, *, is_own: bool
    ) -> CloudAuthorization | None:
        """Return the authorization of a user, which may be pending. Return None if the provider is unknown.

        Args:
            user: the user's id in the cloud.
            scopes: the scopes that the token must have.
            name: the id of a provider that Arcade describes, or the `id` of a registration in the account.
            is_own: True for the `id` of a registration.

        Raises:
            LoginFailedError: the cloud cannot be reached, or refuses the request.
        """
        # never both: the operator grants a toolkit one name, and the cloud could return the token of the other
        required = {"provider_type": "oauth2", "oauth2": {"scopes": list(scopes)}}
        required["id" if is_own else "provider_id"] = name
        sent = {"auth_requirement": required, "user_id": user}
        address = f"{self._url}/v1/auth/authorize"
        status, document = await self._requests().post_json(address, sent, {"Authorization": self._key})
        if status in UNKNOWN_PROVIDER:
            return None
        if status != 200 or document is None:
            reason = "the API key is not valid" if status == 401 else f"status {status}"
            raise LoginFailedError(f"the Arcade cloud refuses the authorization: {reason}.")
        return self._authorization(document)

    async def status(self, authorization_id: str) -> CloudAuthorization | None:
        """Return an authorization when it is completed, or after a while. Return None if it is unknown to the cloud."""
        query = urlencode({"id": authorization_id, "wait": STATUS_SECONDS})
        address = f"{self._url}/v1/auth/status?{query}"
        document = await self._requests().get(address, {"Authorization": self._key})
        return None if document is None else self._authorization(document)

    async def close(self) -> None:
        if self._exchange is not None:
            await self._exchange.close()

    def _requests(self) -> JsonRequests:
        if self._exchange is None:
            from pegboard_client import AiohttpExchange  # a start of the host does not need it

            self._exchange = AiohttpExchange()
        return JsonRequests(self._exchange, allows_loopback=names_this_machine(self._url))

    def _authorization(self, document: Mapping[str, Any]) -> CloudAuthorization:
        context = document.get("context")
        context = context if isinstance(context, dict) else {}
        token, user_info, scopes = context.get("token"), context.get("user_info"), document.get("scopes")
        url, authorization_id = document.get("url"), document.get("id")
        if isinstance(url, str) and url:
            self._requests().check(url)
        return CloudAuthorization(
            id=authorization_id if isinstance(authorization_id, str) else "",
            status=str(document.get("status") or "pending"),
            url=url if isinstance(url, str) and url else None,
            token=token if is_access_token(token) else "",
            user_info=user_info if isinstance(user_info, dict) else {},
            scopes=tuple(map(str, scopes)) if isinstance(scopes, list) else (),
        )
