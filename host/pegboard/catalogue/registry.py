"""The changes of a running host's catalogue. Every change publishes a new `Assembly`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from pegboard.authoring import as_definition
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.binding import (
    SINGULAR,
    Binder,
    BindResult,
    BoundDefinition,
    Definition,
    Unserved,
)
from pegboard.catalogue.inventory import notify_middleware
from pegboard.catalogue.tool_compiler import definition_label, location_of, own_name
from pegboard.catalogue.toolkits import name_in, toolkit_of
from pegboard.config import HostConfig
from pegboard.errors import ToolDefinitionError
from pegboard.errors.attempts import attempt
from pegboard.hookspecs import register_prompts, register_resources, register_tools
from pegboard.loading.plugins import LoadedPlugin
from pegboard.plugin.base import PluginContext
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.origin import Origin
from pegboard.secrets.grants import is_granted
from pegboard.types.calls import Call
from pegboard.types.catalogue import ItemKind, Resource

if TYPE_CHECKING:
    from pegboard.context import Context
    from pegboard.types.authorization import ToolAuthorization
    from pegboard.types.callers import Authorization

logger = logging.getLogger("pegboard")


class Registry:
    """The catalogues of all plugins of one host.

    Args:
        config: the configuration of the host.
        publish: a function that starts to serve a new assembly.
        changed: a function that is called with the changed kinds, outside all locks.
    """

    def __init__(
        self, config: HostConfig, publish: Callable[[Assembly], None], changed: Callable[[Collection[ItemKind]], None]
    ) -> None:
        self._config = config
        self._publish = publish
        self._changed = changed
        self._lock = RLock()
        self._plugins: Sequence[LoadedPlugin] = ()
        self._assembly: Assembly | None = None
        self._binder: Binder | None = None

    def context(self, plugin: LoadedPlugin, config: Any, log: logging.Logger) -> PluginContext:
        """Return the context of a plugin's hooks, with its catalogue."""
        folder = self._config.trusted_directory
        own, secret = _OwnCatalogue(self, plugin), partial(self._secret, plugin.origin)
        token = partial(self._token, plugin)
        return PluginContext(
            plugin.origin.name, config, log, own, secret, None if folder is None else str(folder), token
        )

    async def _token(
        self, plugin: LoadedPlugin, required: ToolAuthorization, call: Call | Context[Any]
    ) -> Authorization:
        from pegboard.authorization.token_lookup import token_of
        from pegboard.types.authorization import TokenRequest

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
            logger.warning(
                "%s does not receive the secret %s: [host.toolkits.%s] secrets does not grant it",
                origin,
                name,
                origin.name,
            )
            return None
        found = binder.secrets.get(name)
        self._report(binder)
        return found

    def collect(self) -> None:
        """Stop serving. Additions are stored for the next assembly."""
        with self._lock:
            self._assembly = self._binder = None

    def open(self, plugins: Sequence[LoadedPlugin], binder: Binder, make: Callable[[], Assembly]) -> Assembly:
        """Serve the assembly that `make` returns and let these plugins change it. Changes wait until `make` returns."""
        with self._lock:
            assembly = make()
            assembly = assembly._replace(problems=(*assembly.problems, *notify_middleware(assembly)))
            self._plugins, self._binder, self._assembly = plugins, binder, assembly
            self._publish(assembly)
        return assembly

    # --- changes by plugins ---

    def add(self, plugin: LoadedPlugin, given: Iterable[Any]) -> tuple[str, ...]:
        definitions = [_definition(one) for one in given]
        with self._lock:
            if self._assembly is None:
                return tuple([self._contribute(plugin, one) for one in definitions])
        found = self._bound(plugin, definitions)
        self._change(plugin, _Draft.add, ((one,) for one in found))
        return tuple(one.name for one in found)

    def update(self, plugin: LoadedPlugin, given: Iterable[Any]) -> tuple[str, ...]:
        definitions = [_definition(one) for one in given]
        found = self._bound(plugin, definitions)
        self._change(plugin, _Draft.update, ((one,) for one in found))
        return tuple(one.name for one in found)

    def remove(self, plugin: LoadedPlugin, kind: ItemKind, names: Iterable[str]) -> None:
        if kind not in SINGULAR:
            raise ToolDefinitionError(f"unknown kind {kind!r}; there are: {', '.join(sorted(SINGULAR))}")
        spelt = [(name,) if kind == "resources" else (name, self._wire_name(plugin, name)) for name in names]
        self._change(plugin, _Draft.remove, ((kind, one) for one in spelt))

    def _contribute(self, plugin: LoadedPlugin, definition: Definition) -> str:
        """Add a definition to the plugin's contributions for the next assembly. Return its name."""
        if isinstance(definition, ResourceDefinition):
            plugin.contributed(register_resources).append(definition)
            return definition.uri
        name = attempt(own_name, definition)
        if isinstance(definition, ToolDefinition):
            plugin.contributed(register_tools).append(definition)
        else:
            plugin.contributed(register_prompts).append(definition)
        return self._wire_name(plugin, name, definition)

    def _wire_name(self, plugin: LoadedPlugin, own: str, definition: Definition | None = None) -> str:
        return name_in(toolkit_of(plugin, definition), own, self._config.host.tool_names)

    def _running(self, plugin: LoadedPlugin) -> Binder:
        """Return the binder for a plugin's definitions.

        Raises:
            ToolDefinitionError: the host has not started, or the plugin is not enabled.
        """
        with self._lock:
            if self._binder is None:
                raise ToolDefinitionError("the host has not started: only `add` is available before the start")
            if not any(plugin is one for one in self._plugins):
                raise ToolDefinitionError(f"{plugin.origin} is not enabled in this host")
            return self._binder

    def _bound(self, plugin: LoadedPlugin, definitions: Sequence[Definition]) -> list[BindResult]:
        """Bind definitions outside the lock, so that a slow one does not block other changes."""
        binder = self._running(plugin)
        found: dict[int, BindResult] = {}
        resources = _Resources(self._assembly.resources if self._assembly else {})
        # resources first, as tools may refer to them
        for number, one in sorted(enumerate(definitions), key=lambda pair: not isinstance(pair[1], ResourceDefinition)):
            found[number] = bound = self._bound_one(binder, plugin, one, resources)
            if isinstance(bound, BoundDefinition) and bound.field == "resources":
                resources.added[bound.name] = bound.item[0]
        return [found[number] for number in range(len(definitions))]

    def _bound_one(
        self, binder: Binder, plugin: LoadedPlugin, definition: Definition, resources: Mapping[str, Resource]
    ) -> BindResult:
        try:
            found = binder.bind(plugin, definition, resources)
            if isinstance(found, BoundDefinition):
                binder.check_secrets(found)
        except ToolDefinitionError as error:
            # the function of a definition of another server is not its source
            place = "" if definition.raw is not None else location_of(definition.function)
            raise type(error)(f"{definition_label(definition)}{place}: {error}") from error.__cause__
        self._report(binder)
        if isinstance(found, BoundDefinition) and found.missing:
            message = f"tool {found.name!r}: {'; '.join(map(binder.secrets.missing, found.missing))}"
            if self._config.host.missing_secrets == "fail":
                raise ToolDefinitionError(message)
            logger.warning("%s", message)
        if isinstance(found, BoundDefinition) and found.token_hint:
            logger.warning("tool %r: %s", found.name, found.token_hint)
        return found

    def _report(self, binder: Binder) -> None:
        while binder.problems:
            logger.error("%s", binder.problems.pop())

    def _change(self, plugin: LoadedPlugin, edit: Callable[..., None], edits: Iterable[tuple[Any, ...]]) -> None:
        with self._lock:
            binder = self._running(plugin)
            assert self._assembly is not None
            draft = _Draft(self._assembly, plugin)
            for one in edits:
                edit(draft, *one)
            assembly = draft.assembly()._replace(contributed=binder.contributed())
            if failed := next((problem for problem in notify_middleware(assembly) if problem.fatal), None):
                notify_middleware(self._assembly)  # the change is not applied
                raise ToolDefinitionError(str(failed))
            self._publish(assembly)
            self._assembly = assembly
        self._changed(draft.changed)


class _OwnCatalogue:
    """The catalogue of one plugin; see `pegboard.plugin.Catalogue`."""

    def __init__(self, registry: Registry, plugin: LoadedPlugin) -> None:
        self._registry = registry
        self._plugin = plugin

    def add(self, *definitions: Any) -> tuple[str, ...]:
        return self._registry.add(self._plugin, definitions)

    def update(self, *definitions: Any) -> tuple[str, ...]:
        return self._registry.update(self._plugin, definitions)

    def remove(self, kind: ItemKind, *names: str) -> None:
        self._registry.remove(self._plugin, kind, names)


class _Resources(Mapping[str, Resource]):
    """The resources of an assembly, in the form for clients, and the resources about to be added."""

    def __init__(self, served: Mapping[str, tuple[Any, Any]]) -> None:
        self.added: dict[str, Resource] = {}
        self._served = served

    def __getitem__(self, uri: str) -> Resource:
        return self.added[uri] if uri in self.added else self._served[uri][0]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._served, **self.added})

    def __len__(self) -> int:
        return len({**self._served, **self.added})


class _Draft:
    """One atomic change of an assembly by one plugin.

    Attributes:
        changed: the kinds that have changed.
    """

    def __init__(self, assembly: Assembly, plugin: LoadedPlugin) -> None:
        self.changed: set[ItemKind] = set()
        self._before = assembly
        self._origin = plugin.origin
        self._items: dict[ItemKind, dict[str, Any]] = {}
        self._origins: dict[ItemKind, dict[str, Origin]] = {}
        self._forms: dict[str, frozenset[str]] = {}
        self._unserved = {one[:3]: one for one in assembly.unserved}

    def add(self, one: BindResult) -> None:
        if isinstance(one, Unserved):
            self._unserved[one[:3]] = one
            return
        what = f"{SINGULAR[one.field]} {one.name!r}"
        if owner := self._owner(one.field, one.name):
            advice = "; use update to replace it" if owner == self._origin else ""
            raise ToolDefinitionError(f"{what} exists already, from {owner}{advice}")
        if one.name in self._before.contested[one.field]:
            raise ToolDefinitionError(f"{what} is claimed by two other plugins and not served: use another name")
        self._put(one)

    def update(self, one: BindResult) -> None:
        self._take(one.kind if isinstance(one, Unserved) else one.field, (one.name,))
        if isinstance(one, Unserved):
            self._unserved[one[:3]] = one
        else:
            self._put(one)

    def remove(self, field: ItemKind, names: tuple[str, ...]) -> None:
        self._take(field, names)

    def _take(self, field: ItemKind, names: tuple[str, ...]) -> None:
        """Remove the first of these names that is an item of the plugin.

        Raises:
            ToolDefinitionError: none of the names is an item of the plugin.
        """
        for name in names:
            if self._owner(field, name) == self._origin:
                self._touch(field)
                del self._items[field][name], self._origins[field][name]
                self._forms.pop(name, None)
                return
            if self._unserved.pop((field, name, self._origin.name), None) is not None:
                return
        what = f"{SINGULAR[field]} {names[0]!r}"
        if owner := self._owner(field, names[0]):
            raise ToolDefinitionError(f"{what} is from {owner}, and only that plugin can change it")
        raise ToolDefinitionError(f"there is no {what} of {self._origin}")

    def _put(self, one: BoundDefinition) -> None:
        self._touch(one.field)
        self._items[one.field][one.name] = one.item
        self._origins[one.field][one.name] = one.origin
        if one.field == "tools":
            self._forms[one.name] = one.forms
        self._unserved.pop((one.field, one.name, one.origin.name), None)

    def _owner(self, field: ItemKind, name: str) -> Origin | None:
        return self._origins.get(field, self._before.origins[field]).get(name)

    def _touch(self, field: ItemKind) -> None:
        if field not in self.changed:
            self.changed.add(field)
            self._items[field] = dict(getattr(self._before, field))
            self._origins[field] = dict(self._before.origins[field])
            if field == "tools":
                self._forms = dict(self._before.forms)

    def assembly(self) -> Assembly:
        """Return the assembly after the change, sorted by name."""
        fields: dict[str, Any] = {field: _sorted(items) for field, items in self._items.items()}
        if "tools" in self.changed:
            fields["forms"] = self._forms
        origins = {**self._before.origins, **self._origins}
        return self._before._replace(**fields, origins=origins, unserved=tuple(self._unserved.values()))


def _sorted(items: dict[str, Any]) -> dict[str, Any]:
    names = sorted(items)
    return items if names == list(items) else {name: items[name] for name in names}


def _definition(given: object) -> Definition:
    if isinstance(given, ToolDefinition | ResourceDefinition | PromptDefinition):
        return given
    if callable(given):
        return as_definition(given)
    raise ToolDefinitionError(f"{given!r} must be a definition or a function")
