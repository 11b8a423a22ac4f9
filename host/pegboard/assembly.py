"""Everything the plugins contributed, put together once and frozen: the catalogue and who gave what.

A wrong definition costs that definition; a name that two claim is served by neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from pegboard.config import HostConfig, unmatched_patterns
from pegboard.contracts import (
    ErrorAdapter,
    Middleware,
    Prompt,
    Resource,
    Route,
    StreamProtocol,
    ToolDefinition,
    Transport,
)
from pegboard.definitions import attempt, compile_prompt, compile_resource, compile_tool, own_name, place
from pegboard.errors import ToolDefinitionError
from pegboard.execute import BoundPrompt, BoundResource, BoundTool
from pegboard.names import nearest, spellings, wire_name
from pegboard.plugins import Loaded, Origin, Problem

NAMED_TOOLS = 3
"""How many tools a problem names before it counts the rest."""

T = TypeVar("T")
Spelt = tuple[T, frozenset[str]]
"""Something with every spelling of its name, normalised."""


class Withheld(NamedTuple):
    """A tool that exists and is not served, and why."""

    name: str
    owner: str
    reason: str


class Assembly(NamedTuple):
    """What a host serves.

    Attributes:
        tools: by wire name, in the order of names.
        routes: by path, then by method.
        adapters: in the order in which they are asked.
        forms: for each tool, every spelling of its name, normalised.
    """

    tools: Mapping[str, BoundTool]
    resources: Mapping[str, tuple[Resource, BoundResource]]
    prompts: Mapping[str, tuple[Prompt, BoundPrompt]]
    forms: Mapping[str, frozenset[str]]
    adapters: tuple[ErrorAdapter, ...]
    middleware: tuple[Middleware, ...]
    transports: Mapping[str, Transport]
    protocols: tuple[StreamProtocol, ...]
    routes: Mapping[str, Mapping[str, Route]]
    withheld: tuple[Withheld, ...]
    problems: tuple[Problem, ...]


def assemble(
    config: HostConfig, plugins: Sequence[Loaded], absent: Iterable[str] = (), *, check_order: bool = True
) -> Assembly:
    """Put together what the plugins contributed. Nothing that an author got wrong raises; it becomes a `Problem`.

    Args:
        config: names, disabling, order, and the policy for missing secrets.
        plugins: what was loaded, in the order of names.
        absent: toolkits that are off: a pattern for one of their tools is no mistake.
        check_order: an entry of an order list that nothing bears is a mistake.
    """
    assembler = _Assembler(config, plugins)
    tools = assembler.unique("tool", assembler.tools())
    resources = assembler.unique("resource", assembler.resources())
    prompts = assembler.unique("prompt", assembler.prompts())
    assembler.report_missing()
    if check_order:
        assembler.report_unknown_order()
    assembler.report_unmatched(absent)
    return Assembly(
        tools={name: tool for name, (tool, _) in tools.items()},
        resources=resources,
        prompts=prompts,
        forms={name: forms for name, (_, forms) in tools.items()},
        adapters=assembler.adapters(),
        middleware=assembler.middleware(),
        transports=assembler.transports(),
        protocols=tuple(protocol for plugin in plugins for protocol in plugin.protocols),
        routes=assembler.routes(),
        withheld=tuple(assembler.withheld),
        problems=tuple(assembler.problems),
    )


class _Assembler:
    def __init__(self, config: HostConfig, plugins: Sequence[Loaded]) -> None:
        self.config = config
        self.plugins = plugins
        self.problems: list[Problem] = []
        self.withheld: list[Withheld] = []
        self.known_forms: set[str] = set()
        self.stores = [(plugin.origin, store) for plugin in plugins for store in plugin.stores]
        self.secrets: dict[str, str | None] = {}
        self.missing: dict[tuple[str, str], tuple[Origin, list[str]]] = {}

    def problem(
        self, origin: Origin, message: str, *, level: Literal["error", "warning"] = "error", fatal: bool = False
    ) -> None:
        self.problems.append(Problem("assemble", message, origin, fatal=fatal, level=level))

    def compiled(self, plugin: Loaded, what: str, function: object, make: Callable[[], T]) -> T | None:
        """What `make` compiles; None, with the reason reported, when its author got it wrong."""
        try:
            return attempt(make)
        except ToolDefinitionError as error:
            self.problem(plugin.origin, f"{what}{place(function)}: {error}; it is not served")
            return None

    # --- tools ---

    def tools(self) -> Iterator[tuple[str, Origin, Spelt[BoundTool]]]:
        for plugin in self.plugins:
            for one in plugin.tools:
                what = f"tool {one.name or getattr(one.function, '__name__', one.function)!r}"
                spelt = self.compiled(plugin, what, one.function, lambda p=plugin, d=one: self.tool(p, d))  # type: ignore[misc]
                if spelt is not None:
                    yield spelt[0].tool.name, plugin.origin, spelt

    def tool(self, plugin: Loaded, definition: ToolDefinition) -> Spelt[BoundTool] | None:
        """The tool with its spellings; None when it is withheld."""
        own = own_name(definition)
        name = self.wire_name(plugin, own)
        forms = spellings(plugin.origin.name if _prefixed(plugin) else "", own)
        self.known_forms |= forms
        if reason := self.why_withheld(plugin, definition, forms):
            self.withheld.append(Withheld(name, plugin.origin.name, reason))
            return None
        tool, signature, function = compile_tool(definition, name, plugin.origin.name)
        secrets = {key: self.secret(key) for key in definition.requires_secrets}
        for key, value in secrets.items():
            if not value:
                self.missing.setdefault((plugin.origin.name, key), (plugin.origin, []))[1].append(name)
        context = plugin.context
        bound = BoundTool(tool, function, signature, context.config, plugin.state, secrets, self.config.host.user)
        return bound, forms

    def wire_name(self, plugin: Loaded, own: str) -> str:
        return wire_name(plugin.origin.name, own, self.config.host.tool_names, prefix=_prefixed(plugin))

    def why_withheld(self, plugin: Loaded, definition: ToolDefinition, forms: frozenset[str]) -> str | None:
        if pattern := self.config.disabled_tools.which(forms):
            return f"disabled by {pattern!r} in [host] disabled_tools ({self.config.source('host.disabled_tools')})"
        if definition.enabled is not None and not definition.enabled(plugin.context.config):
            return f"switched off by the settings of {plugin.origin.name}"
        missing = [name for name in definition.requires_secrets if not self.secret(name)]
        if missing and self.config.host.missing_secrets == "hide":
            return f"needs a secret that is not set: {', '.join(missing)}"
        return None

    # --- secrets ---

    def secret(self, name: str) -> str | None:
        """The first store's that has it; an empty secret is a missing one, a store that fails is passed over."""
        if name not in self.secrets:
            self.secrets[name] = next((value for value in self.kept(name) if value), None)
        return self.secrets[name]

    def kept(self, name: str) -> Iterator[str | None]:
        for origin, store in self.stores:
            try:
                yield attempt(store.get, name)
            except ToolDefinitionError as error:
                self.problem(origin, f"the secret store {store.name!r} failed when asked for {name}: {error}")

    def report_missing(self) -> None:
        """One problem for each secret, however many tools need it."""
        fatal = self.config.host.missing_secrets == "fail"
        for (_, secret), (origin, tools) in self.missing.items():
            more = f" and {len(tools) - NAMED_TOOLS} more" if len(tools) > NAMED_TOOLS else ""
            names = ", ".join(map(repr, tools[:NAMED_TOOLS])) + more
            message = (
                f"the secret {secret} is not set; set it in the environment or in .env, as it is needed by {names}"
            )
            self.problem(origin, message, level="error" if fatal else "warning", fatal=fatal)

    # --- resources and prompts ---

    def resources(self) -> Iterator[tuple[str, Origin, tuple[Resource, BoundResource]]]:
        for plugin in self.plugins:
            for one in plugin.resources:
                make = lambda p=plugin, d=one: compile_resource(d, p.origin.name)  # noqa: E731 - bound to this turn
                found = self.compiled(plugin, f"resource {one.uri!r}", one.function, make)
                if found is not None:
                    yield one.uri, plugin.origin, found

    def prompts(self) -> Iterator[tuple[str, Origin, tuple[Prompt, BoundPrompt]]]:
        for plugin in self.plugins:
            for one in plugin.prompts:
                what = f"prompt {one.name or getattr(one.function, '__name__', one.function)!r}"
                make = lambda p=plugin, d=one: compile_prompt(d, self.wire_name(p, own_name(d)), p.origin.name)  # noqa: E731
                found = self.compiled(plugin, what, one.function, make)
                if found is not None:
                    yield found[0].name, plugin.origin, found

    # --- order and uniqueness ---

    def unique(self, what: str, items: Iterable[tuple[str, Origin, T]]) -> dict[str, T]:
        """In the order of names, without those that are claimed twice."""
        claimed: dict[str, list[tuple[Origin, T]]] = {}
        for name, origin, item in items:
            claimed.setdefault(name, []).append((origin, item))
        for name, claims in claimed.items():
            if len(claims) > 1:
                owners = " and ".join(str(origin) for origin, _ in claims)
                self.problem(claims[0][0], f"{what} {name!r} is claimed by {owners}; neither is served")
        return {name: claims[0][1] for name, claims in sorted(claimed.items()) if len(claims) == 1}

    def adapters(self) -> tuple[ErrorAdapter, ...]:
        given = [adapter for plugin in self.plugins for adapter in plugin.adapters]
        return tuple(sorted(given, key=lambda adapter: bool(getattr(adapter, "fallback", False))))

    def middleware(self) -> tuple[Middleware, ...]:
        named = [
            item._replace(name=item.name or plugin.origin.name) for plugin in self.plugins for item in plugin.middleware
        ]
        order = {name: place for place, name in enumerate(self.config.host.middleware)}
        return tuple(sorted(named, key=lambda item: (order.get(item.name or "", len(order)), item.name or "")))

    def transports(self) -> dict[str, Transport]:
        owned = ((item.name, plugin.origin, item) for plugin in self.plugins for item in plugin.transports)
        return self.unique("transport", owned)

    def routes(self) -> dict[str, dict[str, Route]]:
        owned = [(plugin.origin, route) for plugin in self.plugins for route in plugin.routes]
        paths: dict[str, dict[str, Route]] = {}
        unique = self.unique("route", ((f"{route.method} {route.path}", origin, route) for origin, route in owned))
        for route in unique.values():
            paths.setdefault(route.path, {})[route.method] = route
        return paths

    def report_unknown_order(self) -> None:
        """An entry of an order list that nothing bears keeps the host from starting: the operator counts on it."""
        transports = {one.name for plugin in self.plugins for one in plugin.transports}
        middleware = {str(one.name) for one in self.middleware()}
        for key, known in (("transports", transports), ("middleware", middleware)):
            path = ("host", key)
            given = getattr(self.config.host, key) if self.config.source(path).by_operator else ()
            for name in given:
                if name not in known:
                    message = f"no plugin that runs brings {name!r}"
                    problem = self.config.problem(message, path, nearest(name, known))
                    self.problems.append(Problem("config", str(problem), fatal=True))

    def report_unmatched(self, absent: Iterable[str]) -> None:
        unmatched = self.config.disabled_tools.unmatched(self.known_forms, absent)
        for problem in unmatched_patterns(self.config, "disabled_tools", unmatched, self.known_forms):
            self.problems.append(Problem("config", str(problem), level="warning"))


def _prefixed(plugin: Loaded) -> bool:
    """Whether names carry the toolkit's before them: a Toolkit's own wish."""
    return bool(getattr(plugin.instance, "prefix", False))
