"""Scopes by configuration: the scopes that tokens need for methods, toolkits, tools, resources and prompts.

They add to the scopes of a tool's definition (`scopes=`). Items that a caller is not allowed to use are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic import field_validator

from pegboard import InsufficientScopeError, MCPError, PluginConfig
from pegboard.plugin import Gate, Middleware, Plugin, around, hookimpl
from pegboard.types import Call, Caller, CallNext, Inventory, ItemKind, Outcome
from pegboard_plugins.support.bearer import is_scope

METHOD_BY_KIND: Mapping[ItemKind, str] = {
    "tools": "tools/call",
    "resources": "resources/read",
    "prompts": "prompts/get",
}
"""The method that uses an item, by kind."""

_EVERY_REQUEST = "use required_scopes of the plugin that checks tokens, which covers every request"
_LISTED = "lists show only items that a caller may use; guard {}"
_SUBSCRIBED = "a subscription needs the scopes of its resource; guard resources/read"
_UNGUARDED = {
    **dict.fromkeys(("initialize", "ping", "server/discover", "logging/setLevel"), _EVERY_REQUEST),
    "tools/list": _LISTED.format("tools/call"),
    "resources/list": _LISTED.format("resources/read"),
    "resources/templates/list": _LISTED.format("resources/read"),
    "prompts/list": _LISTED.format("prompts/get"),
    **dict.fromkeys(("subscriptions/listen", "resources/subscribe", "resources/unsubscribe"), _SUBSCRIBED),
}
"""Methods that cannot require scopes, and the alternative."""

NO_SCOPES: frozenset[str] = frozenset()
Scopes = Mapping[str, tuple[str, ...]]


class ScopesConfig(PluginConfig):
    """`[plugins.scopes]`. In names `*` matches any string. The scopes of all matching rules are required.

    Attributes:
        methods: scopes by method, such as `{ "tools/call" = ["tools"] }`, including methods of plugins.
        toolkits: scopes by the name of a toolkit or plugin, for all its tools, resources and prompts.
        tools: scopes by the name of tools on the wire, such as `{ "github_create_*" = ["github:write"] }`.
        resources: scopes by URI, or by template for all its resources.
        prompts: scopes by the name of prompts.
    """

    methods: Mapping[str, tuple[str, ...]] = {}
    toolkits: Mapping[str, tuple[str, ...]] = {}
    tools: Mapping[str, tuple[str, ...]] = {}
    resources: Mapping[str, tuple[str, ...]] = {}
    prompts: Mapping[str, tuple[str, ...]] = {}

    @field_validator("*", mode="before")
    @classmethod
    def _parse_scopes(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: _split(scopes) if isinstance(scopes, str) else scopes for name, scopes in value.items()}

    @field_validator("*")
    @classmethod
    def _check_scopes(cls, rules: Scopes) -> Scopes:
        for name, scopes in rules.items():
            if not scopes:
                raise ValueError(f"{name!r} has no scopes: list at least one scope")
            if wrong := [scope for scope in scopes if not is_scope(scope)]:
                raise ValueError(f"invalid scope {wrong[0]!r} of {name!r}: list scopes separately (RFC 6749)")
        return rules

    @field_validator("methods")
    @classmethod
    def _check_methods(cls, methods: Scopes) -> Scopes:
        for name in methods:
            if name in _UNGUARDED:
                raise ValueError(f"{name} cannot require scopes: {_UNGUARDED[name]}")
            if name.startswith("notifications/"):
                raise ValueError(f"{name} cannot require scopes: a notification has no response")
        return methods


class ScopesPlugin(Plugin):
    """A gate for items, and middleware for the other methods."""

    Config = ScopesConfig

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the gate, and middleware for the configured methods."""
        gate = ScopeGate(self.config)
        others = self.config.methods.keys() - METHOD_BY_KIND.values()
        return [around(*sorted(others))(gate.guard), gate] if others else [gate]


class Rule(NamedTuple):
    """A pattern and its scopes."""

    pattern: str
    compiled: re.Pattern[str]
    scopes: frozenset[str]

    def fits(self, name: str) -> bool:
        """Return True if a name matches."""
        return self.compiled.fullmatch(name) is not None


class ScopeTable(NamedTuple):
    """The required scopes of all items.

    Attributes:
        needed: the scopes by kind and name.
        answering: see `Inventory`.
        every: all scopes that an item or rule requires.
    """

    needed: Mapping[ItemKind, Mapping[str, frozenset[str]]]
    answering: Callable[[str], Sequence[str]]
    every: frozenset[str]


class ScopeGate(Gate):
    """A gate that hides items from callers without their scopes.

    Args:
        config: the rules.
    """

    _known: ScopeTable  # no call is allowed before the first inventory

    def __init__(self, config: ScopesConfig) -> None:
        self._methods = {name: frozenset(scopes) for name, scopes in config.methods.items()}
        self._toolkits = _rules(config.toolkits)
        self._rules: Mapping[ItemKind, Sequence[Rule]] = {
            "tools": _rules(config.tools),
            "resources": _rules(config.resources),
            "prompts": _rules(config.prompts),
        }

    # --- required scopes

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Compute the scopes of each item, and return warnings about rules that match nothing."""
        needed: dict[ItemKind, dict[str, frozenset[str]]] = {
            "tools": {
                name: self._needed("tools", name, tool.owner).union(tool.requires.scopes if tool.requires else ())
                for name, tool in inventory.tools.items()
            },
            "resources": {
                uri: self._needed("resources", uri, resource.owner) for uri, resource in inventory.resources.items()
            },
            "prompts": {
                name: self._needed("prompts", name, prompt.owner) for name, prompt in inventory.prompts.items()
            },
        }
        of_things = [scopes for by_name in needed.values() for scopes in by_name.values()]
        every = NO_SCOPES.union(*(rule.scopes for rules in self._rules.values() for rule in rules), *of_things)
        self._known = ScopeTable(needed={**needed}, answering=inventory.answering, every=every)
        return [*self._unmatched(inventory)] if inventory.is_complete else []

    def _needed(self, kind: ItemKind, name: str, owner: str) -> frozenset[str]:
        scopes = [rule.scopes for rule in self._toolkits if rule.fits(owner)]
        return self._by_name(kind, name).union(self._methods.get(METHOD_BY_KIND[kind], ()), *scopes)

    def _by_name(self, kind: ItemKind, *names: str) -> frozenset[str]:
        return NO_SCOPES.union(*(rule.scopes for rule in self._rules[kind] if any(map(rule.fits, names))))

    def needed(self, kind: ItemKind, name: str) -> frozenset[str] | None:
        """Return all scopes that an item requires, or None if it does not exist.

        A URI requires the scopes of each template that may answer for it, and those of rules for the URI, both encoded
        and decoded.
        """
        catalogue = self._known
        if name in catalogue.needed[kind]:
            return catalogue.needed[kind][name]
        answering = catalogue.answering(name) if kind == "resources" else ()
        if not answering:
            return None
        of_templates = [catalogue.needed["resources"].get(template, NO_SCOPES) for template in answering]
        return self._by_name("resources", name, unquote(name)).union(*of_templates)

    def asks(self, kind: ItemKind, name: str) -> frozenset[str]:
        """Return all scopes that an item requires."""
        return self.needed(kind, name) or NO_SCOPES

    # --- access

    def wants(self, call: Call) -> bool:
        """Return True if scopes matter for a call."""
        return not call.allows(self._known.every)

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        """Return True if a caller's token has all scopes of an item."""
        needed = self.needed(kind, name)
        return needed is not None and caller.allows(needed)

    def refusal(self, kind: ItemKind, name: str, call: Call) -> MCPError:
        """Return an error with the required scopes for callers with a token, and an unknown name for others."""
        needed = self.needed(kind, name)
        if needed is None or not call.caller.is_known:
            return super().refusal(kind, name, call)
        return InsufficientScopeError(needed.union(self._methods.get(call.method, ())))

    async def guard(self, call: Call, call_next: CallNext) -> Outcome:
        """Refuse a call if the caller lacks the scopes of the method."""
        scopes = self._methods[call.method]
        if call.allows(scopes):
            return await call_next(call)
        raise InsufficientScopeError(scopes.union(self._completion_scopes(call)))

    def _completion_scopes(self, call: Call) -> frozenset[str]:
        """Return the scopes of the item that the completion request names."""
        reference = call.params.get("ref")
        if call.method != "completion/complete" or not isinstance(reference, dict):
            return NO_SCOPES
        kind: ItemKind = "prompts" if reference.get("type") == "ref/prompt" else "resources"
        name = reference.get("name" if kind == "prompts" else "uri")
        return self.asks(kind, name) if isinstance(name, str) else NO_SCOPES

    # --- lists

    def view(self, call: Call) -> Hashable:
        """Return the caller's scopes that matter, as the key of cached lists."""
        every = self._known.every
        return None if not call.caller.is_known else every if call.allows(every) else call.caller.scopes & every

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Remove the items that the caller may not use."""
        return await (super().on_list_tools(call, call_next) if self.wants(call) else call_next(call))

    on_list_resources = on_list_tools
    on_list_resource_templates = on_list_tools
    on_list_prompts = on_list_tools

    # --- rules that match nothing

    def _unmatched(self, inventory: Inventory) -> Iterator[str]:
        things = (*inventory.tools.values(), *inventory.resources.values(), *inventory.prompts.values())
        yield from _unmatched("toolkits", "toolkit", self._toolkits, {thing.owner for thing in things})
        for kind in METHOD_BY_KIND:
            rules = self._rules[kind]
            if kind == "resources":  # URIs of templates are not listed
                rules = [rule for rule in rules if not inventory.answering(rule.pattern.replace("*", "x"))]
            yield from _unmatched(kind, kind[:-1], rules, getattr(inventory, kind))


def _split(scopes: str) -> list[str]:
    return [scope for scope in scopes.split(" ") if scope]


def _rules(by_pattern: Scopes) -> list[Rule]:
    return [Rule(pattern, _compiled(pattern), frozenset(scopes)) for pattern, scopes in by_pattern.items()]


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern. Its groups find each part once, so that no name takes long."""
    first, *middle = map(re.escape, pattern.split("*"))
    last = f".*{middle.pop()}" if middle else ""
    return re.compile("".join([first, *(f"(?>.*?{part})" for part in middle), last]), re.DOTALL)


def _unmatched(key: str, what: str, rules: Iterable[Rule], names: Iterable[str]) -> Iterator[str]:
    existing = sorted(names)
    for rule in rules:
        if not any(map(rule.fits, existing)):
            from difflib import get_close_matches

            close = get_close_matches(rule.pattern, existing, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            yield f"{key}: no {what} matches {rule.pattern!r}{hint}"
