"""Asks the client to open the page of a login, and repeats the call after the login."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pegboard import AuthorizationRequiredError, RetryableToolError
from pegboard.plugin import Middleware, Rounds
from pegboard.types import Call, CallNext, ElicitUrl, Outcome

DEFAULT_WAIT_SECONDS = 20.0
"""The time for which a request waits for a login. Many clients give up after a minute."""
MAX_WAIT_SECONDS = 300.0
"""The time for which a call inside the process waits for a login: its login ends with the process."""


class PendingLogin(NamedTuple):
    """A login that waits for the user.

    Attributes:
        title: the display name of the provider.
        url: the page to open.
        wait: an async function that returns when the user has logged in. It raises an `AuthorizationRequiredError` if
            the login failed. It is cancelled if the login takes long.
        user_code: the code to enter on the page; "" for none.
        ends_at: the time of `time.monotonic` at which the page ends; None if that is unknown.
        seconds: the time for which a request waits; None for the time of the plugin.
    """

    title: str
    url: str
    wait: Callable[[], Awaitable[object]]
    user_code: str = ""
    ends_at: float | None = None
    seconds: float | None = None


class LoginQuestions(Middleware):
    """Middleware that asks the user to log in (URL elicitation) if a token source of its plugin requires a login.

    A client without URL elicitation receives the source's error, which contains the link.

    Args:
        find: a function that returns the login for the `authorization_id` of an error, or None if it is not a login of
            this plugin.
        seconds: the time for which a request waits for the user. Then the client repeats the request, and the page is
            not opened again: in 2026-07-28 the result has only the state of the request, in sessions it is an error.
    """

    innermost = True

    def __init__(
        self, find: Callable[[str | None], PendingLogin | None], seconds: float = DEFAULT_WAIT_SECONDS
    ) -> None:
        self._find = find
        self._seconds = seconds
        self._opened: set[str] = set()
        """The ids of logins whose page a session has opened."""

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
            await self._log_in(call, login, required, call.rounds)
            return await call_next(call)
        rounds = Rounds(call.round, asyncio.current_task())
        try:
            await self._log_in(call, login, required, rounds)
        except BaseException as error:  # noqa: BLE001 - `conclude` raises it again, or returns the question
            outcome: Outcome = rounds.conclude(None, error)
            return outcome
        rounds.close()
        return await call_next(call)

    on_get_prompt = on_call_tool
    on_read_resource = on_call_tool

    async def _log_in(
        self, call: Call, login: PendingLogin, required: AuthorizationRequiredError, rounds: Rounds | None
    ) -> None:
        """Ask for a login and wait for its end.

        Raises:
            AuthorizationRequiredError: the user declined, or the login failed.
            RetryableToolError: the user has not logged in yet.
        """
        seconds = self._seconds if login.seconds is None else login.seconds
        try:
            async with asyncio.timeout(seconds if call.transport else MAX_WAIT_SECONDS):
                await self._ask(call, login, required, rounds)
                await login.wait()
        except TimeoutError:
            if not call.transport:
                raise required from None
            if rounds is not None:
                await rounds.pause()
            raise _not_yet(login) from None

    async def _ask(
        self, call: Call, login: PendingLogin, required: AuthorizationRequiredError, rounds: Rounds | None
    ) -> None:
        """Ask the client to open the page, once for each login."""
        name = required.authorization_id or ""
        code = f" Enter the code {login.user_code} there." if login.user_code else ""
        ask = ElicitUrl(f"This call needs your account at {login.title}. Log in on this page.{code}", login.url)
        question = ask.question()
        if rounds is not None:
            answer = await rounds.ask(question, ask.parse, call.path, f"login-{name}")
        elif name in self._opened:
            return
        else:
            assert call.ask is not None
            answer = ask.parse(await call.ask(question.method, question.params, timeout=MAX_WAIT_SECONDS))
        if not answer.accepted:
            raise required
        if rounds is None:
            self._opened = {name, *filter(self._find, self._opened)}


def _not_yet(login: PendingLogin) -> RetryableToolError:
    minutes = (
        "" if login.ends_at is None else f" for {max(1, int((login.ends_at - time.monotonic()) / 60))} more minutes"
    )
    return RetryableToolError(
        f"Not logged in yet. Call again; the page is open{minutes}.",
        additional_prompt_content=f"If the user has closed the page, show this address as it is: {login.url}",
    )


def _can_ask(call: Call) -> bool:
    declared = call.client.capabilities.get("elicitation")
    has_urls = isinstance(declared, dict) and isinstance(declared.get("url"), dict)
    return has_urls and (call.ask is not None or call.round is not None)
