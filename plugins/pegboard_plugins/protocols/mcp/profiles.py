"""Profiles: named parts of the catalogue. This module is imported only if there are profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails

from pegboard import PluginConfig
from pegboard.plugin import Contributions, Middleware
from pegboard.types import Change, Inventory, ItemKind

KINDS: tuple[ItemKind, ...] = ("tools", "resources", "prompts")


class ProfileConfig(PluginConfig):
    """The settings `[plugins.mcp.profiles.NAME]`. Each setting restricts the profile further. Names may be globs.

    Attributes:
        tools: names of tools on the wire.
        resources: URIs of resources, and URI templates.
        prompts: names of prompts.
        toolkits: names of toolkits and plugins.
        tags: tags. An item needs one of them.
        read_only: only tools that declare that they change nothing.
        auth: the policy of the endpoint, as in `Route.auth`.
    """

    tools: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    toolkits: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    read_only: bool = False
    auth: str = "mcp"

    @field_validator("auth")
    @classmethod
    def _is_not_public(cls, policy: str) -> str:
        if policy == "public":
            raise ValueError('the policy "public" would make the profile public: use another policy')
        return policy

    @model_validator(mode="after")
    def _restricts(self) -> Self:
        if not (self.model_fields_set - {"auth"}):
            raise ValueError("restricts nothing: set tools, resources, prompts, toolkits, tags or read_only")
        return self

    @property
    def names(self) -> Mapping[ItemKind, Sequence[str] | None]:
        """The names by kind; None for all. If names of one kind are set, kinds without names have no items."""
        selected = {"tools": self.tools, "resources": self.resources, "prompts": self.prompts}
        other = None if all(names is None for names in selected.values()) else ()
        return {kind: other if selected[kind] is None else selected[kind] for kind in KINDS}


_ProfileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]


def read_profiles(profiles: Mapping[str, Any]) -> dict[str, ProfileConfig]:
    """Return the settings of all profiles.

    Raises:
        ValidationError: names or settings of profiles are invalid.
    """
    try:
        return TypeAdapter(dict[_ProfileName, ProfileConfig]).validate_python(profiles)
    except ValidationError as error:
        details = [_with_suggestion(detail) for detail in error.errors(include_url=False)]
        raise ValidationError.from_exception_data("profiles", details) from None


def _with_suggestion(detail: ErrorDetails) -> InitErrorDetails:
    """Return an error of the settings. For an unknown key, name the closest key, or else all keys."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        keys = [*ProfileConfig.model_fields]
        close = get_close_matches(str(detail["loc"][-1]), keys, n=1)
        hint = f'did you mean "{close[0]}"?' if close else f"the keys are {', '.join(keys)}"
        kind, context = "value_error", {"error": ValueError(f"unknown key; {hint}")}
    return InitErrorDetails(type=kind, loc=detail["loc"], input=detail["input"], ctx=context)


class Profile(Middleware):
    """The items of one profile. As middleware, it learns of changes of the catalogue; it has no hooks for calls.

    Args:
        name: the name of the profile.
        config: its settings.

    Attributes:
        key: the name of the profile.
        policy: the policy of its endpoint.
        serves: returns True for the items of the profile; see `Call.serves`.
    """

    def __init__(self, name: str, config: ProfileConfig) -> None:
        self.key = name
        self.policy = config.auth
        self.serves = self._has
        self._config = config
        self._known: Mapping[ItemKind, Mapping[str, Any]] = {kind: {} for kind in KINDS}
        self._items: Mapping[ItemKind, Mapping[str, Any]] = self._known
        self._answering: Callable[[str], Sequence[str]] = lambda uri: ()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Select the items of a changed catalogue. Return the settings that match nothing."""
        served = {kind: getattr(inventory, kind) for kind in KINDS}
        self._items = {
            kind: {name: item for name, item in served[kind].items() if self._selects(kind, name, item)}
            for kind in KINDS
        }
        self._known = served
        self._answering = inventory.answering
        return self._unmatched() if inventory.is_complete else ()

    def _selects(self, kind: ItemKind, name: str, item: Any) -> bool:
        config, names = self._config, self._config.names[kind]
        if names is not None and not _matches(names, name):
            return False
        if config.toolkits and not _matches(config.toolkits, item.owner):
            return False
        if config.tags and not any(_matches(config.tags, tag) for tag in item.tags):
            return False
        return not (config.read_only and kind == "tools") or bool(item.annotations and item.annotations.read_only)

    def _unmatched(self) -> Iterator[str]:
        items = [item for of_kind in self._known.values() for item in of_kind.values()]
        existing: dict[str, Iterable[str]] = {
            **{str(kind): of_kind for kind, of_kind in self._known.items()},
            "toolkits": {item.owner for item in items},
            "tags": {tag for item in items for tag in item.tags},
        }
        for key, names in existing.items():
            for pattern in getattr(self._config, key) or ():
                if not any(fnmatchcase(name, pattern) for name in names):
                    yield f"profiles.{self.key}.{key}: {pattern!r} matches nothing"

    def may_have(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the profile may list items of a kind. It always lists tools."""
        return kind == "tools" or kind == "completions" or self._config.names[kind] != ()

    def watching(self, listener: Callable[[Change], None]) -> Callable[[Change], None]:
        """Return a listener that leaves out changes of lists and resources outside the profile."""
        known, items = self._known, self._items

        def notify(change: Change) -> None:
            nonlocal known, items
            if change.kind == "resource":
                if self.serves("resources", change.uri or ""):
                    listener(change)
                return
            kind, before, own_before = change.kind, known, items
            known, items = {**known, kind: self._known[kind]}, {**items, kind: self._items[kind]}
            if _same(before[kind], known[kind]) or not _same(own_before[kind], items[kind]):
                listener(change)

        return notify

    def _has(self, kind: ItemKind, name: str) -> bool:
        """Return True if the profile has an item: a name, a URI, or a URI template.

        A URI belongs to the profile if every template that may answer for it does.
        """
        if name in self._known[kind]:
            return name in self._items[kind]
        answering = self._answering(name) if kind == "resources" else ()
        return bool(answering) and all(template in self._items[kind] for template in answering)


def inert(contributed: Contributions) -> Contributions:
    """Return the extensions of plugins that consist of metadata only. Others are not restricted to a profile."""
    active = {method.extension for method in contributed.methods.values()}
    active |= {handler.extension for handler in contributed.notifications.values()}
    active |= {topic.extension for topic in contributed.topics.values()}
    return Contributions({name: extension for name, extension in contributed.extensions.items() if name not in active})


def _same(items: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two mappings have the same items."""
    return items.keys() == other.keys() and all(items[name] is other[name] for name in items)


def _matches(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
