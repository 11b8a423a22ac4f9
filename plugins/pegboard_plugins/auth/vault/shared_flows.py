"""Logins that wait in several processes.

Each process knows the logins of the others, and fetches their pages from them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from pegboard import RetryableToolError
from pegboard.plugin import Bus, decode, encode
from pegboard.types import Request, Response, header_fields
from pegboard_client import LoginFailedError, message_page
from pegboard_plugins.auth.vault.login_flows import MAX_PAGE_SECONDS, LoginFlow
from pegboard_plugins.auth.vault.vault_store import TokenKey
from pegboard_plugins.support.bus_requests import BusRequests

if TYPE_CHECKING:
    from pegboard_plugins.auth.vault.caller_pages import CallerPages

logger = logging.getLogger("pegboard.plugins.vault")

WAITING, ENDED, PAGES = "vault/waiting", "vault/ended", "vault/pages"
"""The topics of the bus."""
VERSION = 1
"""The version of the messages. Those of another version are ignored."""
HAS_ENDED = "the server that served its page has ended; start it again."
_ANSWER_SECONDS = MAX_PAGE_SECONDS + 5


class SharedFlows:
    """Tells the other processes of the logins of this process, and keeps theirs among its own.

    Args:
        bus: the bus.
        flows: the logins that wait, by id. Those of other processes have no task.
        pages: the pages of callers from the network; None if they cannot log in.
    """

    def __init__(self, bus: Bus, flows: MutableMapping[str, LoginFlow], pages: CallerPages | None) -> None:
        self.bus = bus
        self._flows = flows
        self._pages = pages
        self._requests = BusRequests(bus, PAGES, self._answer)
        self._ends = [bus.listen(WAITING, self._add), bus.listen(ENDED, self._end), self._requests.close]
        if pages is not None:
            pages.elsewhere = self.elsewhere

    async def tell_waiting(self, flow: LoginFlow) -> None:
        """Tell the other processes that a login waits."""
        left = flow.ends_at - monotonic()
        page = [flow.url, flow.user_code, left, flow.seconds]
        await self._tell(WAITING, [VERSION, flow.id, list(flow.key), flow.title, list(flow.scopes), *page])

    async def tell_ended(self, flow_id: str, outcome: str, problem: str = "") -> None:
        """Tell the other processes how a login has ended: its outcome, or its problem."""
        await self._tell(ENDED, [VERSION, flow_id, outcome, problem])

    async def _tell(self, topic: str, members: list[Any]) -> None:
        with suppress(ConnectionError):  # they start a login of their own
            await self.bus.send(topic, encode(members))

    def _add(self, body: bytes, sender: int) -> None:
        version, *members = decode(body)
        if version != VERSION:
            return
        flow_id, key, title, scopes, url, user_code, left, seconds = members
        flow = LoginFlow(TokenKey(*key), title, scopes, seconds)
        flow.id = flow_id
        flow.url = url
        flow.user_code = user_code
        flow.ends_at = monotonic() + left
        flow.shown.set()
        self._flows[flow_id] = flow
        asyncio.get_running_loop().call_later(left, self._finish, flow_id, "", HAS_ENDED)

    def _end(self, body: bytes, sender: int) -> None:
        version, *members = decode(body)
        if version == VERSION:
            self._finish(*members)

    def _finish(self, flow_id: str, outcome: str, problem: str) -> None:
        flow = self._flows.get(flow_id)
        if flow is None or flow.task is not None or flow.done.done():
            return
        del self._flows[flow_id]
        if not problem:
            flow.done.set_result(outcome)
            return
        flow.done.set_exception(LoginFailedError(problem))
        flow.done.exception()  # no call may wait for it

    # --- pages

    async def elsewhere(self, request: Request, numbers: Iterable[int]) -> Response | None:
        """Return the page that other processes serve for a request; None if they have no such login.

        Args:
            request: the request.
            numbers: the processes that may have begun the login.
        """
        parts = [request.method, request.path, dict(request.query), request.headers.get("Cookie") or ""]
        question = [VERSION, *parts, request.body.decode("latin-1")]
        for number in numbers:
            if number == self.bus.number:
                continue
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    page = await self._requests.ask(number, question)
            except (RetryableToolError, TimeoutError):
                return message_page(503, "The login cannot be reached at present. Try again")
            if page is None:
                await self._forget(number)
            elif page:
                status, text, content_type, fields = page
                return Response(status, text.encode("latin-1"), content_type, fields)
        return None

    async def _forget(self, number: int) -> None:
        """End the logins of a process that has ended, everywhere."""
        for flow_id in [flow_id for flow_id in self._flows if flow_id.startswith(f"{number}.")]:
            self._finish(flow_id, "", HAS_ENDED)
            await self.tell_ended(flow_id, "", HAS_ENDED)

    async def _answer(self, question: Any) -> list[Any]:
        version, *parts = question
        page: Response | None = None
        if version == VERSION and self._pages is not None:
            method, path, query, cookie, form = parts
            request = Request(method, path, query, header_fields({"Cookie": cookie}), form.encode("latin-1"))
            try:
                page = await self._pages.own(request)
            except Exception:  # no response would mean that this process has ended
                logger.exception("a page for another process failed")
                page = message_page(500, "The page failed. Try again")
        if page is None:
            return []
        return [page.status, page.body.decode("latin-1"), page.content_type, dict(page.headers)]

    def close(self) -> None:
        """Stop listening to other processes."""
        for end in self._ends:
            end()
