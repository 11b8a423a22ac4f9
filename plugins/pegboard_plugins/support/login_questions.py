"""Asks the client to open the page of a login, and repeats the call after the login."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pegboard import AuthorizationRequiredError
from pegboard.plugin import Middleware, Rounds
from pegboard.types import Call, CallNext, ElicitUrl, Outcome

MAX_WAIT_SECONDS = 300.0
"""The limit of the time that a call waits for a login."""


class PendingLogin(NamedTuple):
    """A login that waits for the user.

    Attributes:
        title: the display name of the provider.
        url: the page to open.
        wait: an async function that returns when the user has logged in. It raises an `AuthorizationRequiredError` if
            the login failed. It is cancelled if the login takes long.
        user_code: the code to enter on the page; "" for none.
    """

    title: str
    url: str
    wait: Callable[[], Awaitable[object]]
    user_code: str = ""


class LoginQuestions(Middleware):
    """Middleware that asks the user to log in (URL elicitation) if a token source of its plugin requires a login.

    A client without URL elicitation receives the source's error, which has the link.

    Args:
        find: a function that returns the login for the `authorization_id` of an error, or None if it is not a login of
            this plugin.
    """

    innermost = True

    def __init__(self, find: Callable[[str | None], PendingLogin | None]) -> None:
        self._find = find

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Run a call. If it requires a login, ask for it, and run the call again."""
        try:
            return await call_next(call)
        except AuthorizationRequiredError as error:
            login = self._find(error.authorization_id)
            if login is None or not _can_ask(call):
                raise
            required = error
        if call.round is None or call.rounds is not None:
            await _log_in(call, login, required, call.rounds)
            return await call_next(call)
        rounds = Rounds(call.round, asyncio.current_task())
        try:
            await _log_in(call, login, required, rounds)
        except BaseException as error:  # noqa: BLE001 - `conclude` raises it again, or returns the question
            outcome: Outcome = rounds.conclude(None, error)
            return outcome
        rounds.close()
        return await call_next(call)


async def _log_in(call: Call, login: PendingLogin, required: AuthorizationRequiredError, rounds: Rounds | None) -> None:
    """Ask for a login and wait for its end.

    Raises:
        AuthorizationRequiredError: the user declined, or the login failed or takes long.
    """
    code = f" Enter the code {login.user_code} there." if login.user_code else ""
    ask = ElicitUrl(f"This tool needs your account at {login.title}. Log in on this page.{code}", login.url)
    question = ask.question()
    if rounds is not None:
        answer = await rounds.ask(question, ask.parse, call.path, f"login-{required.provider}")
    else:
        assert call.ask is not None
        answer = ask.parse(await call.ask(question.method, question.params, timeout=MAX_WAIT_SECONDS))
    if not answer.accepted:
        raise required
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await login.wait()
    except TimeoutError:
        raise required from None


def _can_ask(call: Call) -> bool:
    declared = call.client.capabilities.get("elicitation")
    has_urls = isinstance(declared, dict) and isinstance(declared.get("url"), dict)
    return has_urls and (call.ask is not None or call.round is not None)
