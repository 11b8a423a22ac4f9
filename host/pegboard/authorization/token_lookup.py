"""The lookup of the token that a tool requires, before the tool runs. No token is stored here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pegboard.context.requirements import user_of
from pegboard.errors import AuthorizationRequiredError
from pegboard.messages.error_fields import presentable
from pegboard.plugin.secrets import TokenSource
from pegboard.types.authorization import TokenRequest, ToolAuthorization
from pegboard.types.callers import Authorization, Supplied
from pegboard.types.calls import Call

if TYPE_CHECKING:
    from pegboard.calls.served_item import ServedItem

logger = logging.getLogger("pegboard")


TokenSources = Sequence[tuple[str, TokenSource]]
"""Token sources in the order of lookup, each with the name of its plugin."""


async def with_token(
    bound: ServedItem, required: ToolAuthorization, call: Call, sources: TokenSources, seconds: float, hint: str
) -> Call:
    """Return the call with the token that its tool requires: from the request, else from the first source that has a
    token.

    Args:
        bound: the tool.
        required: the authorization that the tool requires.
        call: the call.
        sources: the token sources.
        seconds: the time limit of each source in seconds.
        hint: advice on setting the token. Only callers on this machine receive the hint.

    Raises:
        AuthorizationRequiredError: no source has a token.
    """
    supplied = call.supplied or Supplied()
    if supplied.authorization is not None and supplied.authorization.token:
        return call
    hint = hint if _is_of_this_machine(call) else ""
    request = TokenRequest(required, bound.name, user_of(bound.owner, call), call)
    try:
        authorization = await _find(request, sources, seconds, hint)
    except AuthorizationRequiredError as error:
        if supplied.lenient:
            return call
        whose = f"{required.name} (scopes: {' '.join(required.scopes) or 'none'})"
        why = f"{error.status}; {error.hint}" if error.hint else error.status
        logger.log(
            logging.INFO if error.status == "pending" else logging.WARNING,  # the login of a user is no problem
            "%s requires a token of %s, and %s has none: %s",
            bound.name,
            whose,
            "the caller" if request.user_id is None else f"the user {request.user_id!r}",
            why,
            extra={"call": call},
        )
        raise
    return call._replace(supplied=supplied._replace(authorization=authorization))


async def token_of(request: TokenRequest, sources: TokenSources, seconds: float) -> Authorization:
    """Return the token that a request supplies, else the first token of a source.

    Args:
        request: the request.
        sources: the token sources.
        seconds: the time limit of each source in seconds.

    Raises:
        AuthorizationRequiredError: no source has a token.
    """
    supplied = request.call.supplied
    if supplied is not None and supplied.authorization is not None and supplied.authorization.token:
        return supplied.authorization
    return await _find(request, sources, seconds, "")


def _is_of_this_machine(call: Call) -> bool:
    """Return True if a call comes from this machine's user and names no other user."""
    named = call.caller.subject or (None if call.supplied is None else call.supplied.user_id)
    return call.caller.trusted and named is None


async def _find(request: TokenRequest, sources: TokenSources, seconds: float, hint: str) -> Authorization:
    wanted: AuthorizationRequiredError | None = None
    failed = False
    for name, source in sources:
        try:
            if (authorization := await _asked(source, request, seconds)) is not None:
                return authorization
        except AuthorizationRequiredError as error:
            wanted = wanted or error
        except _FailedError as error:
            about = {"call": request.call}
            logger.error(
                "the token source %s failed for %s: %s",
                name,
                request.tool,
                error,
                exc_info=error.__cause__,
                extra=about,
            )
            failed = True
    if wanted is not None:
        raise wanted
    required = request.required
    title = required.provider.title if required.provider_id else None
    raise AuthorizationRequiredError(
        required.name,
        scopes=required.scopes,
        status="failed" if failed else "not_started",
        title=title,
        hint=hint,
    )


class _FailedError(Exception):
    """A token source raised an exception, or returned an invalid value."""


async def _asked(source: TokenSource, request: TokenRequest, seconds: float) -> Authorization | None:
    """Return the token of a source, or None if the source has no token.

    Raises:
        AuthorizationRequiredError: the source requires authorization.
        _FailedError: the source failed.
        asyncio.CancelledError: the call was cancelled.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            authorization: Any = await source.token(request)
    except BaseException as error:  # an exception of a plugin fails the plugin alone
        if isinstance(error, AuthorizationRequiredError) and presentable(error):
            raise
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
            raise
        if limit.expired():
            raise _FailedError(f"it did not return within {seconds:g} seconds") from None
        raise _FailedError(f"it raised {type(error).__name__}") from error
    if authorization is None or (isinstance(authorization, Authorization) and authorization.token == ""):
        return None
    if not isinstance(authorization, Authorization) or not isinstance(authorization.token, str):
        raise _FailedError(f"it returned {type(authorization).__name__}, not an Authorization with a token")
    return authorization
