"""The operator's login at a mounted server with `identity = "host"`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pegboard import AuthorizationRequiredError
from pegboard.plugin import LoginStore, PluginContext
from pegboard.types import Caller
from pegboard_plugins.servers.upstreams.settings import ServerConfig

if TYPE_CHECKING:
    from pegboard_client import LoginRequiredError, OAuth, RedirectReceiver

STORE_ADVICE = "enable the plugin that keeps logins with `pegboard enable vault`, then "
CALLERS_ADVICE = 'add [plugins.vault.callers], so that callers can log in with `identity = "user"`'
"""The advice if callers would have to log in, and no page can identify them."""
OTHER_ADVICE = 'set headers, or identity = "user" with auth'
"""The advice if a server requires a login that this host cannot make."""
of_other: ContextVar[bool] = ContextVar("of_other", default=False)
"""True if this task sends requests for another caller than the operator."""
ONE_CLIENT = ("stdio",)
"""The transports of a host with only one client, the operator's."""


def oauth(
    config: ServerConfig,
    store: LoginStore,
    open_page: Callable[[str], Awaitable[None]] | None,
    *,
    redirect: RedirectReceiver | None = None,
    scopes: Sequence[str] = (),
    announce: Callable[[str, Sequence[str]], object] | None = None,
    registrations: LoginStore | None = None,
) -> OAuth:
    """Return the logins for the settings of a server.

    Args:
        config: the settings.
        store: keeps the login.
        open_page: shows the page on which the operator logs in; None for no login.
        redirect: receives the response of the login.
        scopes: more scopes to request.
        announce, registrations: see `OAuth`.
    """
    from pegboard_client import OAuth, OAuthClient

    client, secret = None, config.client_secret
    if config.client_id is not None:
        client = OAuthClient(
            config.client_id, None if secret is None else secret.get_secret_value(), issuer=config.issuer or ""
        )
    return OAuth(
        open_page,
        client=client,
        client_metadata_url=config.client_metadata_url or store.client_metadata_url,
        scopes=[*(config.scopes or ()), *scopes] if scopes else config.scopes,
        store=store,
        redirect=redirect,
        announce=announce,
        registrations=registrations,
        renewing=store.renewing,
        version=store.version,
    )


def admits_others(context: PluginContext) -> bool:
    """Return True if the host admits other callers than the operator."""
    if context.transports == ONE_CLIENT:
        return False
    return any(authenticator.only_local is None for authenticator in context.authenticators())


class HostLogin:
    """The credentials of the connection for all callers (`HttpAuth`). It never asks a person.

    Args:
        name: the name of the server.
        config: its settings.
        context: the context of the plugin.

    Attributes:
        is_used: True if the connection has sent a token, or has one from the start.
    """

    def __init__(self, name: str, config: ServerConfig, context: PluginContext) -> None:
        self._name = name
        self._config = config
        self._context = context
        self._auth: OAuth | None = None
        self.is_used = False

    @property
    def is_unshared(self) -> bool:
        """True if the host admits other callers than the operator, and may not use the operator's login for them."""
        return not self._config.shared and admits_others(self._context)

    def open(self, store: LoginStore | None) -> None:
        """Use the logins of a store from now on; None for no logins."""
        self._auth = None if store is None else oauth(self._config, store, None)

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the header with a valid token, or none if the operator has not logged in."""
        fields = {} if self._auth is None or self.is_unshared else await self._auth.headers(url)
        self.is_used = self.is_used or bool(fields)
        return {} if self._is_for_other else fields

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Renew the token, or use one of a new login. Return False if the operator must log in."""
        if self._auth is None or self.is_unshared or self._is_for_other:
            return False
        is_renewed = await self._auth.challenged(url, status, headers)
        self.is_used = self.is_used or is_renewed
        return is_renewed

    @property
    def _is_for_other(self) -> bool:
        """True if this task sends requests for a caller who may not act for the operator.

        The caller was admitted before the operator logged in.
        """
        return of_other.get() and not self._config.shared

    async def begin(self) -> None:
        """Reserve the connection for the operator from the start, if there is a login and it is not shared."""
        self.is_used = not self.is_unshared and await self.describe() is not None

    @property
    def is_private(self) -> bool:
        """True if only the operator may use the connection."""
        return self.is_used and not self._config.shared

    def admits(self, caller: Caller) -> bool:
        """Return True if a caller may use the connection, which may act for the operator."""
        return caller.trusted or not self.is_private

    def advice(self, scopes: Sequence[str] = ()) -> str:
        """Return the command or the line that lets the host use a server that requires a login.

        Args:
            scopes: the scopes that the server requires.
        """
        if self.is_unshared:
            return (
                f'add identity = "user", or identity = "host" and shared = true, to '
                f"[plugins.upstreams.servers.{self._name}]"
            )
        more = ["--scopes", *scopes] if scopes and self.is_used else []  # a first login finds them itself
        words = " ".join(["pegboard", "login", "--server", self._name, *more])
        others = "" if self.is_used else ", or set headers"
        return f"{STORE_ADVICE if self._auth is None else ''}run `{words}`{others}"

    def required(self, error: AuthorizationRequiredError) -> AuthorizationRequiredError:
        """Return the error of a call that the server accepts only after a login."""
        return _for_operator(self._name, self.advice(error.scopes), error.scopes, str(error))

    def refused(self) -> AuthorizationRequiredError:
        """Return the error for a caller who may not use the operator's account."""
        hint = (
            "the host uses the account of its operator there, for the operator only; the operator can set shared = true"
        )
        return _for_operator(self._name, hint, (), None)

    async def describe(self) -> dict[str, Any] | None:
        """Return the login without secrets, as JSON, or None if there is none."""
        account = "the operator's account, for all callers" if self._config.shared else "the operator"
        return None if self._auth is None else await description(self._auth, self._config, account)


async def description(auth: OAuth, config: ServerConfig, account: str) -> dict[str, Any] | None:
    """Return a login without secrets, as JSON, or None if there is none."""
    login = await auth.describe(config.url or "")
    if login is None:
        return None
    until = None if login.expires_at is None else datetime.fromtimestamp(login.expires_at, UTC)
    return {
        "issuer": login.issuer,
        "account": account,
        "scopes": list(login.scopes),
        "expires_at": None if until is None else f"{until:%Y-%m-%dT%H:%M:%SZ}",
        "renewable": login.is_renewable,
    }


async def caller_logins(config: ServerConfig, store: LoginStore | None) -> list[tuple[str, LoginStore]]:
    """Return the callers with a login or a key at a server, and the stores that keep them."""
    from pegboard_client import canonical

    callers = [] if store is None else await store.owners(canonical(config.url or ""))
    owners = [(caller.subject or "", store.of(caller)) for caller in callers if store is not None]
    return [(subject, own) for subject, own in owners if own is not None]


def login_problem(server: str, error: LoginRequiredError) -> str:
    """Return the reason why a login failed, with the keys that repair it if there are any."""
    from pegboard_client import UnregisteredError

    if not isinstance(error.__cause__, UnregisteredError):
        return error.problem
    return f"{error.problem} Set client_id, issuer and perhaps client_secret in [plugins.upstreams.servers.{server}]."


def _for_operator(
    server: str, hint: str, scopes: Sequence[str], developer_message: str | None
) -> AuthorizationRequiredError:
    error = AuthorizationRequiredError(server, scopes=scopes, hint=hint, developer_message=developer_message)
    error.additional_prompt_content = "Do not try again before that has changed. Tell the user."
    return error
