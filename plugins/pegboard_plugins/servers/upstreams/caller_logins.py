"""The logins of callers at one mounted server with `identity = "user"`, and the tool that starts them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard import Context
from pegboard.plugin import LoginStore, ToolDefinition, encode
from pegboard.types import Caller, ToolkitInfo
from pegboard.types import Client as CallingClient
from pegboard_plugins.servers.upstreams.caller_login import CallerLogin
from pegboard_plugins.servers.upstreams.host_login import CALLERS_ADVICE
from pegboard_plugins.servers.upstreams.questions import QuestionRules
from pegboard_plugins.servers.upstreams.served_items import ACCEPTED, ServedItems
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.user_links import Connection, ConnectionKey, UserKey, UserLinks

if TYPE_CHECKING:
    from pegboard_client import Client
    from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer


class CallerLogins:
    """The logins of all callers at one server.

    Args:
        name: the name of the server.
        config: its settings.
        seconds: the time for which a call waits for the person.
        rules: the rules for its questions.
        items: its items.
        users: the connections of the callers.

    Attributes:
        store: keeps the logins; None if no plugin does.
    """

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        seconds: float,
        rules: QuestionRules,
        items: ServedItems,
        users: UserLinks,
    ) -> None:
        self._name = name
        self._config = config
        self._log_in = config.callers_log_in
        self._by_program = config.callers_log_in or config.auth is not None
        self._seconds = seconds
        self._rules = rules
        self._items = items
        self._users = users
        self.store: LoginStore | None = None

    def key(self, caller: Caller, client: CallingClient, user_id: str | None = None) -> ConnectionKey:
        """Return the key of a caller's connection. Each program has its own connection if tokens of programs differ."""
        return ConnectionKey(self.user(caller, user_id), encode(self._rules.capabilities(client.capabilities)))

    def user(self, caller: Caller, user_id: str | None = None) -> UserKey:
        """Return the key of a caller as the user of connections."""
        return UserKey(caller.identity, user_id, (caller.client_id or "") if self._by_program else "")

    @property
    def advice(self) -> Callable[[], str] | None:
        """The advice for the operator if the server requires a login; None if callers do not log in."""
        return self._advice if self._log_in else None

    def _advice(self) -> str:
        return "the next call asks the caller" if self.are_possible else CALLERS_ADVICE

    @property
    def are_possible(self) -> bool:
        """True if callers can log in."""
        return self.store is not None and self.store.admits_callers

    def login(self, key: ConnectionKey) -> CallerLogin | None:
        """Return the login for a connection; None if its caller cannot log in."""
        own = None if self.store is None or key.user.user_id else self.store.of(key.user.caller)
        if not self._log_in or self.store is None or own is None:
            return None
        renew = partial(self._renew, key)
        return CallerLogin(self._name, self._config, self.store, own, key.user.program, self._seconds, renew)

    async def note(self, key: ConnectionKey, user: Connection, *, needed: bool) -> None:
        """Record whether the server has refused a connection because its caller must log in."""
        user.needs_login = needed and user.login is not None
        if user.needs_login:
            await self._items.begin(key)

    def holders(self, caller: Caller) -> Sequence[Hashable]:
        """Return the keys of the lists that a caller sees: of the caller's connections, or else the accepted lists."""
        own = self._users.keys_of(self.user(caller))
        return own if not self._log_in or any(map(self._items.lists_any, own)) else (ACCEPTED,)

    def needs_login(self, caller: Caller) -> bool:
        """Return True if a caller must log in before the connection lists anything."""
        if not self._log_in or caller.service:
            return False
        entries = [(key, self._users.get(key)) for key in self._users.keys_of(self.user(caller))]
        return any(user is not None and user.needs_login and not self._items.lists_any(key) for key, user in entries)

    def offers(self, caller: Caller) -> bool:
        """Return True if a caller must log in, and sees no accepted tool that would start the login."""
        return self.needs_login(caller) and not self._items.shown_to(ACCEPTED)

    async def tools(self, context: Context[Any]) -> list[str]:
        """Return the names of the tools that the connection for a call lists, when they are served."""
        key = self.key(context.caller, context.client)
        if (user := self._users.get(key)) is not None:
            await user.link.settle()
        return self._items.shown_to(key)

    def _renew(self, key: ConnectionKey) -> None:
        """Connect again for a caller who has logged in.

        A link that is being opened has waiting calls, and reads the credentials of each request when it sends it.
        """
        if (user := self._users.get(key)) is not None:
            if user.link.connected is not None:
                user.replace()
            user.link.hasten()
            user.link.start()


def login_name(server: UpstreamServer) -> str:
    """Return the name of the tool with which callers log in at a server."""
    return f"{server.name}_login"


def login_tool(server: UpstreamServer) -> ToolDefinition:
    """Return the tool with which callers log in at a server, before they can see its items."""

    async def log_in(context: Context[Any]) -> str:
        async def listed(client: Client) -> list[str]:
            return await server.callers.tools(context)

        names = await server.use(context, listed)
        return f"You are logged in at {server.name}. Its tools: {', '.join(names) or 'none'}."

    return ToolDefinition(
        log_in,
        name=login_name(server),
        description=f"Log in at {server.name}. It requires a login, and lists its tools afterwards.",
        toolkit=ToolkitInfo(login_name(server), prefix=False),  # the lock compares the server's own definitions alone
    )
