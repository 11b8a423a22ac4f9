"""The host, which connects all packages. Protocols pass calls to `Host.dispatch`.

A host owns all its state, including threads and lifespans. A program may run several hosts. A host installs no signal
handlers and opens no descriptors; the `pegboard` command and transports do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from pegboard.calls.deadlines import Deadlines
from pegboard.calls.execute import Runtime
from pegboard.calls.failures import as_failure, is_cancelled, run_again
from pegboard.calls.threads import Threads
from pegboard.catalogue.assembly import Assembly, assemble, offered
from pegboard.catalogue.binding import Binder
from pegboard.catalogue.change_listeners import ChangeListeners
from pegboard.catalogue.extensions import check_result
from pegboard.catalogue.identity import identity_of
from pegboard.catalogue.lists import Lists
from pegboard.catalogue.pages import ListKind, may_find
from pegboard.catalogue.registry import Registry
from pegboard.config import HostConfig
from pegboard.context.bound_function import HostAccess
from pegboard.errors import MCPError, ProtocolError, RepeatCallError, ServerError
from pegboard.loading.discovery import ProgramPlugins, Selection, config_of
from pegboard.loading.loader import load
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, LoadReport, log_problems, refuse_fatal, without_secrets
from pegboard.middleware.gate import Gate, hides, require_served
from pegboard.middleware.time_limit import MiddlewareTime
from pegboard.plugin.base import Catalogue
from pegboard.plugin.methods import Contributions
from pegboard.plugin.origin import PROGRAM
from pegboard.plugin.routes import DEFAULT_POLICY
from pegboard.plugin.transports import Connection
from pegboard.routing.operator_token import OperatorToken
from pegboard.routing.router import authenticate, begin_response, check_reach, public_hosts, respond
from pegboard.runtime.call_counter import CallCounter
from pegboard.runtime.lifespans import Entered, LateLifespans, leave_all, observe, start_plugins
from pegboard.runtime.method_table import method_table
from pegboard.runtime.open_stores import OpenStores
from pegboard.runtime.streams import serve_stream
from pegboard.runtime.subscribing import subscribe
from pegboard.runtime.supervisor import chosen_transports, note_opened, run_all
from pegboard.runtime.watchdog import variable_of
from pegboard.secrets.redaction import Redactor
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.calls import Call, CallNext, Failure, MethodResult, Outcome
from pegboard.types.catalogue import Change, Identity, ItemKind, Tool
from pegboard.types.http import EventStream, Request, Response
from pegboard.wire.jsonrpc import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from pegboard.plugin.definition_checks import CheckedDefinition
    from pegboard.plugin.observers import SessionRecorder
    from pegboard.reloading.reloader import Reloader
    from pegboard.runtime.asgi_application import AsgiApplication
    from pegboard.types.reloads import ReloadResult

logger = logging.getLogger("pegboard")
_program_logger = logging.getLogger("pegboard.program")


class Host:
    """Serves the tools, resources and prompts of the enabled plugins.

    Args:
        config: a mapping with the structure of `hostconfig.toml`, or None for safe defaults. The host reads no file and
            no environment variable. The commands pass the `HostConfig` that they have read.
        plugins: plugins of the program, by name: `Plugin` subclasses or modules.
        toolkits: toolkits of the program, by name.
        mount: servers to mount in this process, by name: of FastMCP, of the official SDK, or ASGI applications.
        selection: the command line's selection of plugins.

    Attributes:
        started: True from the start to the end of the stop.
        identity, restarting, sessions, stopping: see `ProtocolContext`.

    Raises:
        ConfigError: the configuration is invalid.
    """

    def __init__(
        self,
        config: HostConfig | Mapping[str, Any] | None = None,
        *,
        plugins: Mapping[str, Any] | None = None,
        toolkits: Mapping[str, Any] | None = None,
        mount: Mapping[str, Any] | None = None,
        selection: Selection | None = None,
    ) -> None:
        self.config = config_of(config, mount or {})
        self._redactor = Redactor(self.config.secret_values)
        self._given = ProgramPlugins(plugins or {}, toolkits or {})
        self._selection = selection or Selection()
        threads = Threads(self.config.host.threads)
        self._entered: Entered = []
        host_access = HostAccess(self.dispatch, self.emit, threads.step, self._entered, {}, {})
        host, time = self.config.host, MiddlewareTime(lambda: self.config.host.tool_timeout)
        self._runtime = Runtime(threads, Deadlines(), host_access, time, host.token_seconds)
        self._methods: Mapping[str, CallNext] = {}
        self._changes, self._late = ChangeListeners(), LateLifespans(self._entered)
        self._registry = Registry(self.config, self._publish, self._changes.emit_kinds, self._late)
        self._program = LoadedPlugin(
            PROGRAM, None, lambda plugin: self._registry.context(plugin, None, _program_logger)
        )
        self._lists: Lists | None = None
        self._gates: Sequence[Gate] = ()
        self._offered: frozenset[str] = frozenset(("tools",))
        self._added_later: frozenset[str] = frozenset()
        self._in_flight = CallCounter(self.config.host.blocked_loop_seconds, _CALL)
        self._stores = OpenStores()
        self.started, self.stopping, self.restarting = False, False, set[str]()
        self._asgi: AsgiApplication | None = None
        self.sessions: SessionRecorder | None = None
        self.on_opened: Callable[[str, Sequence[str]], None] | None = None
        self._operator: OperatorToken | None = None
        self.standard_output, self.report = 1, LoadReport()
        self._assembly: Assembly | None = None
        self._reloader: Reloader | None = None
        self.identity: Identity = identity_of(self.config.host)

    @property
    def assembly(self) -> Assembly:
        """The current assembly of everything that the host serves.

        Raises:
            ServerError: nothing has been loaded yet.
        """
        if self._assembly is None:
            raise ServerError("the host has not been started: enter it with `async with host:` first")
        return self._assembly

    @property
    def problems(self) -> tuple[LoadProblem, ...]:
        """All problems of loading and assembling, without secrets."""
        assembling = self._assembly.problems if self._assembly else ()
        if self._selection.strict:
            assembling = tuple(problem._replace(fatal=problem.level == "error") for problem in assembling)
        return tuple(without_secrets(problem, self._redactor) for problem in (*self.report.problems, *assembling))

    def definitions(self) -> Iterator[CheckedDefinition]:
        """Yield each item that the host serves, as a `DefinitionCheck` receives it.

        Raises:
            ServerError: nothing has been loaded yet.
        """
        from pegboard.catalogue.item_checks import served_definitions  # most hosts have no checks

        return served_definitions(self.assembly)

    @property
    def busy_threads(self) -> int:
        """The number of running sync functions. A sync function cannot be stopped."""
        return self._runtime.threads.busy

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the host lists or has listed items of a kind. Tools are always offered."""
        return kind in self._offered

    @property
    def catalogue(self) -> Catalogue:
        """The tools, resources and prompts of the program, which may change before and after the start."""
        return self._program.context.catalogue

    @property
    def contributed(self) -> Contributions:
        """The additions of plugins to the protocol."""
        return self.assembly.contributed

    def hears(self, method: str) -> bool:
        """Return True if a handler or middleware receives notifications named `method`. Return False for requests."""
        return method.startswith("notifications/") and method in self._methods

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """Return the tool with the wire name `name`. Return None if the caller has no access to such a tool."""
        bound = self.assembly.tools.get(name)
        if bound is None or (bound.requirements is not None and not may_find(caller, bound)):
            return None
        if self._gates and hides(self._gates, name, caller):
            return None
        return bound.tool

    def subscribe(self, uri: str, call: Call) -> MCPError | None:
        """Notify the resource of a subscription. See `ProtocolContext.subscribe`."""
        return subscribe(self._gates, uri, call, self.assembly, self._runtime.host_access)

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Call a listener after every change. Return a function that stops it. See `ProtocolContext.watch`."""
        return self._changes.watch(listener)

    def emit(self, change: Change) -> None:
        """Announce a change to the listeners, from any thread. Never raises."""
        if self._lists is not None:
            self._lists.forget(change)
        self._changes.emit(change)

    # --- life ---

    def load(self) -> Assembly:
        """Load and assemble without starting anything, for inspection. Failures are in `problems`."""
        self.report = self._load()
        return self._use(self.report.plugins)

    def _load(self) -> LoadReport:
        self._registry.collect()
        return load(self.config, self._selection, self._given, context=self._registry.context)

    def _use(self, running: Iterable[LoadedPlugin]) -> Assembly:
        plugins = (*running, self._program)
        absent = self.report.absent(plugins)
        binder = Binder(self.config, plugins, self.report.choices, self._redactor)
        binder.accepts_hidden_text = self._selection.hidden_text
        self._lists = None
        self._added_later = frozenset().union(*(getattr(plugin.instance, "offers", ()) for plugin in running))
        self._offered = self._added_later | {"tools"}
        make = partial(assemble, self.config, plugins, binder, absent, check_order=not self._selection.safe)
        return self._registry.open(plugins, binder, make)

    def _publish(self, assembly: Assembly) -> None:
        """Serve a new assembly. Calls in flight continue with the previous assembly."""
        self._lists = Lists(assembly, self.config.host.page_size, self._lists, self._runtime.middleware)
        runtime = self._runtime._replace(token_sources=assembly.token_sources)
        self._methods = method_table(assembly, lambda kind: partial(self._page, kind), runtime)
        self._gates = [link.middleware for link in assembly.middleware if isinstance(link.middleware, Gate)]
        self._assembly = assembly
        self._offered |= offered(assembly)

    def _page(self, kind: ListKind, call: Call) -> Awaitable[Outcome]:
        """Return a page of the current list. Middleware runs before, and may change the list meanwhile."""
        assert self._lists is not None
        return self._lists.method(kind)(call)

    async def start(self) -> None:
        """Load the plugins, enter their lifespans and assemble their contributions.

        Raises:
            ConfigError, PluginError: the operator's configuration cannot be fulfilled. The error lists all reasons.
            ServerError: the host is started already.
        """
        if self.started:
            raise ServerError("the host is started already: make another Host to start a second one")
        self.started = True
        self.stopping = False
        self._in_flight.open()
        self._changes.open()
        self._late.open()
        try:
            self.report, self._reloader = self._load(), None
            refuse_fatal(self.report.problems, self._redactor)
            started, self.report = await start_plugins(self.report, self._entered, strict=self._selection.strict)
            refuse_fatal(self.report.problems, self._redactor)
            assembly = self._use(started)
            refuse_fatal(self.problems, self._redactor)
            self._entered.append(("the stores", self._stores))
            self.sessions = observe(started, self, self._in_flight, self._runtime.threads, self._entered)
            if self._asgi is not None:
                await self._asgi.open()
        except BaseException:
            await self.stop()
            raise
        log_problems(self.problems)
        if not assembly.tools and not assembly.unserved and "tools" not in self._added_later:
            logger.warning("no tools are served: install a toolkit, or see `pegboard plugins` for disabled ones")

    async def reload(self, *names: str, config: HostConfig | None = None) -> Sequence[ReloadResult]:
        """Apply changes of plugins, toolkits and settings to the running host, as one new assembly.

        The old version is kept if a change is broken. Calls in flight continue with it.

        Args:
            names: plugins, toolkits or distributions to reload even if their files have not changed.
            config: the new configuration; the current one if None.

        Raises:
            PluginError, ServerError: a name is unknown, or the host is not started.
        """
        from pegboard.reloading.reloader import Reloader

        if not self.started:
            raise ServerError("the host is not started: enter it with `async with host:` first")
        if self._reloader is None:
            served, selection, calls = (self.config, self._given, self.report), self._selection, self._in_flight
            self._reloader = Reloader(served, selection, self._registry, self._redactor, self._entered, calls)
        results = await self._reloader.reload(config or self.config, names)
        self.config, self._given, self.report = self._reloader.served
        return results

    async def drain(self, grace: float) -> bool:
        """Stop accepting calls and wait up to `grace` seconds. Return True if all calls finished."""
        self.stopping = True
        return await self._in_flight.drain(grace)

    async def stop(self) -> None:
        """Leave the lifespans in reverse order and stop the threads. If a lifespan fails, the others are still left.

        Raises:
            asyncio.CancelledError: the task was cancelled. Lifespans that end without waiting have been left.
        """
        self._late.close()
        self._in_flight.end_waits()
        cancelled = await leave_all(self._entered)
        for part in (self._changes, self._redactor, self._runtime, self._in_flight):
            part.close()
        self.started = False
        if cancelled:
            raise asyncio.CancelledError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(self, transports: Iterable[str] | None = None) -> None:
        """Run transports until one ends or the task is cancelled.

        Args:
            transports: names of transports; those of `[host] transports` when None.

        Raises:
            TransportError, PluginError: a transport is unknown or cannot be opened, or a store is used elsewhere.
        """
        names = self.config.host.transports if transports is None else transports
        await run_all(chosen_transports(self.assembly.transports, names), self, self.restarting, self._stores.lost())

    def asgi(self) -> AsgiApplication:
        """Return the ASGI application that serves all routes, and starts and stops the host under an ASGI server.

        If it is mounted in another application, enter the host in the lifespan of that application: `async with host:`.
        """
        from pegboard.runtime.asgi_application import AsgiApplication

        self._asgi = self._asgi or AsgiApplication(self, self._entered)
        return self._asgi

    def admit_operator(self, token: str) -> None:
        """Treat the caller of requests with this token as the operator. Logs never show the token."""
        self._redactor.add(token)
        self._operator = OperatorToken(token)

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve one connection until its messages end, then close it. See `TransportContext.serve`.

        Raises:
            TransportError: there is no protocol, or more than one.
        """
        return await serve_stream(self.assembly, self, connection, messages, caller)

    async def wait_stopping(self) -> float:
        """Wait until the host is about to stop. Return the end of the grace period on the event loop's clock."""
        return await self._in_flight.wait_stopping()

    @property
    def public_hosts(self) -> frozenset[str]:
        """The host names in the URLs of routes."""
        return public_hosts(self.assembly.authenticators)

    def opened(self, address: str, *, local: bool = False, policy: str | None = None) -> None:
        """Check and record an open channel, and call `on_opened`. See `TransportContext.opened`."""
        self._registry.guard(partial(check_reach, address, local=local, policy=policy))
        if self.on_opened is not None:
            self.on_opened(address, list(self.assembly.tools))
        note_opened()

    async def authenticate(self, request: Request, policy: str = DEFAULT_POLICY) -> Caller | Response:
        """Return the caller of a request, or the response that refuses it. See `TransportContext.authenticate`."""
        return await authenticate(self.assembly.authenticators, policy, request, self._operator)

    async def respond(self, request: Request) -> Response | EventStream:
        """Return the response to one HTTP request. Never raises, except for `asyncio.CancelledError`."""
        return await respond(self.assembly.routes, request, self, self._operator)

    def begin(self, request: Request) -> Response | EventStream | Awaitable[Response | EventStream]:
        """Return the response to one HTTP request, or an awaitable for it. See `TransportContext.begin`."""
        return begin_response(self.assembly.routes, request, self, self._operator)

    async def open_stores(self) -> None:
        """Open the selected stores. See `TransportContext.open_stores`."""
        await self._stores.open_all(self.assembly.stores)

    async def store(self, contract: type[Any], name: str) -> Any:
        """Return a selected store. See `ProtocolContext.store`."""
        return await self._stores.get(self.assembly.stores, (contract, name))

    async def dispatch(self, call: Call) -> Outcome:
        """Run one call through middleware and return its outcome. Never raises, except for `asyncio.CancelledError`.

        An exception becomes an outcome outside all middleware. An unexpected one is masked, and logged under its id.
        """
        handler = self._methods.get(call.method)
        if handler is None:
            return Failure(ProtocolError(METHOD_NOT_FOUND, f"Method not found: {call.method}"))
        epoch = self._in_flight.begin()
        try:
            if call.serves is not None:
                require_served(call)
            outcome = await handler(call)
            return check_result(call, outcome, self.contributed) if type(outcome) is MethodResult else outcome
        except BaseException as error:
            if is_cancelled(error, call.rounds):
                self._in_flight.note_cancelled(call)
                raise
            if isinstance(error, RepeatCallError):
                return await run_again(self._methods[call.method], call)
            if self._lists is not None:
                error = await self._lists.with_similar_tool(error, call)
            return as_failure(call, error)
        finally:
            self._in_flight.end(epoch)


_CALL = variable_of(Host.dispatch, "call")
