"""Logins that wait for a person."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pegboard import AuthorizationRequiredError
from pegboard.plugin import StateFiles
from pegboard.types import Response
from pegboard_client import AuthorizationRequest, LoginFailedError, message_page
from pegboard_plugins.auth.vault.kept_tokens import KeptTokens, covers
from pegboard_plugins.auth.vault.provider_client import ProviderClient, ProviderRefusedError
from pegboard_plugins.auth.vault.settings import VaultConfig
from pegboard_plugins.auth.vault.vault_keys import vault_keys
from pegboard_plugins.auth.vault.vault_store import TokenKey, VaultError, VaultStore, VaultToken
from pegboard_plugins.support.login_questions import PendingLogin

if TYPE_CHECKING:
    from pegboard_plugins.auth.vault.caller_pages import CallerPages
    from pegboard_plugins.auth.vault.loopback_pages import LoopbackPages

logger = logging.getLogger("pegboard.plugins.vault")

MAX_LOGIN_SECONDS = 600.0
"""The limit of the time that a person has for a login."""
MAX_PAGE_SECONDS = 60.0
"""The limit of the time in which the last page of a login waits for the token."""
SLOW_DOWN_SECONDS = 5.0
"""The addition to the interval of a device login that the provider asks to slow down (RFC 8628, section 3.5)."""


class LoginFlow:
    """One login.

    Args:
        key: the owner and the provider of the token.
        scopes: the scopes to request.

    Attributes:
        id: an id that nobody can guess.
        ends_at: the time of `time.monotonic` at which it ends.
        url: the page to open.
        user_code: the code to enter there; "" for none.
        request: the authorization request; None for a login on another device.
        response: the parameters of the authorization response.
        done: the outcome for the person.
    """

    def __init__(self, key: TokenKey, scopes: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        self.key = key
        self.scopes = tuple(scopes)
        self.id = token_urlsafe(16)
        self.ends_at = monotonic() + MAX_LOGIN_SECONDS
        self.url = ""
        self.user_code = ""
        self.request: AuthorizationRequest | None = None
        self.response: asyncio.Future[Mapping[str, str]] = loop.create_future()
        self.done: asyncio.Future[str] = loop.create_future()
        self.task: asyncio.Task[None] | None = None


class LoginFlows:
    """All logins of one process.

    Args:
        clients: the registrations at providers, by name.
        tokens: keeps the tokens.
        caller_pages: the pages for callers from the network; None if they cannot log in.
    """

    def __init__(
        self, clients: Mapping[str, ProviderClient], tokens: KeptTokens, caller_pages: CallerPages | None = None
    ) -> None:
        self.clients = clients
        self.tokens = tokens
        self.caller_pages = caller_pages
        self._flows: dict[str, LoginFlow] = {}
        self._pages: dict[str, LoopbackPages] = {}
        self._starting: WeakValueDictionary[TokenKey, asyncio.Lock] = WeakValueDictionary()

    def pending(self, flow_id: str | None) -> PendingLogin | None:
        """Return the login with an id, as a question to the user."""
        flow = self._flows.get(flow_id or "")
        if flow is None:
            return None
        title = self.clients[flow.key.provider].facts.title

        async def wait() -> None:
            try:
                await asyncio.shield(flow.done)
            except LoginFailedError as error:
                raise AuthorizationRequiredError(
                    flow.key.provider, title=title, scopes=flow.scopes, status="failed", developer_message=str(error)
                ) from None

        return PendingLogin(title, flow.url, wait, flow.user_code, flow.ends_at)

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
            flow = LoginFlow(key, client.wanted([*(earlier.scopes if earlier else ()), *scopes]))
            is_on_device = client.settings.device if device is None else device
            if is_on_device and not key.issuer:  # a device login does not prove who the caller is
                await self._start_on_device(flow, client)
            else:
                await self._start_in_browser(flow, client)
            self._flows[flow.id] = flow
            return flow

    async def _start_in_browser(self, flow: LoginFlow, client: ProviderClient) -> None:
        pages = self._pages_for(flow, client)
        redirect_uri = await pages.start()
        flow.url = pages.add(flow, redirect_uri)
        try:
            flow.request = request = await client.authorization(redirect_uri, flow.scopes)
        except BaseException:
            await pages.remove(flow)
            raise

        async def finish() -> VaultToken:
            return await client.redeem(request, await flow.response, flow.scopes)

        flow.task = asyncio.create_task(self._run(flow, finish, pages))

    def _pages_for(self, flow: LoginFlow, client: ProviderClient) -> CallerPages | LoopbackPages:
        if flow.key.issuer:
            if self.caller_pages is None:
                raise LoginFailedError("callers from the network cannot log in: set [plugins.vault.callers].")
            return self.caller_pages
        from pegboard_plugins.auth.vault.loopback_pages import LoopbackPages  # it imports an HTTP server

        redirect_uri = client.settings.redirect_uri
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

        flow.task = asyncio.create_task(self._run(flow, poll, None))

    async def _run(
        self,
        flow: LoginFlow,
        finish: Callable[[], Awaitable[VaultToken]],
        pages: CallerPages | LoopbackPages | None,
    ) -> None:
        """Finish a login, and keep its token."""
        title = self.clients[flow.key.provider].facts.title
        try:
            async with asyncio.timeout(MAX_LOGIN_SECONDS):
                token = await finish()
            with suppress(LoginFailedError):  # the account is only shown
                token = token._replace(account=await self.clients[flow.key.provider].account(token))
            await self.tokens.save(flow.key, token)
            missing = ", ".join(scope for scope in flow.scopes if not covers(token, [scope]))
            flow.done.set_result(
                f"You are logged in at {title}" + (f", which did not grant {missing}" if missing else "")
            )
        except TimeoutError:
            minutes = f"{MAX_LOGIN_SECONDS / 60:.0f} minutes"
            flow.done.set_exception(LoginFailedError(f"it was not completed within {minutes}."))
        except (LoginFailedError, VaultError) as error:
            flow.done.set_exception(LoginFailedError(str(error)))
        except Exception:
            logger.exception("the login at %s failed", title)
            flow.done.set_exception(LoginFailedError("the response of the provider cannot be used; see the log."))
        finally:
            flow.done.cancel()
            if not flow.done.cancelled():
                flow.done.exception()  # a call may no longer wait for it
            self._flows.pop(flow.id, None)
            if pages is not None:
                await asyncio.sleep(0)  # the last page is sent first
                await pages.remove(flow)

    async def close(self) -> None:
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
        await self.tokens.close()


def login_flows(config: VaultConfig) -> LoginFlows:
    """Return the logins for the settings. The file of tokens is opened at its first use."""

    def open_store() -> VaultStore:
        try:
            directory = StateFiles(os.environ).directory
        except OSError as error:
            raise VaultError(f"the vault cannot be used: {error}") from error
        if directory is None:
            raise VaultError("the vault has no directory: set HOME or PEGBOARD_STATE_DIR")
        keys = vault_keys(config)
        store = VaultStore(Path(directory) / "vault.db", keys)
        if keys[1:]:
            store.rotate()
        return store

    clients = {name: ProviderClient(name, settings) for name, settings in config.providers.items()}
    pages = None
    if config.callers is not None:
        from pegboard_plugins.auth.vault.caller_pages import CallerPages

        pages = CallerPages(config.callers)
    return LoginFlows(clients, KeptTokens(open_store, clients), pages)


async def outcome_page(done: asyncio.Future[str]) -> Response:
    """Return the last page of a login, as soon as its outcome is known."""
    try:
        async with asyncio.timeout(MAX_PAGE_SECONDS):
            return message_page(200, f"{await asyncio.shield(done)}. You can close this page")
    except LoginFailedError as error:
        return message_page(400, f"The login failed: {str(error).removesuffix('.')}")
    except TimeoutError:
        return message_page(504, "The provider does not respond")
