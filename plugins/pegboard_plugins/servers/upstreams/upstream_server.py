"""A mounted server: its connections, and the lists of its items."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager
from functools import partial
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard import (
    AuthorizationRequiredError,
    Context,
    ErrorKind,
    MCPError,
    NotFoundError,
    ToolExecutionError,
    UpstreamError,
)
from pegboard.plugin import PluginContext, ProtocolError, decode
from pegboard.types import LOCAL, AuthProvider, Call, Caller, ItemKind, ToolAuthorization
from pegboard.types import Client as CallingClient
from pegboard_plugins.servers.upstreams.caller_login import CallerLogin
from pegboard_plugins.servers.upstreams.caller_logins import CallerLogins
from pegboard_plugins.servers.upstreams.hops import LOOP, VIA, next_hop
from pegboard_plugins.servers.upstreams.host_login import ONE_CLIENT, OTHER_ADVICE, HostLogin, of_other
from pegboard_plugins.servers.upstreams.item_selection import ItemSelection
from pegboard_plugins.servers.upstreams.link import Link, NotConnectedError, NotificationListener, is_refused_status
from pegboard_plugins.servers.upstreams.mounted import Mounted
from pegboard_plugins.servers.upstreams.questions import QuestionRules
from pegboard_plugins.servers.upstreams.recalled_lists import RecalledLists, RememberedLists, accepted_lists
from pegboard_plugins.servers.upstreams.served_items import ACCEPTED, FindOwner, ServedItems
from pegboard_plugins.servers.upstreams.server_address import UserToken, server_address
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.settings import ServerConfig, UpstreamsConfig
from pegboard_plugins.servers.upstreams.upstream_errors import no_response, not_connected
from pegboard_plugins.servers.upstreams.upstream_lists import ListReader, UpstreamLists
from pegboard_plugins.servers.upstreams.user_links import Connection, ConnectionKey, UserLinks, user_of
from pegboard_plugins.servers.upstreams.uses import Uses

if TYPE_CHECKING:
    from pegboard_client import Client, Endpoint, HttpAuth, Program
    from pegboard_plugins.servers.upstreams.in_process_server import InProcessServer

Sent = TypeVar("Sent")

MAX_KNOWN_LOOPS = 100
"""The maximum number of request routes for which it is recorded if the server leads back."""
MAX_LOOP_SECONDS = 2.0
"""The time limit of the request that finds out if a server leads back. Without a response, it does not."""
SERVER_ERROR = -32000
"""The code of many servers for requests without the session that they require."""
MAX_OPEN_QUESTIONS = 1_000
"""The maximum number of questions of a connection that wait for answers, of all callers together."""
HOST = "host"
"""The key of the lists of a connection for all callers."""


class UpstreamAuthorization(ToolAuthorization):
    """The token that a user's connection sends."""

    provider = AuthProvider(id=None, title="the mounted server")


class UpstreamServer:
    """One mounted server.

    Args:
        name: the name of its section.
        config: its settings.
        context: the context of the plugin.
        host_id: a random id of this host.
        settings: the settings of all servers.
        serving: waits until the host serves.
        owner_of: returns the mounted server that has an item of the catalogue, or None.

    Attributes:
        name: the name of its section.
        config: its settings.
        logger: the log of the plugin.
        log: the lines of the server in this log.
        rules: the rules for questions of the server.
        login: the operator's login for the connection of all callers; None if it can send none.
        callers: the logins of callers.
        items: its items in the catalogue.
        memory: its remembered lists.
        selection: the items that are served.
    """

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        context: PluginContext,
        host_id: str,
        settings: UpstreamsConfig,
        serving: Callable[[], Awaitable[Any]],
        owner_of: FindOwner,
    ) -> None:
        self.name = name
        self.config = config
        self.logger = context.logger
        self.log = ServerLog(name, context.logger)
        self.rules = QuestionRules(name, config)
        self._authorization = UpstreamAuthorization(id=config.auth, scopes=config.auth_scopes) if config.auth else None
        self.login = HostLogin(name, config, context) if config.logs_in else None
        self._mounted = Mounted(self, context.bus)
        self.items = ServedItems(name, context.catalogue, self._mounted.definition, context.logger, owner_of)
        self.selection = ItemSelection(name, config, context.catalogue.complete)
        self._users = UserLinks(name, config.max_users, self._make_connection, self.items.forget)
        self.callers = CallerLogins(name, config, settings.wait_seconds, self.rules, self.items, self._users)
        self._get_token = context.get_token
        self._folder = Path(context.directory or Path.cwd())
        self._host_id = host_id
        self._loops: dict[tuple[str, ...], bool] = {}
        self._in_process = None if config.object is None else _in_process(name, config, context.logger)
        self._serving = serving
        self._awaits_client = config.identity == "host" and context.transports == ONE_CLIENT
        self._declared = self.rules.capabilities()
        self._host = self._make_connection(HOST) if config.identity == "host" else None
        self._seconds = settings.connect_seconds
        file: RememberedLists | None = None
        if self._host is not None and config.object is None and settings.forget_days:
            file = RememberedLists(name, config, self._folder, settings.forget_days)
        owner = f"plugin:{context.name}/{name}"
        accepted = partial(accepted_lists, owner, name, config, context.directory)
        self.memory = RecalledLists(
            name, file, accepted, self._make_reader(name), self._publish_recalled, self._forget, context.logger
        )
        if self._host is None:
            self.memory.confirm(None)  # no connection for all callers will

    # --- life

    def recall(self) -> None:
        """Serve remembered or accepted definitions in the background, if there are any."""
        if self._in_process is None and (self._host is not None or self.config.callers_log_in):
            self.memory.recall()

    async def _publish_recalled(self, lists: UpstreamLists, are_accepted: bool) -> None:
        await self._serving()
        await self.items.publish(ACCEPTED if are_accepted else HOST, lists)

    async def _forget(self) -> None:
        for holder in (HOST, ACCEPTED):
            await self.items.forget(holder)

    def start(self) -> None:
        """Connect in the background, if the server has one connection for all callers.

        If the host has one client, the connection declares what this client declares, so it waits for the client.
        """
        if self._host is not None and not self._awaits_client:
            self._host.link.start()

    async def connect(self) -> None:
        """Connect, and wait until the connection is open.

        Raises:
            NotConnectedError: the connection cannot be opened.
        """
        assert self._host is not None
        await self._host.link.client()

    def is_settled(self, call: Call, seconds: float) -> bool:
        """Return False if the lists for a call should wait for a connection, for at most `seconds` after its start."""
        if self._host is not None:
            return not self.memory.is_recalling and (self.memory.are_served or self._host.link.is_settled(seconds))
        if call.caller.service or not call.caller.is_known:
            return True
        user = self._users.get(self.callers.key(call.caller, call.client))
        return user is not None and user.link.is_settled(seconds)

    async def settle(self, call: Call) -> None:
        """Connect if necessary, for the user of a call if each user has a connection. A failure is logged.

        Do not wait for a connection if definitions are remembered.
        """
        if (host := self._host_for(call.client)) is not None:
            if not self.memory.are_served:
                await host.link.settle()
            return
        try:
            token = await self._token(call)
            key = self.callers.key(call.caller, call.client)
            async with self._users.use(key) as user:
                user.token = token
                await user.link.settle()
                failure = user.link.failure
                refused = failure is not None and isinstance(failure.cause, AuthorizationRequiredError)
                await self.callers.note(key, user, needed=refused)
        except MCPError as error:
            self.logger.debug("%s: no lists for %r: %s", self.name, call.caller.subject, error)

    def wake(self, call: Call) -> None:
        """Connect in the background for a list, if only remembered definitions are served."""
        if (
            self.memory.is_unconfirmed
            and self.config.start != "lazy"
            and (host := self._host_for(call.client)) is not None
        ):
            host.link.start()

    @property
    def lost(self) -> str | None:
        """The reason why the connection for all callers is not open; None if it is open, or if there is none."""
        failure = None if self._host is None else self._host.link.failure
        return None if failure is None else failure.reason

    @property
    def _lost_for_operator(self) -> str | None:
        """The reason why the operator's own connection is not open; None if it is open, or cannot be opened."""
        user = self._users.get(self.callers.key(LOCAL, CallingClient()))
        if user is not None and user.needs_login:
            return f"it requires a login; run `pegboard login --server {self.name}`"
        return None if user is None or user.link.failure is None else user.link.failure.reason

    async def missing(self, seconds: float, *, confirm: bool) -> str | None:
        """Connect and read the lists within a time. Return the reason why items are missing; None if none are.

        Args:
            seconds: the time.
            confirm: False if remembered definitions are sufficient.
        """
        await self.memory.wait()
        if self.memory.are_served and not confirm:
            return None
        try:
            async with asyncio.timeout(seconds):
                await (
                    self.settle(Call("tools/list", caller=LOCAL)) if self._host is None else self._host.link.settle()
                )
        except TimeoutError:
            return f"it has not connected within {seconds:g} seconds"
        if self._host is None:
            return self._lost_for_operator
        return next(iter(self._host.link.reader.failed.values()), self.lost)

    async def leads_back(self, via: tuple[str, ...]) -> bool:
        """Return True if the server is, or mounts, one of the hosts that a request has passed."""
        client = None if self._host is None else self._host.link.connected
        if client is None or self.config.command is not None:
            return False
        if via not in self._loops:
            if len(self._loops) >= MAX_KNOWN_LOOPS:
                self._loops.clear()
            try:
                await client.request("tools/list", meta={VIA: [*via, self._host_id]}, timeout=MAX_LOOP_SECONDS)
                self._loops[via] = False
            except MCPError as error:
                data = getattr(error, "data", None)
                self._loops[via] = isinstance(data, dict) and LOOP in data
        return self._loops[via]

    async def close(self) -> None:
        await self.memory.stop()
        await self._mounted.close()
        lists = None
        if self._host is not None:
            if self.is_connected and not self._host.link.reader.failed:
                lists = self._host.link.lists
            await self._host.close()
        await self.memory.close(lists)
        await self._users.close()
        if self._in_process is not None:
            await self._in_process.close()

    # --- calls

    async def use(
        self, context: Context[Any], send: Callable[[Client], Awaitable[Sent]], *, repeatable: bool = False
    ) -> Sent:
        """Send requests of one call over the connection for the caller, and return their result.

        With `identity = "user"` it is the caller's own connection. It stays open at least until `send` returns.

        Args:
            context: the call.
            send: sends the requests.
            repeatable: True if repeating the call has no further effect.

        Raises:
            NetworkTransportError: the server is not connected, or does not respond to the requests. The error names
                the server, and the next attempt if it is not connected.
            AuthorizationRequiredError: the caller has no token for the server.
            NotFoundError: the server has a connection for each caller, and the caller is anonymous.
            RetryableToolError: too many users are using the server.
        """
        if (host := self._host_for(context.client)) is not None:
            with host.uses:
                return await self._send(host.link, send, repeatable, context.caller)
        if not context.caller.is_known:
            raise NotFoundError("Only authenticated callers may use this.")
        user_id = user_of(context).user_id
        if context.caller.service and user_id is None:
            raise NotFoundError("This requires a call that names its user.")
        token = await self._token(context)
        key = self.callers.key(context.caller, context.client, user_id)
        async with self._users.use(key) as user:
            user.token = token
            if user.login is None:
                return await self._send(user.link, send, repeatable, context.caller)
            if user.login.started is not None and user.link.connected is None:
                raise user.login.waiting(user.login.started)
            try:
                result = await self._send_logged_in(user, user.login, send, repeatable, context.caller)
            except AuthorizationRequiredError as error:
                if error.url is not None:
                    raise  # this call is part of another use of the connection
                await self.callers.note(key, user, needed=True)
                raise await user.login.required(error) from None
            await self.callers.note(key, user, needed=False)
            user.login.succeeded()
            return result

    async def _send_logged_in(
        self,
        user: Connection,
        login: CallerLogin,
        send: Callable[[Client], Awaitable[Sent]],
        repeatable: bool,
        caller: Caller,
    ) -> Sent:
        """Send the requests of one call, and again if another process has logged in since the server refused them."""
        try:
            return await self._send(user.link, send, repeatable, caller)
        except AuthorizationRequiredError as error:
            if error.url is not None or not await login.is_new():
                raise
        user.link.hasten()
        return await self._send(user.link, send, repeatable, caller)

    def meta(self, context: Context[Any]) -> dict[str, Any]:
        """Return the members of `_meta` for each request that a call sends to the server.

        Raises:
            ProtocolError: the request has passed through too many hosts.
        """
        return next_hop(context.meta, self._host_id)

    async def _send(
        self, link: Link, send: Callable[[Client], Awaitable[Sent]], repeatable: bool, caller: Caller
    ) -> Sent:
        """Convert errors of the connection to errors for the caller. If they are doubtful, check the connection."""
        client = link.connected or await self._connected(link)
        if self.login is not None and not self.login.admits(caller):
            raise self.login.refused()
        other = of_other.set(not caller.trusted)
        try:
            with link.uses:
                return await send(client)
        except MCPError as error:
            typed = no_response(self.name, error, repeatable=repeatable, auth=self.config.auth, login=self.login)
            if self._is_doubtful(error, typed):
                link.check(client)
            if typed is None:
                raise
            raise typed from error
        finally:
            of_other.reset(other)

    def _is_doubtful(self, error: MCPError, typed: ToolExecutionError | None) -> bool:
        """Return True if an error may show that a program hangs, or that a URL has no server or another one now."""
        if self.config.command is not None:
            return typed is not None and typed.kind is ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
        if typed is not None and typed.kind is ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE:
            return True
        is_refused = isinstance(error, UpstreamError) or is_refused_status(error)
        return is_refused or (isinstance(error, ProtocolError) and error.code == SERVER_ERROR)

    async def _connected(self, link: Link) -> Client:
        """Wait for a connection. A call over an open connection needs no timer."""
        try:
            async with asyncio.timeout(self.config.timeout):
                return await link.client()
        except NotConnectedError as error:
            raise not_connected(self.name, error, self.config.auth, self.login) from error
        except TimeoutError:
            late = NotConnectedError(f"it has not connected within {self.config.timeout:g} seconds (timeout)", 0.0)
            raise not_connected(self.name, late, self.config.auth, self.login) from None

    async def _token(self, call: Call | Context[Any]) -> str | None:
        """Return the token of the caller for the server; None if the server needs no token.

        Raises:
            AuthorizationRequiredError: the caller has no token.
        """
        return None if self._authorization is None else (await self._get_token(self._authorization, call)).token

    @property
    def is_connected(self) -> bool:
        """False if the server has one connection for all callers, and it is not open."""
        return self._host is None or self._host.link.connected is not None

    async def require(self, call: Call) -> bool:
        """Check that the user of a call has the token that the server needs, and that a connection for all is open.

        Return True if another process has logged in the user, so that the server can connect.

        Raises:
            AuthorizationRequiredError: the user has no token.
            NetworkTransportError: the connection is not open.
        """
        if call.caller.is_known and not call.caller.service:
            await self._token(call)
            user = self._users.get(self.callers.key(call.caller, call.client))
            if user is not None and user.needs_login and user.login is not None:
                if await user.login.is_new():
                    user.link.hasten()
                    return True
                raise await user.login.required(AuthorizationRequiredError(self.name))
        if self._host is not None and (error := self._host.link.failure) is not None:
            raise not_connected(self.name, error, self.config.auth, self.login)
        return False

    # --- visibility

    def allows(self, kind: ItemKind, shown: str, caller: Caller) -> bool:
        """Return True if a caller may see an item of this server."""
        if self._host is not None:
            return True
        if caller.service:
            return True  # a service acts for all users, and names one with each call
        if not caller.is_known:
            return False
        return any(self.items.sees(holder, kind, shown) for holder in self.callers.holders(caller))

    # --- connections

    def _host_for(self, client: CallingClient) -> Connection | None:
        """Return the connection for all callers; None if each user has one.

        If the host has one client, its first request decides what the connection declares.
        """
        if self._awaits_client and client != CallingClient():
            self._awaits_client = False
            before, self._declared = self._declared, self.rules.capabilities(client.capabilities)
            if self._host is not None and self._host.link.is_running and self._declared != before:
                self._host.replace()
        return self._host

    def _make_connection(self, holder: Hashable) -> Connection:
        make = partial(self._make_link, holder)
        if isinstance(holder, ConnectionKey):
            return Connection(make, self.config.idle_limit, self.callers.login(holder))
        return Connection(make, self.config.idle_limit, on_idle=self._report_idle)

    def _report_idle(self) -> None:
        self.logger.info("%s: no calls for %g s: closed until the next call", self.name, self.config.idle_limit)

    def _make_link(self, holder: Hashable, connection: Connection) -> Link:
        user = holder.user if isinstance(holder, ConnectionKey) else None
        label = self.name if user is None else f"{self.name} for {user}"
        return Link(
            label,
            partial(self._open, holder, connection),
            self._make_reader(label),
            partial(self._publish, holder, connection.uses),
            self.logger,
            self._mounted.receive,
            keep=user is None,
            hurries=self.config.url is not None,
            advice=self._host_advice if user is None else self.callers.advice,
        )

    def _host_advice(self) -> str:
        return OTHER_ADVICE if self.login is None else self.login.advice()

    def _make_reader(self, label: str) -> ListReader:
        return ListReader(label, self.config, self.logger, next_hop({}, self._host_id), self.selection)

    async def _publish(self, holder: Hashable, uses: Uses, lists: UpstreamLists) -> None:
        await self._serving()
        await self.memory.wait()
        await self.items.publish(holder, lists)
        uses.begin()
        if self._host is not None:
            if self.items.lists_any(ACCEPTED):
                await self.items.forget(ACCEPTED)
            self.memory.confirm(None if self._host.link.reader.failed else lists)
            if not self._host.link.reader.failed:
                await self.selection.end(own for items in lists for own in items)

    def _open(
        self, holder: Hashable, connection: Connection, on_notification: NotificationListener
    ) -> AbstractAsyncContextManager[Client]:
        from pegboard_client import Client, ClientLimits  # it is loaded with the first connection

        address: Endpoint | Program
        if self._in_process is not None:
            address = self._in_process.endpoint
        else:
            auth: HttpAuth | None = self.login
            if isinstance(holder, ConnectionKey):
                auth = connection.login if self.config.auth is None else UserToken(connection)
            address = server_address(self.name, self.config, self._folder, self.log, auth)
        return Client(
            address,
            revision=self.config.revision,
            capabilities=decode(holder.declared) if isinstance(holder, ConnectionKey) else self._declared,
            on_notification=on_notification,
            timeout=max(self.config.timeout, self._seconds),
            limits=ClientLimits(questions=MAX_OPEN_QUESTIONS),
        )


def _in_process(name: str, config: ServerConfig, logger: Logger) -> InProcessServer:
    from pegboard_plugins.servers.upstreams.in_process_server import InProcessServer

    return InProcessServer(name, config, logger)
