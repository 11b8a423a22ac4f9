"""The items of a server that the settings select, and the settings that select none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from pegboard import ToolDefinitionError
from pegboard_plugins.servers.upstreams.settings import ServerConfig

Unmatched: TypeAlias = Mapping[tuple[str | int, ...], str]
"""Names and globs that match nothing, by the keys of each."""
Complete: TypeAlias = Callable[[Unmatched, Collection[str]], None]

MAX_LEFT_OUT = 2_000
"""The maximum number of items that are remembered as left out."""


class ItemSelection:
    """The items that `include` and `exclude` select.

    Args:
        server: the name of the server.
        config: its settings.
        complete: reports settings that name no item. See `Catalogue.complete`.

    Attributes:
        left_out: the items that are not served, by kind and own name, each with the pattern of `exclude`, or None if no
            pattern of `include` matches.
        is_known: True if a connection for all callers has listed all items.
        renamed: the kinds and own names of the items that have a new name.
    """

    def __init__(self, server: str, config: ServerConfig, complete: Complete) -> None:
        self.is_known = False
        self._server = server
        self._config = config
        self._complete = complete
        self._used: set[tuple[str, str]] = set()
        self.renamed: set[tuple[str, str]] = set()
        self.left_out: dict[tuple[str, str], str | None] = {}

    def takes(self, kind: str, own: str, *names: str) -> bool:
        """Return True if an item of the server is served.

        Args:
            kind: its kind.
            own: its own name, or the URI of a resource.
            names: the name of a resource.
        """
        included, excluded = (self._matching(key, (own, *names)) for key in ("include", "exclude"))
        if own in self._config.rename and kind in ("tools", "prompts"):
            self._used.add(("rename", own))
            self.renamed.add((kind, own))
        if included and not excluded:
            return True
        if len(self.left_out) < MAX_LEFT_OUT:
            self.left_out[kind, own] = next(iter(excluded), None)
        return False

    def _matching(self, key: str, names: tuple[str, ...]) -> list[str]:
        patterns: tuple[str, ...] = getattr(self._config, key)
        matching = [pattern for pattern in patterns if any(fnmatchcase(name, pattern) for name in names)]
        self._used.update((key, pattern) for pattern in matching)
        return matching

    async def end(self, names: Iterable[str]) -> None:
        """Report the settings that name no item, when all items are known for the first time.

        Args:
            names: the own names of the items that are served.
        """
        if self.is_known:
            return
        self.is_known = True
        known = [*(own for _, own in self.left_out), *names]
        with suppress(ToolDefinitionError):  # a reload has replaced the plugin
            await asyncio.to_thread(self._complete, self._unmatched(), known)

    def _unmatched(self) -> Unmatched:
        """Return the patterns and the old names that match no item, by their keys in `[plugins.upstreams]`."""
        lists = {
            key: getattr(self._config, key) for key in ("include", "exclude") if key in self._config.model_fields_set
        }
        named: list[tuple[str, str | int, str]] = [
            (key, place, text) for key, texts in lists.items() for place, text in enumerate(texts)
        ]
        named += [("rename", own, own) for own in self._config.rename]
        return {
            ("servers", self._server, key, place): text for key, place, text in named if (key, text) not in self._used
        }

    def reasons(self, source: Callable[[tuple[str, ...]], Any]) -> Mapping[tuple[str, str], str]:
        """Return the reasons why items are left out, by kind and own name.

        Args:
            source: returns the file and line of a setting.
        """
        section = ("plugins", "upstreams", "servers", self._server)
        places = {key: f"{key} of [{'.'.join(section)}] ({source((*section, key))})" for key in ("include", "exclude")}
        return {
            item: f"no pattern matches it in {places['include']}"
            if pattern is None
            else f"excluded by {pattern!r} in {places['exclude']}"
            for item, pattern in self.left_out.items()
        }
