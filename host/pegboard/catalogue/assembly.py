"""The assembly: an immutable record of all contributions of plugins.

An invalid definition disables only its own item. If two plugins use the same name, neither item is served.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from pegboard import hookspecs
from pegboard.calls.served_item import SINGULAR, ServedItem, Unserved
from pegboard.catalogue.binding import Binder, Definition, listed_first
from pegboard.catalogue.store_selection import Stores, offered_stores, select_stores
from pegboard.catalogue.tool_compiler import definition_label, location_of
from pegboard.config import unmatched_patterns
from pegboard.config.hostconfig import ListName
from pegboard.errors import ToolDefinitionError
from pegboard.loading.discovery import provided
from pegboard.loading.plugins import NEEDS_SETTING, Absent, LoadedPlugin, LoadProblem, config_problems, contributions_of
from pegboard.messages.error_fields import describe_error
from pegboard.middleware.chain import CLIENT_NOTIFICATIONS, LIST_HOOKS, REQUEST_HOOKS, Around, MiddlewareLink
from pegboard.middleware.gate import Gate
from pegboard.names import did_you_mean, matching_pattern, nearest, with_nearest
from pegboard.plugin.definitions import ToolDefinition
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.plugin.methods import Contributions
from pegboard.plugin.origin import Origin
from pegboard.plugin.routes import DEFAULT_POLICY, Authenticator, Route
from pegboard.plugin.secrets import TokenSource
from pegboard.plugin.transports import StreamProtocol, Transport
from pegboard.routing.router import Routes, protect
from pegboard.secrets.secret_lookup import SecretStores
from pegboard.types.catalogue import Inventory, ItemKind, Resource

if TYPE_CHECKING:
    from pegboard.authorization.providers import MissingToken
    from pegboard.uris.matching import Matcher

T = TypeVar("T")

MAX_NAMED_ITEMS = 3
"""The maximum number of tools or routes that a problem names. Others are only counted."""


class ToolPatterns(NamedTuple):
    """The names and globs of tools in `disabled_tools`, and the names of sections `[host.tools.NAME]`.

    Attributes:
        binder: has the configuration, the sections, and the plugins that run. Some add their tools later.
        absent: the names of plugins and toolkits that do not run. Their tools are unknown.
        forms: the spellings of all tools of an assembly, including those that it does not serve.
    """

    binder: Binder
    absent: frozenset[str]
    forms: frozenset[str]

    def unmatched(self, later: Iterable[ServedItem | Unserved] = ()) -> list[LoadProblem]:
        """Return a problem for each pattern that names no tool, unless a plugin may still add such a tool.

        Args:
            later: the items of a later assembly.
        """
        forms, config = self.forms.union(*(item.forms for item in later)), self.binder.config
        names = self._missed(config.disabled_tools.unmatched(forms, self.absent))
        problems = unmatched_patterns(config, "disabled_tools", names, forms)
        if (changed := self.binder.changed_tools) is not None:
            problems += changed.unmatched(self._missed(changed.names.unmatched(forms, self.absent)), forms)
        return config_problems(problems, "warning")

    def _missed(self, patterns: Iterable[str]) -> list[str]:
        return [pattern for pattern in patterns if not any(plugin.awaits(pattern) for plugin in self.binder.plugins)]


class Assembly(NamedTuple):
    """Everything that a host serves.

    Attributes:
        tools: tools by name on the wire, sorted.
        resources: resources by URI, and templates by URI template.
        prompts: prompts by name on the wire, sorted.
        adapters: the error adapters of plugins, in order. Adapters of single tools and providers are not included.
        token_sources: the token sources in order, with the names of their plugins.
        middleware: the middleware, outermost first.
        transports: the transports by name.
        protocols: the protocols for streams of messages.
        routes: the routes by path, then by method, each with the authenticators of its policy.
        stores: the selected stores, by contract and name.
        authenticators: the authenticators of all policies.
        contributed: the additions of plugins to the protocol.
        unserved: tools, resources and prompts that exist but are not served.
        problems: the mistakes of authors and operators that were found.
        contested: the names that several plugins use, by kind.
        is_complete: see `Inventory`.
        refused: the reasons why tools with invalid definitions are not served, by name on the wire.
        secrets: the secret stores.
        patterns: the settings that name tools.
    """

    tools: Mapping[str, ServedItem]
    resources: Mapping[str, ServedItem]
    prompts: Mapping[str, ServedItem]
    adapters: tuple[ErrorAdapter, ...]
    token_sources: tuple[tuple[str, TokenSource], ...]
    middleware: tuple[MiddlewareLink, ...]
    transports: Mapping[str, Transport]
    protocols: tuple[StreamProtocol, ...]
    routes: Routes
    stores: Stores
    authenticators: tuple[Authenticator, ...]
    contributed: Contributions
    unserved: tuple[Unserved, ...]
    problems: tuple[LoadProblem, ...]
    contested: Mapping[ItemKind, frozenset[str]]
    is_complete: bool
    refused: Mapping[str, str]
    secrets: SecretStores
    patterns: ToolPatterns

    def items(self, kind: ItemKind) -> Mapping[str, ServedItem]:
        """Return the items of a kind by name."""
        items: Mapping[str, ServedItem] = getattr(self, kind)
        return items

    def has_items_of(self, origin: Origin) -> bool:
        """Return True if a plugin or toolkit has an item that is served, or that the operator has disabled."""
        served = (item.origin.name for kind in SINGULAR for item in self.items(kind).values())
        return origin.name in (*served, *(item.owner for item in self.unserved))

    def scopes_of(self, tool: ServedItem) -> list[str]:
        """Return the scopes that a tool requires of its caller, including those of gates."""
        own = tool.requirements.scopes
        gates = [link.middleware for link in self.middleware if isinstance(link.middleware, Gate)]
        return sorted(own.union(*(gate.asks("tools", tool.name) for gate in gates)))

    @property
    def operator_only(self) -> dict[str, str]:
        """The tools that only the operator can call because no authenticator is configured, each with the reason."""
        if any(authenticator.policy == DEFAULT_POLICY for authenticator in self.authenticators):
            return {}
        return {name: guard for name, bound in self.tools.items() if (guard := bound.requirements.guard)}


def assemble(binder: Binder, absent: Absent, *, check_order: bool) -> Assembly:
    """Return the assembly of all contributions, of which middleware is informed.

    Mistakes of authors are returned as `LoadProblem`s, not raised.

    Args:
        binder: binds the definitions of its plugins.
        absent: the plugins and toolkits that do not run. Patterns for their tools are not reported as unknown.
        check_order: True to report unknown names in order lists.
    """
    assembler = _Assembler(binder)
    bound = assembler.all_bound()
    assembler.report_missing(bound["tools"])
    served = {
        kind: assembler.unique(SINGULAR[kind], ((item.name, item.origin, item) for item in items))
        for kind, items in bound.items()
    }
    if check_order:
        assembler.report_unknown_order(absent.failed)
        assembler.report_unknown_toolkits()
    patterns = assembler.report_unmatched(absent)
    contributed = binder.contributed()
    assembler.report_misplaced(contributed)
    assembler.report_unknown_providers()
    # each of these may add problems
    transports, routes = assembler.transports(), assembler.routes()
    stores = assembler.stores(absent.off, fall_back=not check_order)
    problems, binder.problems[:] = tuple(assembler.problems), ()
    assembly = Assembly(
        tools=served["tools"],
        resources=served["resources"],
        prompts=served["prompts"],
        adapters=binder.adapters,
        token_sources=assembler.token_sources(),
        middleware=assembler.middleware(),
        transports=transports,
        protocols=tuple(protocol for _, protocol in contributions_of(binder.plugins, hookspecs.register_protocols)),
        routes=routes,
        stores=stores,
        authenticators=assembler.authenticators(),
        contributed=contributed,
        unserved=tuple(assembler.unserved),
        problems=problems,
        contested={kind: frozenset(item.name for item in items) - served[kind].keys() for kind, items in bound.items()},
        is_complete=assembler.is_complete,
        refused=assembler.refused,
        secrets=binder.secrets,
        patterns=patterns,
    )
    return assembly._replace(problems=(*problems, *notify_middleware(assembly)))


def offered(assembly: Assembly) -> set[str]:
    """Return the kinds of items in an assembly: "tools", "resources", "prompts" and "completions"."""
    kinds: set[str] = {kind for kind in SINGULAR if getattr(assembly, kind)}
    completed = any(item.completers for kind in SINGULAR for item in assembly.items(kind).values())
    return kinds | {"completions"} if completed else kinds


class _Assembler:
    def __init__(self, binder: Binder) -> None:
        self.config = binder.config
        self.plugins = binder.plugins
        self.binder = binder
        self.problems = binder.problems
        self.problem = binder.report
        self.unserved: list[Unserved] = []
        self.resources: dict[str, Resource] = {}
        self.is_complete = True
        self.refused: dict[str, str] = {}
        self.forms: set[str] = set()
        self._named_toolkits: set[tuple[str, str]] = set()
        """The toolkits that definitions name, with the distributions of their plugins."""

    def all_bound(self) -> dict[ItemKind, list[ServedItem]]:
        """Return the items that can be served, by kind. Check secrets after all definitions are bound."""
        bound: dict[ItemKind, list[ServedItem]] = {kind: self._bound(kind) for kind in SINGULAR}
        return {kind: self._without_exposed_secrets(items) for kind, items in bound.items()}

    def _bound(self, kind: ItemKind) -> list[ServedItem]:
        """Return the items of one kind that can be served."""
        items: list[ServedItem] = []
        rejected: dict[tuple[Origin, str], list[Unserved]] = {}
        for plugin, definition in self._definitions(kind):
            try:
                result = self.binder.bind(plugin, definition, self.resources)
            except ToolDefinitionError as error:
                self._refuse(plugin, definition, error)
                continue
            self.forms |= result.forms
            if definition.toolkit is not None:
                self._named_toolkits.add((definition.toolkit.name, plugin.origin.distribution))
            if self.binder.edits.get(plugin, {}).get((kind, result.name), definition) is not definition:
                continue  # updated or removed at run time
            if isinstance(result, Unserved):
                self.unserved.append(result)
                if result.is_rejected:
                    rejected.setdefault((plugin.origin, result.reason), []).append(result)
                continue
            if not result.where and not plugin.is_late:  # functions of late toolkits are not those of their authors
                result = result._replace(where=location_of(definition.function))
            items.append(result)
            if kind == "resources":
                self.resources[result.name] = result.item
        for (origin, _), (first, *others) in rejected.items():
            more = f"; the same applies to {_some_names([other.name for other in others])}" if others else ""
            self.problem(origin, f"{first}{more}")
        return items

    def _definitions(self, kind: ItemKind) -> Iterator[tuple[LoadedPlugin, Definition]]:
        """Yield the definitions of each plugin: those of its hook, then those that it has put at run time."""
        for plugin in self.plugins:
            edits = self.binder.edits.get(plugin, {}).items()
            later = [definition for (edited, _), definition in edits if edited == kind and definition is not None]
            for definition in (*plugin.contributions[f"register_{kind}"], *later):
                yield plugin, definition

    def _refuse(self, plugin: LoadedPlugin, definition: Definition, error: ToolDefinitionError) -> None:
        """Report a definition that cannot be served."""
        where = f"{definition_label(definition)}{location_of(definition.function)}"
        self.problem(plugin.origin, f"{where}: {error}; it is not served")
        if isinstance(definition, ToolDefinition) and (named := self.binder.named(plugin, definition)):
            self.refused[named.wire] = str(error)
            self.forms |= named.forms

    def _without_exposed_secrets(self, items: list[ServedItem]) -> list[ServedItem]:
        """Remove items that would show a secret to clients."""
        if not self.binder.may_show_secrets(items):
            return items
        kept = []
        for item in items:
            try:
                self.binder.check_secrets(item)
            except ToolDefinitionError as error:
                what = f"{SINGULAR[item.kind]} {item.name!r}{item.where}"
                self.problem(item.origin, f"{what}: {error}; it is not served")
            else:
                kept.append(item)
        return kept

    def report_missing(self, tools: Iterable[ServedItem]) -> None:
        """Report each missing secret and token once, with the tools that require it."""
        missing: dict[tuple[str, str | MissingToken], tuple[Origin, list[str]]] = {}
        for tool in tools:
            needs: list[str | MissingToken] = [*tool.missing, *filter(None, [tool.missing_token])]
            for need in needs:
                missing.setdefault((tool.origin.name, need), (tool.origin, []))[1].append(tool.name)
        for (_, need), (origin, names) in sorted(missing.items(), key=lambda entry: not isinstance(entry[0][1], str)):
            # a token is never fatal: a call may bring its own
            fatal = isinstance(need, str) and self.config.host.missing_secrets == "fail"
            name, advice = (need, self.binder.secrets.missing(need)) if isinstance(need, str) else _token_advice(need)
            message = f"{_needing(name, names)}; {advice}"
            level: Literal["error", "warning"] = "error" if fatal else "warning"
            self.problems.append(LoadProblem(NEEDS_SETTING, message, origin, fatal=fatal, level=level))

    # --- order and uniqueness ---

    def _owned(self, hook: Callable[..., Iterable[T]]) -> Iterator[tuple[Origin, T]]:
        """Yield each contribution to a hook together with its owner."""
        return ((plugin.origin, contribution) for plugin, contribution in contributions_of(self.plugins, hook))

    def unique(self, what: str, items: Iterable[tuple[str, Origin, T]]) -> dict[str, T]:
        """Return the items by name, sorted. Leave out names that several plugins use."""
        claimed: dict[str, list[tuple[Origin, T]]] = {}
        for name, origin, item in items:
            claimed.setdefault(name, []).append((origin, item))
        for name, claims in claimed.items():
            if len(claims) > 1:
                owners = dict.fromkeys(str(origin) for origin, _ in claims)
                times = f"{len(claims)} times " if len(owners) == 1 else ""
                message = f"{what} {name!r} is claimed {times}by {' and '.join(owners)}; neither is served"
                message += "".join(dict.fromkeys(getattr(item, "where", "") for _, item in claims))
                message += f"; {_how_to_serve_both(what, [origin.name for origin, _ in claims])}"
                self.problem(claims[0][0], message)
        return {name: claims[0][1] for name, claims in sorted(claimed.items()) if len(claims) == 1}

    def token_sources(self) -> tuple[tuple[str, TokenSource], ...]:
        plugins = listed_first(self.plugins, self.config.host.token_sources)
        owned = contributions_of(plugins, hookspecs.register_token_sources)
        return tuple((plugin.origin.name, source) for plugin, source in owned)

    def middleware(self) -> tuple[MiddlewareLink, ...]:
        links = [
            MiddlewareLink(middleware.name or plugin.origin.name, str(plugin.origin), middleware)
            for plugin in self.plugins
            for middleware in plugin.contributions["register_middleware"]
        ]
        order = {name: place for place, name in enumerate(self.config.host.middleware)}

        def position(link: MiddlewareLink) -> tuple[bool, bool, int, str]:
            middleware = link.middleware
            return not middleware.outermost, middleware.innermost, order.get(link.name, len(order)), link.name

        return tuple(sorted(links, key=position))

    def transports(self) -> dict[str, Transport]:
        owned = self._owned(hookspecs.register_transports)
        return self.unique("transport", ((transport.name, origin, transport) for origin, transport in owned))

    def authenticators(self) -> tuple[Authenticator, ...]:
        return tuple(authenticator for _, authenticator in self._owned(hookspecs.register_authenticators))

    def routes(self) -> Routes:
        paths: dict[str, dict[str, Route]] = {}
        closed: dict[tuple[Origin, str], list[str]] = {}
        owned = self._owned(hookspecs.register_routes)
        named = ((f"{route.method} {route.path}", origin, (origin, route)) for origin, route in owned)
        authenticators = self.authenticators()
        for name, (origin, route) in self.unique("route", named).items():
            if not route.path.startswith("/") or route.method != route.method.upper():
                self.problem(origin, f"no request reaches the route {name!r}: write it as 'GET /path'")
            elif "*" in route.path.removesuffix("/*"):
                self.problem(origin, f"no request reaches the route {name!r}: write '*' only as its last segment")
            elif (admitting := protect(route, authenticators)) is None:
                closed.setdefault((origin, route.auth), []).append(name)
            else:
                paths.setdefault(route.path, {})[route.method] = admitting
        served = {route.auth for routes in paths.values() for route in routes.values()}
        for (origin, policy), names in closed.items():
            hint = did_you_mean(policy, served - {"public"})
            noun, effect = ("route", "it is") if len(names) == 1 else ("routes", "they are")
            message = f"no enabled plugin authenticates the policy {policy!r} of the {noun} {_some_names(names)}{hint}"
            self.problem(origin, f"{message}; {effect} not served")
        return paths

    def stores(self, absent: Collection[str], *, fall_back: bool) -> Stores:
        """Return the selected stores."""
        stores = offered_stores(self.plugins)
        owned = ((f"{key[0].__name__} {key[1]}", store[0], (key, store)) for key, store in stores)
        offered = dict(self.unique("store", owned).values())
        selected, problems = select_stores(self.config, self.plugins, offered, absent, fall_back=fall_back)
        self.problems += config_problems(problems)
        return selected

    def report_unknown_order(self, failed: Collection[str]) -> None:
        """Report unknown names in order lists. The problem is fatal because the operator relies on the order.

        Args:
            failed: the names of the plugins and toolkits that are enabled, but failed.
        """
        is_sure = not any(
            choice.origin.kind == "plugin" and choice.origin.name in failed for choice in self.binder.choices
        )
        by_plugin = (
            hookspecs.register_error_adapters,
            hookspecs.register_token_sources,
            hookspecs.register_secret_stores,
        )
        known_names = {
            "transports": {transport.name for _, transport in self._owned(hookspecs.register_transports)},
            "middleware": {link.name for link in self.middleware()},
            **{
                hook.__name__.removeprefix("register_"): {origin.name for origin, _ in self._owned(hook)}
                for hook in by_plugin
            },
        }
        for key, names in known_names.items():
            path = ("host", key)
            order = getattr(self.config.host, key) if self.config.source(path).by_operator else ()
            others = names | (provided("transports").keys() if key == "transports" else set())
            for name in [name for name in order if name not in names]:
                close = nearest(name, others) if is_sure else None
                listed = f"; write one of {', '.join(sorted(others))}" if others and not close else ""
                hint = listed if is_sure else "; a plugin that failed may provide it"
                self.problems += config_problems(
                    [self.config.problem(f"no enabled plugin provides {name!r}{hint}", path, close)]
                )

    def report_unknown_toolkits(self) -> None:
        """Report settings that name no toolkit. A section `[host.toolkits.NAME]` without a toolkit is fatal."""
        installed = [choice.origin for choice in self.binder.choices if choice.origin.kind == "toolkit"]
        pairs = {(origin.name, origin.distribution) for origin in installed} | self._named_toolkits
        names = {name for name, _ in pairs}
        unmatched = self._not_awaited(self.config.disabled_toolkits.unmatched_plugins(pairs))
        self.problems += config_problems(
            unmatched_patterns(self.config, "disabled_toolkits", unmatched, names), "warning"
        )
        unknown = self._not_awaited(name for name in self.config.host.toolkits if name not in names)
        for name, close in with_nearest(unknown, names):
            message = "no toolkit with this name is installed"
            self.problems += config_problems([self.config.problem(message, ("host", "toolkits", name), close)])

    def _not_awaited(self, toolkits: Iterable[str]) -> list[str]:
        """Leave out toolkits whose tools a plugin may still add."""
        return [name for name in toolkits if not any(plugin.awaits(f"{name}_*") for plugin in self.plugins)]

    def report_misplaced(self, contributed: Contributions) -> None:
        """Report middleware that is limited to methods that do not exist."""
        methods = {*REQUEST_HOOKS, *LIST_HOOKS, *CLIENT_NOTIFICATIONS, *contributed.methods, *contributed.notifications}
        for plugin in self.plugins:
            own = plugin.contributions["register_middleware"]
            around = [middleware for middleware in own if isinstance(middleware, Around)]
            for method in [name for middleware in around for name in middleware.methods if name not in methods]:
                message = f"middleware around {method!r}: no such method{did_you_mean(method, methods)}"
                self.problems.append(LoadProblem("assemble", message, plugin.origin, level="warning"))

    def report_unknown_providers(self) -> None:
        """Report settings that name an auth provider that no plugin describes. A token source may still know it."""
        providers = {provider.id for _, provider in self._owned(hookspecs.register_auth_providers) if provider.id}
        for plugin in self.plugins if providers else ():
            settings = getattr(plugin.instance, "named_providers", None) or {}
            for path, name in settings.items():
                if name in providers:
                    continue
                close = nearest(name, providers)
                hint = "" if close else f"; write one of {', '.join(sorted(providers))}"
                message = f"no running plugin describes the auth provider {name!r}{hint}"
                problem = self.config.problem(message, ("plugins", plugin.origin.name, *path), close)
                self.problems += config_problems([problem], "warning")

    def report_unmatched(self, absent: Absent) -> ToolPatterns:
        """Report settings that name no tool or tag. Return those that name tools."""
        self.is_complete = not absent.failed and not any(problem.level == "error" for problem in self.problems)
        patterns = ToolPatterns(self.binder, absent.off | absent.failed, frozenset(self.forms))
        self.problems += patterns.unmatched()
        tags = self.binder.known_tags
        lists: tuple[ListName, ...] = ("disabled_tags", "enabled_tags")
        for key in lists if self.is_complete else ():
            unknown = [pattern for pattern in getattr(self.config.host, key) if not matching_pattern([pattern], tags)]
            self.problems += config_problems(unmatched_patterns(self.config, key, unknown, tags), "warning")
        if self.binder.changed_tools is not None:
            self.problems += config_problems(self.binder.changed_tools.problems)
        return patterns


# --- parts of problems


def _how_to_serve_both(what: str, owners: Sequence[str]) -> str:
    """Return advice on serving two items that have the same kind and name.

    Args:
        what: the kind, such as "tool" or "route".
        owners: the names of their plugins.
    """
    rename = "use another URI for one of them" if what == "resource" else "give one of them another name"
    if what in ("tool", "prompt"):
        rename += f", as in @kit.{what}(name=...)"
    return rename if len({*owners}) == 1 else f"{rename}, or leave one out: `pegboard disable {owners[-1]}`"


def _needing(what: str, names: Sequence[str]) -> str:
    """Return how many tools need a secret or token, with some of their names."""
    few = ("tool needs", "is") if len(names) == 1 else ("tools need", "are")
    return f"{len(names)} {few[0]} {what} and {few[1]} not offered over stdio: {_some_names(names)}"


def _token_advice(token: MissingToken) -> tuple[str, str]:
    """Return the name of a token, and how to set it or to log in."""
    if (plugin := provided("commands").get("login")) is None:
        return token.name, token.hint
    # it does not run, or has no section for the provider: else it may obtain the token
    steps = f"`pegboard enable {plugin}`, add {token.provider} to its providers, then `pegboard login {token.provider}`"
    return token.name, f"{token.hint}, or log in: {steps}"


def _some_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - MAX_NAMED_ITEMS} more" if len(names) > MAX_NAMED_ITEMS else ""
    return ", ".join(map(repr, names[:MAX_NAMED_ITEMS])) + more


def notify_middleware(assembly: Assembly) -> list[LoadProblem]:
    """Pass the inventory to middleware that overrides `assembled`. Return its warnings and failures."""
    links = [link for link in assembly.middleware if link.overrides("assembled")]
    if not links:
        return []
    inventory = inventory_of(assembly)
    problems: list[LoadProblem] = []
    for link in links:
        try:
            texts = [str(text) for text in link.middleware.assembled(inventory)]
        except Exception as error:  # noqa: BLE001 - a plugin's exception
            # the middleware may enforce access rules, so the host must not run without it
            message = f"{link.blame('assembled')} raised {describe_error(error)}"
            problems.append(LoadProblem("assemble", message, fatal=True))
            continue
        problems += [LoadProblem("assemble", f"{link.owner}: {text}", level="warning") for text in texts]
    return problems


def inventory_of(assembly: Assembly) -> Inventory:
    """Return the inventory of an assembly."""
    return Inventory(
        tools={name: served.tool for name, served in assembly.tools.items()},
        resources={uri: served.item for uri, served in assembly.resources.items()},
        prompts={name: served.item for name, served in assembly.prompts.items()},
        methods=frozenset((*REQUEST_HOOKS, *assembly.contributed.methods)),
        answering=_answering(assembly),
        is_complete=assembly.is_complete,
    )


def _answering(assembly: Assembly) -> Callable[[str], Sequence[str]]:
    templates: list[tuple[str, Matcher]] = [
        (name, served.matcher) for name, served in assembly.resources.items() if served.matcher is not None
    ]
    exact = assembly.resources.keys() - {name for name, _ in templates}

    def answering(uri: str) -> Sequence[str]:
        if uri in exact:
            return (uri,)
        return [name for name, matcher in templates if matcher.match(uri) is not None]

    return answering
