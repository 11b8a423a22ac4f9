"""The login of one caller at a mounted server with `identity = "user"`, for one client program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from pegboard import AuthorizationRequiredError, MCPError
from pegboard.plugin import LoginPage, LoginStore, LoginTerms, encode
from pegboard_plugins.servers.upstreams.host_login import login_problem, oauth
from pegboard_plugins.servers.upstreams.settings import ServerConfig

if TYPE_CHECKING:
    from pegboard_client import OAuth

MAX_VAIN_PAGES = 2
"""After this number of pages without a call that the server accepts, calls fail without another page."""
VAIN_SECONDS = 600.0
"""The time for which such a page counts."""
carried: ContextVar[Mapping[str, str] | None] = ContextVar("carried", default=None)
"""The header with a token or a key that the last request of this task carried; empty or None for none."""


class Agreement(NamedTuple):
    """The issuer and the scopes to which a person has agreed, for one program and one server."""

    issuer: str
    scopes: frozenset[str]

    def covers(self, issuer: str, scopes: Sequence[str]) -> bool:
        """Return True if the person has agreed to all of these scopes at this issuer."""
        return self.issuer == issuer and self.scopes.issuperset(scopes)


class CallerLogin:
    """The credentials of the connection of one caller (`HttpAuth`). A request never asks the person.

    Args:
        name: the name of the server.
        config: its settings.
        logins: keeps the logins of the operator, and the registrations of this host.
        own: keeps the logins of the caller.
        program: the client program of the caller; "" if it is unknown.
        seconds: the time for which a call waits for the person.
        on_login: called after a login.
    """

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        logins: LoginStore,
        own: LoginStore,
        program: str,
        seconds: float,
        on_login: Callable[[], None],
    ) -> None:
        from pegboard_client import canonical

        self._name = name
        self._config = config
        self._url = config.url or ""
        self._place = canonical(self._url)
        self._logins = logins
        self._own = own
        self._program = program
        self._seconds = seconds
        self._on_login = on_login
        self._auth: OAuth = oauth(config, own, None)
        self._agreement: Agreement | None = None
        self._version: object = None
        self._refused: Mapping[str, str] | None = None
        self._challenge: Mapping[str, str] = {}
        self._vain: list[float] = []
        self._started_name = ""
        self._started: tuple[str, str] | None = None
        self._is_waiting = False

    # --- requests

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the header with a valid token, or none if the caller has not logged in, or not agreed to its use.

        Raises:
            AuthorizationRequiredError: the caller has pasted no key, or not agreed to its use.
        """
        present = await self._fields(url)
        fields = present if present and await self._may_use() else {}
        carried.set(fields)
        if not fields and self._config.user_key is not None:
            raise AuthorizationRequiredError(self._config.user_key[1])
        return fields

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Renew the token, or use one of a new login. Return False if the caller must log in, or agree."""
        self._challenge = headers
        self._refused = carried.get()
        if self._config.user_key is not None:
            return False
        if carried.get():
            return await self._auth.challenged(url, status, headers)
        await self._auth.reload(url)
        return bool(await self.headers(url))

    async def _fields(self, url: str) -> Mapping[str, str]:
        """Return the header with the token or the key as the store has it now; none without both."""
        key, version = self._config.user_key, self._own.version()
        if version != self._version:
            self._version = version
            self._agreement = None  # the person may have ended it
        return await self._auth.headers(url) if key is None else await self._key_fields(key[0])

    async def _key_fields(self, header: str) -> Mapping[str, str]:
        key = (await self._own.load(self._place) or {}).get("key")
        if key is None:
            return {}
        scheme = "Bearer " if header.lower() == "authorization" and " " not in key else ""
        return {header: scheme + key}

    def succeeded(self) -> None:
        """Note that the server has accepted the login."""
        self._vain.clear()

    async def _may_use(self) -> bool:
        """Return True if the person has agreed that this program uses the login, or the key."""
        if not self._own.asks_person:
            return True
        issuer, scopes = await self._described()
        if self._agreement is None or not self._agreement.covers(issuer, scopes):
            await self._load_agreement()
        return self._agreement is not None and self._agreement.covers(issuer, scopes)

    async def _described(self) -> tuple[str, Sequence[str]]:
        """Return the issuer and the scopes of the login. A key has neither."""
        login = None if self._config.user_key else await self._auth.describe(self._url)
        return ("", ()) if login is None else (login.issuer, login.scopes)

    async def _load_agreement(self) -> None:
        saved = (await self._own.load(agreements_at(self._place)) or {}).get(self._program)
        self._agreement = None if saved is None else Agreement(saved["issuer"], frozenset(saved["scopes"]))

    async def is_new(self) -> bool:
        """Return True if another process has logged in since the server refused a request."""
        await self._auth.reload(self._url)
        fields = await self._fields(self._url)
        return bool(fields) and fields != self._refused and await self._may_use()

    # --- logins

    @property
    def started(self) -> tuple[str, str] | None:
        """The id and the link of the login that waits for the person; None for none."""
        return self._started if self._is_waiting else None

    async def required(self, error: AuthorizationRequiredError) -> AuthorizationRequiredError:
        """Start a login, and return the error with its link. A waiting login is not started again.

        Args:
            error: the refusal of the server.
        """
        from pegboard_client import LoginFailedError

        name = encode([self._url, self._program, sorted(error.scopes)]).decode()
        if self.started is not None and self._started_name == name:
            return self.waiting(self.started, error.scopes)
        self._vain = [time for time in self._vain if time > monotonic() - VAIN_SECONDS]
        if len(self._vain) >= MAX_VAIN_PAGES:
            return self._failed(error, f"the last {MAX_VAIN_PAGES} logins were refused or not completed")
        try:
            self._started_name = name
            self._started = started = await self._own.begin(name, self._name, self._log_in, self._seconds)
        except (LoginFailedError, MCPError) as problem:
            return self._failed(error, str(problem))
        return self.waiting(started, error.scopes)

    def waiting(self, started: tuple[str, str], scopes: Sequence[str] = ()) -> AuthorizationRequiredError:
        """Return the error with the link of a login that waits."""
        login, url = started
        return AuthorizationRequiredError(self._name, scopes=scopes, url=url, authorization_id=login, title=self._name)

    def _failed(self, error: AuthorizationRequiredError, reason: str) -> AuthorizationRequiredError:
        return AuthorizationRequiredError(
            self._name, scopes=error.scopes, status="failed", title=self._name, developer_message=reason
        )

    async def _log_in(self, page: LoginPage) -> None:
        """Let the person log in, or agree that another program uses the login.

        Raises:
            LoginFailedError: the login failed, or the person refused.
        """
        from pegboard_client import LoginFailedError, LoginRequiredError

        self._is_waiting = True
        try:
            await self._auth.reload(self._url)
            fields = await self._fields(self._url)
            await self._load_agreement()
            if fields and not await self._may_use():
                page.terms = self._terms(*await self._described())
                await self._show(page, "")
                await page.receive()
                await self._agree(page.terms)
            elif self._config.user_key is not None:
                await self._paste(page, self._config.user_key[1])
            else:
                await self._log_in_at_issuer(page)
        except LoginRequiredError as error:
            raise LoginFailedError(login_problem(self._name, error)) from error
        finally:
            self._is_waiting = False
        self._on_login()

    async def _show(self, page: LoginPage, url: str) -> None:
        self._vain.append(monotonic())
        await page.show(url)

    async def _log_in_at_issuer(self, page: LoginPage) -> None:
        def announce(issuer: str, scopes: Sequence[str]) -> None:
            earlier = self._agreement
            if self._own.asks_person and (earlier is None or not earlier.covers(issuer, scopes)):
                page.terms = self._terms(issuer, scopes)

        show = partial(self._show, page)
        shared = self._logins if self._own.asks_person else None  # each loopback page has a port of its own
        new = oauth(self._config, self._own, show, redirect=page, announce=announce, registrations=shared)
        await new.log_in(self._url, self._challenge)
        login = await new.describe(self._url)
        if login is not None and page.terms is not None:
            granted = page.terms.scopes or login.scopes  # a page without scopes lets the server decide
            await self._agree(page.terms._replace(scopes=tuple(granted)))

    async def _paste(self, page: LoginPage, name: str) -> None:
        """Let the person paste the key.

        Raises:
            LoginFailedError: a header cannot carry it.
        """
        from pegboard_client import LoginFailedError

        if not self._own.asks_person:
            raise LoginFailedError("a key is pasted on a page of the vault, which the operator does not have.")
        page.terms = self._terms("", ())._replace(key=name)
        await self._show(page, "")
        key = (await page.receive()).get("key", "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise LoginFailedError("a key has only printable ASCII characters.")
        await self._own.save(self._place, {"key": key})
        await self._agree(page.terms)

    def _terms(self, issuer: str, scopes: Sequence[str]) -> LoginTerms:
        earlier = self._agreement
        is_same = earlier is not None and earlier.issuer == issuer
        added = tuple(scope for scope in scopes if is_same and earlier and scope not in earlier.scopes)
        return LoginTerms(self._program, self._name, self._url, issuer, tuple(scopes), added)

    async def _agree(self, terms: LoginTerms) -> None:
        """Keep the agreement to what the page showed.

        Raises:
            LoginFailedError: the login has ended meanwhile.
        """
        from pegboard_client import LoginFailedError

        place = agreements_at(self._place)
        async with self._own.renewing(self._place):  # other programs agree, and the login ends, before or after that
            if await self._own.load(self._place) is None:
                raise LoginFailedError("the login to which this page belongs has ended. Call again.")
            own = {"issuer": terms.issuer, "scopes": sorted(terms.scopes)}
            await self._own.save(place, {**(await self._own.load(place) or {}), self._program: own})


async def end_login(config: ServerConfig, own: LoginStore) -> bool:
    """Revoke and forget a login, with the agreements to its use. Return False if the server may still accept it."""
    from pegboard_client import canonical

    place = canonical(config.url or "")
    is_revoked = await oauth(config, own, None).log_out(place)
    async with own.renewing(place):  # an agreement or a renewal under way would be saved later
        for name in (place, agreements_at(place)):
            await own.save(name, None)
    return is_revoked and config.user_key is None


def agreements_at(place: str) -> str:
    """Return the place of the agreements of all programs of a person, for the place of the login."""
    return f"agreements at {place}"
