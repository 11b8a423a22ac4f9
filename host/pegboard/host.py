"""The host, which connects all packages. Protocols pass calls to `Dispatcher.dispatch`.

A host owns all its state, including threads and lifespans. A program may run several hosts. A host installs no signal
handlers and opens no descriptors; the `pegboard` command and transports do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from pegboard.calls.deadlines import Deadlines
from pegboard.calls.execute import Runtime
from pegboard.calls.threads import Threads
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.binding import Binder
from pegboard.catalogue.change_listeners import ChangeListeners
from pegboard.catalogue.registry import Registry
from pegboard.config import HostConfig, HostSection
from pegboard.context.bound_function import HostAccess
from pegboard.errors import ServerError
from pegboard.loading.discovery import ProgramPlugins, Selection, config_of, own_version
from pegboard.loading.loader import load
from pegboard.loading.plugins import LoadedPlugin, LoadProblem, LoadReport, log_problems, refuse_fatal, without_secrets
from pegboard.middleware.time_limit import MiddlewareTime
from pegboard.plugin.base import Catalogue, PluginContext
from pegboard.plugin.origin import PROGRAM
from pegboard.plugin.stores import RecordStore
from pegboard.plugin.transports import Connection
from pegboard.routing.operator_token import OperatorToken
from pegboard.runtime.dispatcher import Dispatcher
from pegboard.runtime.host_bus import ChangeRelay, HostBus
from pegboard.runtime.host_contexts import HostForProtocols, HostForTransports
from pegboard.runtime.lifespans import Entered, LateLifespans, leave_all, observe, start_plugins
from pegboard.runtime.open_stores import OpenStores, UsedKeys
from pegboard.runtime.served_catalogue import ServedCatalogue
from pegboard.runtime.supervisor import chosen_transports, run_all
from pegboard.secrets.redaction import Redactor
from pegboard.types.callers import ANONYMOUS, Caller
from pegboard.types.catalogue import Change, Identity
from pegboard.types.http import EventStream, Request, Response

if TYPE_CHECKING:
    from pegboard.plugin.definition_checks import CheckedDefinition
    from pegboard.reloading.reloader import Reloader
    from pegboard.runtime.asgi_application import AsgiApplication
    from pegboard.types.calls import Call, Outcome
    from pegboard.types.reloads import ReloadResult

logger = logging.getLogger("pegboard")
_program_logger = logging.getLogger("pegboard.program")


class Host:
    """Serves the tools, resources and prompts of the enabled plugins.

    Args:
        config: a mapping with the structure of `hostconfig.toml`, or None for safe defaults. The host reads no file and
            no environment variable. The commands pass the `HostConfig` that they have read.
        plugins: plugins of the program, by name: `Plugin` subclasses or modules.
        toolkits: toolkits of the program, by name. Installed ones are served too, unless `[host] autoload` is false.
        mount: servers to mount in this process, by name: of FastMCP, of the official SDK, or ASGI applications.
        selection: the command line's selection of plugins.

    Attributes:
        config: the configuration, after a reload the new one.
        dispatch: runs one call: `await host.dispatch(Call("tools/list"))`. See `ProtocolContext.dispatch`.
        for_protocols: the host as protocols see it.
        for_transports: the host as transports see it.
        identity: the name, the title and the version of the host.
        report: what was loaded, and the problems.
        started: True from the start to the end of the stop.
        watch: calls a listener after every change, and returns a function that stops it. See `ProtocolContext.watch`.

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
        self.config: HostConfig = config_of(config, mount or {})
        self._redactor = Redactor(self.config.secret_values)
        self._given = ProgramPlugins(plugins or {}, toolkits or {})
        self._selection = selection or Selection()
        self._entered: Entered = []
        self._dispatcher = Dispatcher(self.config.host.blocked_loop_seconds)
        self.dispatch: Callable[[Call], Coroutine[Any, Any, Outcome]] = self._dispatcher.dispatch
        self._runtime = self._new_runtime()
        self._changes = ChangeListeners()
        self._served = ServedCatalogue(
            self._dispatcher, self._runtime, self._changes, lambda: self.config.host.page_size
        )
        self.watch: Callable[[Callable[[Change], None]], Callable[[], None]] = self._served.watch
        self._late = LateLifespans(self._entered)
        keys = [key.get_secret_value() for key in self.config.host.state_keys]
        self._stores = OpenStores(keys=keys, workers=self.config.worker[1])
        self._bus = HostBus()
        self._relay = ChangeRelay(self._bus, self._served.emit)
        self._serving = asyncio.Event()
        new_context = partial(
            PluginContext, dispatch=self.dispatch, store=self._store, serving=self._serving.wait, bus=self._bus
        )
        changed, late = self._changes.emit_kinds, self._late
        self._registry = Registry(self.config, self._served.publish, changed, late.enter, late.leave, new_context)
        self._program = LoadedPlugin(
            PROGRAM, None, lambda plugin: self._registry.context(plugin, None, _program_logger)
        )
        self._added_later: frozenset[str] = frozenset()
        self.started: bool = False
        self.report: LoadReport = LoadReport()
        self._loaded: LoadReport | None = None
        self._asgi: AsgiApplication | None = None
        self._reloader: Reloader | None = None
        self.identity: Identity = identity_of(self.config.host)
        self.for_protocols: HostForProtocols = HostForProtocols(
            self.identity, self._served, self._dispatcher, self._stores, self._bus
        )
        self.for_transports: HostForTransports = HostForTransports(
            self.for_protocols, self._served, self._registry, self._serving
        )

    def _new_runtime(self) -> Runtime:
        host = self.config.host
        threads = Threads(host.threads)
        access = HostAccess(self.dispatch, self.emit, threads.step, self._entered, {}, {}, self._used_keys().use)
        time = MiddlewareTime(lambda: self.config.host.tool_timeout)
        return Runtime(threads, Deadlines(), access, time, host.token_seconds)

    def _used_keys(self) -> UsedKeys:
        state, workers = self.config.host.state, self.config.worker[1]
        return UsedKeys(None if state is None else lambda: self.for_protocols.store(RecordStore, state), workers)

    async def _store(self, contract: type[Any], name: str, closing: Callable[[], Awaitable[None]]) -> Any:
        """Return a store for a plugin, and call `closing` before the stores close."""
        store = await self.for_protocols.store(contract, name)
        leaving = AsyncExitStack()
        leaving.push_async_callback(closing)
        self._entered.append((f"a user of the store {name!r}", leaving))
        return store

    @property
    def assembly(self) -> Assembly:
        """The current assembly of everything that the host serves.

        Raises:
            ServerError: nothing has been loaded yet.
        """
        return self._served.assembly

    @property
    def problems(self) -> tuple[LoadProblem, ...]:
        """All problems of loading and assembling, without secrets."""
        assembling = self._served.current.problems if self._served.current else ()
        if self._selection.strict or self._selection.files:
            assembling = tuple(problem._replace(fatal=self._is_fatal(problem)) for problem in assembling)
        return tuple(without_secrets(problem, self._redactor) for problem in (*self.report.problems, *assembling))

    def _is_fatal(self, problem: LoadProblem) -> bool:
        """Return True if a problem of assembling prevents the start: with `--strict`, or of a file without items."""
        if problem.level != "error" or problem.fatal or self._selection.strict:
            return problem.level == "error"
        origin = problem.origin
        return origin is not None and origin.given is not None and not self.assembly.has_items_of(origin)

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

    @property
    def catalogue(self) -> Catalogue:
        """The tools, resources and prompts of the program, which may change before and after the start."""
        return self._program.context.catalogue

    def emit(self, change: Change) -> None:
        """Announce a change to the listeners, from any thread. Never raises."""
        self._served.emit(change)
        self._relay.tell(change)

    # --- life ---

    def load(self) -> Assembly:
        """Load and assemble without starting anything, for inspection. Failures are in `problems`.

        The next start uses the loaded plugins.
        """
        self._loaded = None
        self.report = self._loaded = self._load()
        return self._use(self.report.plugins)

    def _load(self) -> LoadReport:
        """Load the plugins, unless they are loaded and have not been started."""
        self._registry.collect()
        report = self._loaded or load(self.config, self._selection, self._given, context=self._registry.context)
        self._registry.join(report.plugins)
        return report

    def _use(self, running: Iterable[LoadedPlugin]) -> Assembly:
        plugins = (*running, self._program)
        binder = Binder(self.config, plugins, self.report.choices, self._redactor)
        binder.accepts_hidden_text = self._selection.hidden_text
        self._added_later = frozenset().union(*(getattr(plugin.instance, "offers", ()) for plugin in running))
        self._served.begin_anew(self._added_later)
        return self._registry.open(binder, self.report.absent(plugins), check_order=not self._selection.safe)

    async def start(self) -> None:
        """Load the plugins, enter their lifespans and assemble their contributions.

        Raises:
            ConfigError, PluginError: the operator's configuration cannot be fulfilled. The error lists all reasons.
            ServerError: the host is started already.
        """
        if self.started:
            raise ServerError("the host is started already: make another Host to start a second one")
        self.started = True
        self.for_protocols.stopping = False
        self.for_transports.stopping = False
        self._dispatcher.calls.open()
        self._changes.open()
        self._relay.open()
        self._late.open()
        try:
            self.report = self._load()
            self._loaded = self._reloader = None
            refuse_fatal(self.report.problems, self._redactor)
            self._entered.append(("stores that plugins open while the host stops", self._stores))
            started, self.report = await start_plugins(self.report, self._entered, strict=self._selection.strict)
            refuse_fatal(self.report.problems, self._redactor)
            assembly = self._use(started)
            refuse_fatal(self.problems, self._redactor)
            self._entered.append(("the stores", self._stores))
            self.for_protocols.observation = observe(
                started, self, self._dispatcher.calls, self._runtime.threads, self._entered
            )
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
            served = (self.config, self._given, self.report)
            calls = self._dispatcher.calls
            self._reloader = Reloader(served, self._selection, self._registry, self._redactor, self._entered, calls)
        results = await self._reloader.reload(config or self.config, names)
        self.config, self._given, self.report = self._reloader.served
        return results

    def announce_stop(self) -> None:
        """Let protocols and transports tell clients to send no further calls. Calls in flight continue."""
        self.for_protocols.stopping = True
        self.for_transports.stopping = True

    async def drain(self, grace: float) -> bool:
        """Stop accepting calls and wait up to `grace` seconds. Return True if all calls finished."""
        self.announce_stop()
        return await self._dispatcher.calls.drain(grace)

    async def stop(self) -> None:
        """Leave the lifespans in reverse order and stop the threads. If a lifespan fails, the others are still left.

        Raises:
            asyncio.CancelledError: the task was cancelled. Lifespans that end without waiting have been left.
        """
        self._late.close()
        self._dispatcher.calls.end_waits()
        cancelled = await leave_all(self._entered)
        for part in (self._changes, self._runtime, self._dispatcher.calls):
            part.close()
        if not self._selection.masks_after_stop:
            self._redactor.close()
        self.started = False
        if cancelled:
            raise asyncio.CancelledError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(self, transports: Iterable[str] | None = None) -> None:
        """Run transports until one ends or the task is cancelled. The host must be started: `async with host:`.

        Args:
            transports: names of transports; those of `[host] transports` when None. The plugin of a transport runs if
                `[host] transports` or `[host] plugins` lists it.

        Raises:
            ServerError: the host has not been started.
            TransportError, PluginError: a transport is unknown or cannot be opened, or another process uses a store.
        """
        names = self.config.host.transports if transports is None else transports
        chosen = chosen_transports(self.assembly.transports, names)
        await run_all(chosen, self.for_transports, self.for_protocols.restarting, self._stores.lost())

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
        self.for_protocols.operator = OperatorToken(token)

    async def serve(self, connection: Connection, messages: AsyncIterable[bytes], *, caller: Caller = ANONYMOUS) -> int:
        """Serve one connection until its messages end, then close it. See `TransportContext.serve`.

        Raises:
            TransportError: there is no protocol, or more than one.
        """
        return await self.for_transports.serve(connection, messages, caller=caller)

    async def respond(self, request: Request) -> Response | EventStream:
        """Return the response to one HTTP request. Never raises, except for `asyncio.CancelledError`."""
        return await self.for_transports.respond(request)


def identity_of(section: HostSection) -> Identity:
    """Return the identity that the `[host]` section defines."""
    return Identity(
        name=section.name,
        version=section.version or own_version(),
        title=section.title,
        instructions=section.instructions,
        website_url=section.website_url,
        description=section.description,
        icons=_icons(section.icons),
    )


def _icons(icons: tuple[Any, ...]) -> tuple[Any, ...]:
    if not icons:
        return ()
    from pegboard.types.content import Icon

    return tuple(Icon(icon) if isinstance(icon, str) else Icon(**icon) for icon in icons)
