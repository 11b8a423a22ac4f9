"""The changes of a running host's catalogue. Every change publishes a new `Assembly`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pegboard.authoring import as_definition
from pegboard.calls.served_item import SINGULAR, ServedItem, Unserved
from pegboard.catalogue.assembly import Assembly, assemble, notify_middleware
from pegboard.catalogue.binding import Binder, BindResult, Definition, Edits, toolkit_of
from pegboard.catalogue.tool_compiler import definition_label, location_of, own_name
from pegboard.config import HostConfig
from pegboard.errors import MCPError, ToolDefinitionError
from pegboard.errors.definition import attempt
from pegboard.hookspecs import (
    register_authenticators,
    register_folders,
    register_prompts,
    register_resources,
    register_stores,
    register_tools,
)
from pegboard.loading.loader import load_late
from pegboard.loading.plugins import (
    Absent,
    LoadedPlugin,
    config_problems,
    contributions_of,
    key_of,
    log_problems,
    refuse_fatal,
    without_secrets,
)
from pegboard.names import wire_name, with_nearest
from pegboard.plugin.base import PluginContext
from pegboard.plugin.definitions import KINDS, ContentFolder, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.origin import Origin
from pegboard.plugin.routes import Authenticator
from pegboard.plugin.stores import Store
from pegboard.secrets.secret_lookup import check_token_grant, is_granted
from pegboard.types.authorization import TokenRequest
from pegboard.types.calls import Call
from pegboard.types.catalogue import ItemKind, Resource

if TYPE_CHECKING:
    from pegboard.authoring.late_toolkit import LateToolkit, Rejections
    from pegboard.context import Context
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.callers import Authorization

logger = logging.getLogger("pegboard")

Guard: TypeAlias = Callable[..., None]
"""Raises `ConfigError` if the authenticators and the routes of an assembly may not be served at an open address."""


class Registry:
    """The catalogues of all plugins of one host.

    Args:
        config: the configuration of the host.
        publish: a function that starts to serve a new assembly.
        changed: a function that is called with the changed kinds, outside all locks.
        enter: enters the lifespan of a toolkit that a thread has imported.
        leave: leaves this lifespan.
        new_context: makes the context of a plugin's hooks from the attributes that the registry knows.

    Attributes:
        plugins: the plugins that run, with the program's.
    """

    def __init__(
        self,
        config: HostConfig,
        publish: Callable[[Assembly], None],
        changed: Callable[[Collection[ItemKind]], None],
        enter: Callable[[LoadedPlugin], None],
        leave: Callable[[LoadedPlugin], None],
        new_context: Callable[..., PluginContext],
    ) -> None:
        self._new_context = new_context
        self._config = config
        self._publish = publish
        self._changed = changed
        self._enter = enter
        self._leave = leave
        self._lock = RLock()
        self.plugins: Sequence[LoadedPlugin] = ()
        self._assembly: Assembly | None = None
        self._binder: Binder | None = None
        self._joining: Sequence[LoadedPlugin] = ()
        self._edits: Edits = {}
        self._guards: list[Guard] = []

    def context(self, plugin: LoadedPlugin, config: Any, log: logging.Logger) -> PluginContext:
        """Return the context of a plugin's hooks, with its catalogue."""
        folder = self._config.trusted_directory
        methods: Sequence[Callable[..., Any]] = self.add, self.update, self.remove, self.complete
        return self._new_context(
            name=plugin.origin.name,
            config=config,
            logger=log,
            catalogue=_OwnCatalogue(*(partial(method, plugin) for method in methods)),
            get_secret=partial(self._secret, plugin.origin),
            directory=None if folder is None else str(folder),
            get_token=partial(self._token, plugin),
            find_file=self._config.find_file,
            transports=self._config.host.transports,
            find_store=self._find_store,
            authenticators=self._authenticators,
            folders=self._folders,
            worker=self._config.worker,
        )

    def _known(self) -> Iterable[LoadedPlugin]:
        """Return the plugins that run, and those that a start or a reload has loaded in their place."""
        with self._lock:
            return {key_of(plugin.origin): plugin for plugin in (*self.plugins, *self._joining)}.values()

    def _find_store(self, contract: type[Any]) -> Store | None:
        stores = (store for _, store in contributions_of(self._known(), register_stores))
        return next((store for store in stores if store.contract is contract), None)

    def _authenticators(self) -> Sequence[Authenticator]:
        return [authenticator for _, authenticator in contributions_of(self._known(), register_authenticators)]

    def _folders(self, kind: str) -> Sequence[ContentFolder]:
        return [
            folder._replace(path=str(plugin.folder / folder.path), toolkit=toolkit_of(plugin, None))
            for plugin, folder in contributions_of(self._known(), register_folders)
            if folder.kind == kind
        ]

    async def _token(
        self, plugin: LoadedPlugin, required: ToolAuthorization, call: Call | Context[Any]
    ) -> Authorization:
        from pegboard.authorization.token_lookup import token_of

        check_token_grant(self._config, plugin.origin, required)
        with self._lock:
            sources = () if self._assembly is None else self._assembly.token_sources
        call = call if isinstance(call, Call) else call._call
        user = (call.supplied and call.supplied.user_id) or call.caller.subject or self._config.host.user
        request = TokenRequest(required, plugin.origin.name, user, call)
        return await token_of(request, sources, self._config.host.token_seconds)

    def _secret(self, origin: Origin, name: str) -> str | None:
        with self._lock:
            binder = self._binder
        if binder is None or binder.secrets.is_reserved(name):
            return None
        if not is_granted(self._config, origin, name):
            message = "%s does not receive the secret %s: [host.toolkits.%s] secrets does not grant it"
            logger.warning(message, origin, name, origin.name)
            return None
        secret = binder.secrets.get(name)
        self._report(binder)
        return secret

    def collect(self) -> None:
        """Stop serving. Additions are stored for the next assembly."""
        with self._lock:
            self._assembly = self._binder = None
            self._edits.clear()
            self._guards.clear()

    def guard(self, check: Guard) -> None:
        """Check the authenticators and routes of this assembly, and later those of each reload.

        Raises:
            ConfigError: the check fails now.
        """
        with self._lock:
            assert self._assembly is not None
            check(self._assembly.authenticators, self._assembly.routes)
            self._guards.append(check)

    def join(self, plugins: Sequence[LoadedPlugin]) -> None:
        """Store the additions of plugins that a start or a reload has loaded for the next assembly."""
        with self._lock:
            self._joining = plugins

    def open(self, binder: Binder, absent: Absent, *, check_order: bool) -> Assembly:
        """Assemble and serve the contributions of the binder's plugins, and let these plugins change them.

        Changes wait until the assembly is served. The arguments are those of `assemble`.
        """
        with self._lock:
            assembly = assemble(binder, absent, check_order=check_order)
            self._joining = ()
            self._serve(binder, assembly)
        return assembly

    def _serve(self, binder: Binder, assembly: Assembly) -> None:
        self._connect_late(binder.plugins)
        self.plugins = binder.plugins
        self._binder = binder
        self._assembly = assembly
        self._publish(assembly)

    def replace(self, binder: Binder, absent: Absent, *, check_order: bool) -> None:
        """Serve another assembly at once, with the changes that its plugins have made so far, and announce it.

        The arguments are those of `assemble`.

        Raises:
            PluginError, ConfigError: the assembly has a fatal problem. The earlier assembly is still served.
        """
        with self._lock:
            before = self._assembly
            assert before is not None
            binder.edits = {plugin: edits for plugin, edits in self._edits.items() if plugin in binder.plugins}
            assembly = assemble(binder, absent, check_order=check_order)
            try:
                refuse_fatal(assembly.problems, binder.redactor)
                for check in self._guards:
                    check(assembly.authenticators, assembly.routes)
            except MCPError:
                notify_middleware(before)  # the change is not applied
                raise
            self._config, self._joining, self._edits = binder.config, (), binder.edits
            self._serve(binder, assembly)
        log_problems((without_secrets(problem, binder.redactor) for problem in assembly.problems), before.problems)
        self._changed([kind for kind in SINGULAR if _listed(before, kind) != _listed(assembly, kind)])

    # --- toolkits that are imported later ---

    def _connect_late(self, plugins: Iterable[LoadedPlugin]) -> None:
        """Allow the import of the late toolkits among these plugins, and forbid the import of replaced toolkits."""
        for plugin in self.plugins:
            if plugin.is_late:
                plugin.instance.finish = None
        for plugin in plugins:
            if plugin.is_late:
                plugin.instance.finish = partial(self._finish, plugin, plugin.instance)

    def _finish(self, late: LoadedPlugin, toolkit: LateToolkit) -> Rejections:
        """Import a toolkit and serve its items in place of its definitions. See `LateToolkit.finish`."""
        fresh = load_late(late, self._config, self.context)
        with self._lock:  # what its lifespan adds are items that the assembly does not have yet
            self._joining = (*self._joining, fresh)
        try:
            self._enter(fresh)
        finally:
            with self._lock:
                self._joining = tuple(plugin for plugin in self._joining if plugin is not fresh)
        try:
            return self._serve_imported(late, fresh, toolkit)
        except BaseException:
            self._leave(fresh)
            raise

    def _serve_imported(self, late: LoadedPlugin, fresh: LoadedPlugin, toolkit: LateToolkit) -> Rejections:
        from pegboard.catalogue.item_checks import accepted  # most hosts have no late toolkit

        with self._lock:
            self._running(late)
            self._exchange(late, fresh)
        try:
            results, rejected = accepted(self._each_bound(fresh), toolkit.rejection)
            with self._lock:
                assert self._assembly is not None
                items = [item for kind in SINGULAR for item in self._assembly.items(kind).values()]
            before = {(item.kind, item.name) for item in items if item.origin == late.origin}
            after = {(result.kind, result.name) for result in results if isinstance(result, ServedItem)}
            changed = {kind for kind, _ in before ^ after}
            self._change(fresh, "replace_all", [(results,)])
            self._changed(changed)
        except BaseException:
            self._exchange(fresh, late)
            raise
        with self._lock:
            if fresh in self.plugins:  # if not, a reload serves the definitions again
                toolkit.finish = None
        return rejected

    def _exchange(self, old: LoadedPlugin, new: LoadedPlugin) -> None:
        with self._lock:
            self.plugins = tuple(new if plugin is old else plugin for plugin in self.plugins)

    def _each_bound(self, plugin: LoadedPlugin) -> Iterator[BindResult]:
        """Yield the items of a plugin. Log those that are invalid."""
        for hook in (register_resources, register_tools, register_prompts):
            for definition in plugin.contributed(hook):
                try:
                    yield from self._bound(plugin, [_definition(definition)])
                except ToolDefinitionError as error:
                    logger.error("%s: %s; it is not served", plugin.origin, error)

    # --- changes by plugins ---

    def add(self, plugin: LoadedPlugin, *items: Any) -> tuple[str, ...]:
        definitions = [_definition(item) for item in items]
        with self._lock:
            if self._assembly is None or plugin in self._joining:
                return tuple([self._contribute(plugin, definition) for definition in definitions])
        return self._put(plugin, "add", definitions)

    def update(self, plugin: LoadedPlugin, *items: Any) -> tuple[str, ...]:
        return self._put(plugin, "update", [_definition(item) for item in items])

    def remove(self, plugin: LoadedPlugin, kind: ItemKind, *names: str) -> None:
        if kind not in SINGULAR:
            raise ToolDefinitionError(f"unknown kind {kind!r}; there are: {', '.join(sorted(SINGULAR))}")
        spelt = [(name,) if kind == "resources" else (name, self._wire_name(plugin, name)) for name in names]
        with self._lock:  # a reload comes before or after both
            changed = self._change(plugin, "remove", ((kind, spellings) for spellings in spelt))
            self._edits.setdefault(plugin, {}).update({(kind, name): None for spellings in spelt for name in spellings})
        self._changed(changed)

    def complete(
        self, plugin: LoadedPlugin, unmatched: Mapping[tuple[str | int, ...], str], names: Collection[str]
    ) -> None:
        """Report settings that name no item. See `pegboard.plugin.Catalogue`."""
        own = [
            self._config.problem(f'"{text}" matches nothing', ("plugins", plugin.origin.name, *path), close)
            for path, (text, close) in zip(unmatched, with_nearest(unmatched.values(), names), strict=True)
        ]
        with self._lock:
            binder, assembly = self._running(plugin)
            found = [
                *config_problems(own, "warning"),
                *assembly.patterns.unmatched((*assembly.tools.values(), *assembly.unserved)),
            ]
            known = {str(problem) for problem in assembly.problems}
            added = [problem for problem in found if str(problem) not in known]
            if added:
                self._assembly = assembly._replace(problems=(*assembly.problems, *added))
                self._publish(self._assembly)
        log_problems(without_secrets(problem, binder.redactor) for problem in added)

    def _put(
        self, plugin: LoadedPlugin, edit: Literal["add", "update"], definitions: Sequence[Definition]
    ) -> tuple[str, ...]:
        """Serve definitions, and record them for the assembly of a reload. Return their names."""
        binder = self._binder
        results = self._bound(plugin, definitions)
        with self._lock:  # a reload comes before or after both
            if binder is not self._binder:  # a reload came while the definitions were bound with other settings
                results = self._bound(plugin, definitions)
            changed = self._change(plugin, edit, ((result,) for result in results))
            own = self._edits.setdefault(plugin, {})
            for result, definition in zip(results, definitions, strict=True):
                own[result.kind, result.name] = definition
        self._changed(changed)
        return tuple(result.name for result in results)

    def _contribute(self, plugin: LoadedPlugin, definition: Definition) -> str:
        """Add a definition to the plugin's contributions for the next assembly. Return its name."""
        name = definition.uri if isinstance(definition, ResourceDefinition) else attempt(own_name, definition)
        plugin.contributions[f"register_{KINDS[type(definition)]}"].append(definition)
        return name if isinstance(definition, ResourceDefinition) else self._wire_name(plugin, name, definition)

    def _wire_name(self, plugin: LoadedPlugin, own: str, definition: Definition | None = None) -> str:
        toolkit = toolkit_of(plugin, definition)
        return wire_name(toolkit.name, own, self._config.host.tool_names, prefix=toolkit.prefix)

    def _running(self, plugin: LoadedPlugin) -> tuple[Binder, Assembly]:
        """Return the binder for a plugin's definitions, and the assembly that is served.

        Raises:
            ToolDefinitionError: the host has not started, or the plugin is not enabled.
        """
        with self._lock:
            if self._binder is None or self._assembly is None:
                raise ToolDefinitionError("the host has not started: only `add` is available before the start")
            if not any(plugin is other for other in self.plugins):
                raise ToolDefinitionError(f"{plugin.origin} is not enabled in this host")
            return self._binder, self._assembly

    def _bound(self, plugin: LoadedPlugin, definitions: Sequence[Definition]) -> list[BindResult]:
        """Bind definitions outside the lock, so that a slow one does not block other changes."""
        binder, assembly = self._running(plugin)
        results: dict[int, BindResult] = {}
        resources = {uri: bound.item for uri, bound in assembly.resources.items()}
        # resources first, as tools may refer to them
        order = sorted(enumerate(definitions), key=lambda pair: not isinstance(pair[1], ResourceDefinition))
        for number, definition in order:
            results[number] = bound = self._bound_one(binder, plugin, definition, resources)
            if isinstance(bound, ServedItem) and bound.kind == "resources":
                resources[bound.name] = bound.item
        return [results[number] for number in range(len(definitions))]

    def _bound_one(
        self, binder: Binder, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]
    ) -> BindResult:
        try:
            result = binder.bind(plugin, definition, resources)
            if isinstance(result, ServedItem):
                binder.check_secrets(result)
        except ToolDefinitionError as error:
            # the function of a definition of another server is not its source
            place = "" if definition.raw is not None else location_of(definition.function)
            raise type(error)(f"{definition_label(definition)}{place}: {error}") from error.__cause__
        self._report(binder)
        if isinstance(result, Unserved):
            if result.is_rejected and not (self._assembly and result in self._assembly.unserved):
                logger.error("%s: %s", plugin.origin, result)
            return result
        if result.missing:
            message = f"tool {result.name!r}: {'; '.join(map(binder.secrets.missing, result.missing))}"
            if self._config.host.missing_secrets == "fail":
                raise ToolDefinitionError(message)
            logger.warning("%s", message)
        if result.missing_token:
            logger.warning("tool %r: %s", result.name, result.missing_token.hint)
        return result

    def _report(self, binder: Binder) -> None:
        while binder.problems:
            logger.error("%s", binder.problems.pop())

    def _change(
        self,
        plugin: LoadedPlugin,
        edit: Literal["add", "update", "remove", "replace_all"],
        edits: Iterable[tuple[Any, ...]],
    ) -> Collection[ItemKind]:
        """Publish a change. Return the kinds that have changed, to announce them."""
        from pegboard.catalogue.catalogue_draft import CatalogueDraft  # most catalogues never change

        with self._lock:
            binder, before = self._running(plugin)
            draft = CatalogueDraft(before, plugin)
            for arguments in edits:
                getattr(draft, edit)(*arguments)
            assembly = draft.assembly()._replace(contributed=binder.contributed())
            if failed := next((problem for problem in notify_middleware(assembly) if problem.fatal), None):
                notify_middleware(before)  # the change is not applied
                raise ToolDefinitionError(str(failed))
            self._publish(assembly)
            self._assembly = assembly
        return draft.changed


def _listed(assembly: Assembly, kind: ItemKind) -> dict[str, Any]:
    """Return the items of a kind as clients list them, and what decides if a client over stdio lists a tool."""
    items = assembly.items(kind).items()
    if kind == "tools":
        return {name: (bound.tool._replace(definition=None), bound.requirements.needs) for name, bound in items}
    return {name: bound.item for name, bound in items}


def _definition(item: object) -> Definition:
    if isinstance(item, ResourceDefinition | PromptDefinition):
        return item
    if isinstance(item, ToolDefinition) or callable(item):
        return as_definition(item)
    raise ToolDefinitionError(f"{item!r} must be a definition or a function")


class _OwnCatalogue(NamedTuple):
    """The methods of the registry for one plugin; see `pegboard.plugin.Catalogue`."""

    add: Callable[..., tuple[str, ...]]
    update: Callable[..., tuple[str, ...]]
    remove: Callable[..., None]
    complete: Callable[..., None]
