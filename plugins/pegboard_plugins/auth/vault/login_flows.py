"""Logins that wait for a person."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pegboard import AuthorizationRequiredError, MCPError
from pegboard.plugin import Bus, LoginPage
from pegboard.types import Caller, Response
from pegboard_client import PAGE_HEADERS, LoginFailedError, message_page
from pegboard_plugins.auth.vault.file_tokens import FileTokens
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens, covers
from pegboard_plugins.auth.vault.provider_client import ProviderClient, ProviderRefusedError
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_keys import vault_keys
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultCipher, VaultError, VaultToken
from pegboard_plugins.support.login_questions import PendingLogin
from pegboard_plugins.support.sqlite_records import state_path

if TYPE_CHECKING:
    from pegboard_plugins.auth.vault.caller_pages import CallerPages
    from pegboard_plugins.auth.vault.loopback_pages import LoopbackPages
    from pegboard_plugins.auth.vault.shared_flows import SharedFlows
    from pegboard_plugins.auth.vault.shared_tokens import OpenStore

logger = logging.getLogger("pegboard.plugins.vault")

MAX_LOGIN_SECONDS = 600.0
"""The limit of the time that a person has for a login."""
MAX_PAGE_SECONDS = 60.0
"""The limit of the time in which the last page of a login waits for the token."""
SLOW_DOWN_SECONDS = 5.0
"""The addition to the interval of a device login that the provider asks to slow down (RFC 8628, section 3.5)."""


OPERATOR = ("", "")
"""The issuer and the subject of the operator in the vault."""


class LoginFlow(LoginPage):
    """One login.

    Args:
        key: the owner and the provider of the token.
        title: the name of the provider for the person.
        scopes: the scopes to request.
        seconds: the time for which a call waits for the login; None for the time of the vault.
        number: the number of this process.

    Attributes:
        id: an id that nobody can guess. It begins with the number of the process that began the login.
        ends_at: the time of `time.monotonic` at which it ends.
        url: the page to open.
        user_code: the code to enter there; "" for none.
        redirect_uri: the redirect URI.
        page: the page of the provider; "" if there is none.
        state: the value that the response must repeat; "" if there is no response.
        segment: the segment after the path of `redirect_uri` at which the response must arrive, with its slash.
        shown: set when the link redirects to the page of the provider.
        has_agreed: True if the person has agreed to the terms.
        browsers: the cookies of browsers that belong to the owner.
        response: the parameters of the authorization response, or the fields of the page.
        again: a second page of the provider, to which the browser must go after its response.
        done: the outcome for the person.
    """

    def __init__(
        self, key: TokenKey, title: str, scopes: Sequence[str] = (), seconds: float | None = None, number: int = 0
    ) -> None:
        loop = asyncio.get_running_loop()
        self.key = key
        self.title = title
        self.scopes = tuple(scopes)
        self.seconds = seconds
        self.id = f"{number}.{token_urlsafe(16)}"
        self.ends_at = monotonic() + MAX_LOGIN_SECONDS
        self.url = ""
        self.user_code = ""
        self.redirect_uri = ""
        self.page = ""
        self.state = ""
        self.segment = ""
        self.has_agreed = False
        self.browsers: set[str] = set()
        self.shown = asyncio.Event()
        self.response: asyncio.Future[Mapping[str, str]] = loop.create_future()
        self.again: asyncio.Future[str] = loop.create_future()
        self.done: asyncio.Future[str] = loop.create_future()
        self.task: asyncio.Task[None] | None = None

    @property
    def must_agree(self) -> bool:
        """True if the person must agree to the terms first."""
        return self.terms is not None and not self.has_agreed

    def expects(self, state: str) -> bool:
        """Return True if a response with this state belongs to the login."""
        return bool(self.state) and compare_digest(state.encode("utf-8", "surrogateescape"), self.state.encode())

    async def start(self, state: str, earlier: str, issuer: str) -> str:
        """Return the redirect URI. After a first response, expect a second response."""
        if self.response.done():
            self.response = asyncio.get_running_loop().create_future()
        self.state = state
        self.segment = issuer and f"/{issuer}"
        return self.redirect_uri + self.segment

    async def show(self, url: str) -> None:
        """Make the link redirect to a page of the provider. A second page follows the response to the first."""
        if self.shown.is_set():
            self.again.set_result(url)
            self.again = asyncio.get_running_loop().create_future()
        self.page = url
        self.shown.set()

    async def receive(self) -> Mapping[str, str]:
        """Wait for the browser, until the login ends."""
        async with asyncio.timeout(self.ends_at - monotonic()):
            return await self.response

    async def close(self) -> None:
        """Do nothing."""


class LoginFlows:
    """All logins of one process.

    Args:
        clients: the registrations at providers, by name.
        tokens: keeps the tokens.
        caller_pages: the pages for callers from the network; None if they cannot log in.
        issuer: the issuer of the callers' access tokens; None if they cannot log in.
    """

    def __init__(
        self,
        clients: Mapping[str, ProviderClient],
        tokens: KeptTokens,
        caller_pages: CallerPages | None = None,
        issuer: str | None = None,
    ) -> None:
        self.issuer = issuer
        self.clients = clients
        self.tokens = tokens
        self.caller_pages = caller_pages
        self._flows: dict[str, LoginFlow] = {}
        self._pages: dict[str, LoopbackPages] = {}
        self._starting: WeakValueDictionary[TokenKey, asyncio.Lock] = WeakValueDictionary()
        self._shared: SharedFlows | None = None

    def share(self, bus: Bus) -> None:
        """Let other processes find and finish the logins of this process, from now on."""
        from pegboard_plugins.auth.vault.shared_flows import SharedFlows  # most hosts are one process

        self._shared = SharedFlows(bus, self._flows, self.caller_pages)

    @property
    def number(self) -> int:
        """The number of this process; 0 without other processes."""
        return 0 if self._shared is None else self._shared.bus.number

    def owner(self, caller: Caller) -> tuple[str, str] | None:
        """Return the issuer and the subject of a caller in the vault, or None."""
        if caller.service:
            return None  # it names its users, and no login proves the names
        if caller.subject is None:
            return OPERATOR if caller.trusted else None
        is_known = self.issuer is not None and caller.issuer == self.issuer
        return (caller.issuer or "", caller.subject) if is_known else None

    def pending(self, flow_id: str | None) -> PendingLogin | None:
        """Return the login with an id, as a question to the user."""
        flow = self._flows.get(flow_id or "")
        if flow is None:
            return None

        async def wait() -> None:
            try:
                await asyncio.shield(flow.done)
            except LoginFailedError as error:
                raise AuthorizationRequiredError(
                    flow.key.provider,
                    title=flow.title,
                    scopes=flow.scopes,
                    status="failed",
                    developer_message=str(error),
                ) from None

        return PendingLogin(flow.title, flow.url, wait, flow.user_code, flow.ends_at, flow.seconds)

    async def start(self, key: TokenKey, scopes: Sequence[str], *, device: bool | None = None) -> LoginFlow:
        """Return a login that waits: an earlier login for the same token, or a new login.

        Args:
            key: the owner and the provider of the token.
            scopes: the scopes that are needed. Those of an earlier token are requested, too.
            device: True to log in on another device; None to use the setting.

        Raises:
            LoginFailedError: the provider cannot be reached, or does not support the login.
        """
        async with self._starting.setdefault(key, asyncio.Lock()):
            for flow in self._flows.values():
                if flow.key == key and set(scopes) <= set(flow.scopes) and device is None:
                    return flow
            client = self.clients[key.provider]
            earlier = await self.tokens.load(key)
            wanted = client.wanted([*(earlier.scopes if earlier else ()), *scopes])
            flow = LoginFlow(key, client.facts.title, wanted, number=self.number)
            is_on_device = client.settings.device if device is None else device
            if is_on_device and not key.issuer:  # a device login does not prove who the caller is
                await self._start_on_device(flow, client)
            else:
                await self._start_in_browser(flow, client)
            await self._add(flow)
            return flow

    async def begin(
        self, key: TokenKey, title: str, log_in: Callable[[LoginPage], Awaitable[object]], seconds: float
    ) -> LoginFlow:
        """Begin a login at another server, and return it when its page is shown. See `LoginStore.begin`."""
        async with self._starting.setdefault(key, asyncio.Lock()):
            flow = next((waiting for waiting in self._flows.values() if waiting.key == key), None)
            if flow is None:
                flow = await self._begin(LoginFlow(key, title, (), seconds, self.number), log_in)
        try:
            async with asyncio.timeout(seconds):
                await flow.shown.wait()
        except TimeoutError:
            raise LoginFailedError(f"it did not begin within {seconds:g} seconds.") from None
        if flow.done.done():
            await flow.done  # raises the reason
        return flow

    async def _begin(self, flow: LoginFlow, log_in: Callable[[LoginPage], Awaitable[object]]) -> LoginFlow:
        pages = self._pages_for(flow, None)
        flow.redirect_uri = await pages.start()
        flow.url = pages.add(flow, flow.redirect_uri)

        async def finish() -> str:
            await log_in(flow)
            return f"You are logged in at {flow.title}"

        flow.task = asyncio.create_task(self._run(flow, finish, pages))
        flow.done.add_done_callback(lambda _: flow.shown.set())
        await self._add(flow)
        return flow

    async def _add(self, flow: LoginFlow) -> None:
        self._flows[flow.id] = flow
        if self._shared is not None:
            await self._shared.tell_waiting(flow)

    async def _start_in_browser(self, flow: LoginFlow, client: ProviderClient) -> None:
        pages = self._pages_for(flow, client.settings.redirect_uri)
        redirect_uri = await pages.start()
        flow.url = pages.add(flow, redirect_uri)
        try:
            request = await client.authorization(redirect_uri, flow.scopes)
        except BaseException:
            await pages.remove(flow)
            raise
        flow.state = request.state
        await flow.show(request.url)

        async def finish() -> VaultToken:
            return await client.redeem(request, await flow.response, flow.scopes)

        flow.task = asyncio.create_task(self._run(flow, partial(self._keep, flow, finish), pages))

    def _pages_for(self, flow: LoginFlow, redirect_uri: str | None) -> CallerPages | LoopbackPages:
        if flow.key.issuer:
            if self.caller_pages is None:
                raise LoginFailedError("callers from the network cannot log in: set [plugins.vault.callers].")
            return self.caller_pages
        from pegboard_plugins.auth.vault.loopback_pages import LoopbackPages  # it imports an HTTP server

        return self._pages.setdefault(redirect_uri or "", LoopbackPages(redirect_uri))

    async def _start_on_device(self, flow: LoginFlow, client: ProviderClient) -> None:
        login = await client.start_device_login(flow.scopes)
        flow.url = login.page
        flow.user_code = login.user_code

        async def poll() -> VaultToken:
            seconds = login.seconds
            while True:
                await asyncio.sleep(seconds)
                try:
                    return await client.device_token(login, flow.scopes)
                except ProviderRefusedError as error:
                    if error.code not in ("authorization_pending", "slow_down"):
                        raise
                    seconds += SLOW_DOWN_SECONDS if error.code == "slow_down" else 0
                except LoginFailedError:
                    seconds *= 2  # the provider cannot be reached at present (RFC 8628, section 3.5)

        flow.task = asyncio.create_task(self._run(flow, partial(self._keep, flow, poll), None))

    async def _keep(self, flow: LoginFlow, finish: Callable[[], Awaitable[VaultToken]]) -> str:
        """Keep the token of a login. Return the outcome for the person."""
        token = await finish()
        with suppress(LoginFailedError):  # the account is only shown
            token = token._replace(account=await self.clients[flow.key.provider].account(token))
        await self.tokens.save(flow.key, token)
        missing = ", ".join(scope for scope in flow.scopes if not covers(token, [scope]))
        return f"You are logged in at {flow.title}" + (f", which did not grant {missing}" if missing else "")

    async def _run(
        self, flow: LoginFlow, finish: Callable[[], Awaitable[str]], pages: CallerPages | LoopbackPages | None
    ) -> None:
        """Finish a login."""
        try:
            async with asyncio.timeout(MAX_LOGIN_SECONDS):
                flow.done.set_result(await finish())
        except TimeoutError:
            minutes = f"{MAX_LOGIN_SECONDS / 60:.0f} minutes"
            flow.done.set_exception(LoginFailedError(f"it was not completed within {minutes}."))
        except (LoginFailedError, MCPError) as error:
            flow.done.set_exception(LoginFailedError(str(error)))
        except Exception:
            logger.exception("the login at %s failed", flow.title)
            flow.done.set_exception(LoginFailedError("the response of the provider cannot be used; see the log."))
        finally:
            flow.done.cancel()
            if not flow.done.cancelled():
                flow.done.exception()  # a call may no longer wait for it
            self._flows.pop(flow.id, None)
            await self._tell_end(flow)
            if pages is not None:
                await asyncio.sleep(0)  # the last page is sent first
                await pages.remove(flow)

    async def _tell_end(self, flow: LoginFlow) -> None:
        if self._shared is None or flow.done.cancelled():
            return
        error = flow.done.exception()
        outcome = flow.done.result() if error is None else ""
        await self._shared.tell_ended(flow.id, outcome, "" if error is None else str(error))

    async def aclose(self) -> None:
        """End all logins that are not completed."""
        tasks = [flow.task for flow in self._flows.values() if flow.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for flow in self._flows.values():
            flow.done.cancel()  # a task that was cancelled before it began did not end its login
        self._flows.clear()
        for pages in self._pages.values():
            await pages.close()
        if self._shared is not None:
            self._shared.close()
        await self.tokens.close()


def login_flows(config: VaultConfig, open_records: OpenStore | None = None) -> LoginFlows:
    """Return the logins for the settings. The file or the store of tokens is opened at its first use.

    Args:
        config: the settings.
        open_records: opens the store that the settings name, with the function that is called before it closes.
    """
    clients = {name: ProviderClient(name, settings) for name, settings in config.providers.items()}
    callers = config.callers
    find = partial(state_path, "vault.db", VaultError)
    tokens: KeptTokens = FileTokens(find, partial(vault_keys, config), clients)
    if config.store is not None and open_records is not None:
        from pegboard_plugins.auth.vault.shared_tokens import SharedTokens

        tokens = SharedTokens(open_records, VaultCipher([key.get_secret_value() for key in config.state_keys]), clients)
    if callers is None:
        return LoginFlows(clients, tokens)
    from pegboard_plugins.auth.vault.caller_pages import CallerPages

    return LoginFlows(clients, tokens, CallerPages(callers), callers.access_issuer or callers.issuer)


async def outcome_page(flow: LoginFlow) -> Response:
    """Return the last page of a login, as soon as its outcome is known, or redirect the browser to a second page."""
    again = flow.again
    await asyncio.wait((flow.done, again), timeout=MAX_PAGE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    if not flow.done.done():
        if again.done():
            return Response(status=303, headers={**PAGE_HEADERS, "Location": again.result()})
        return message_page(504, "The provider does not respond")
    try:
        return message_page(200, f"{await flow.done}. You can close this page")
    except LoginFailedError as error:
        return message_page(400, f"The login failed: {str(error).removesuffix('.')}")
