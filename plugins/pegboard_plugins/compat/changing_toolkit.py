"""`ChangingToolkit`: a toolkit whose author changes it while hosts serve it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pegboard import NotFoundError, Toolkit
from pegboard.plugin import (
    Lifespan,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
    hookimpl,
)
from pegboard.types import ItemKind

ItemDefinition = TypeVar("ItemDefinition", ToolDefinition, ResourceDefinition, PromptDefinition)


class ChangingToolkit(Toolkit):
    """A toolkit whose tools, resources and prompts can be changed while hosts serve it.

    Args:
        name: the name of the toolkit.
        options: the options of `Toolkit`.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self._running: list[PluginContext] = []

    def has(self, kind: ItemKind, name: str) -> bool:
        """Return True if the toolkit has a definition of this name or URI."""
        items, key = self._items(kind)
        return any(getattr(item, key) == name for item in items)

    def put(self, kind: ItemKind, definition: ItemDefinition) -> None:
        """Add a definition, or replace the definition of the same name or URI."""
        items, key = self._items(kind)
        name = getattr(definition, key)
        others: list[Any] = [item for item in items if getattr(item, key) != name]
        is_new = len(others) == len(items)
        items[:] = [*others, definition]
        for context in self._running:
            (context.catalogue.add if is_new else context.catalogue.update)(self.completed(definition))

    def take(self, kind: ItemKind, name: str) -> None:
        """Remove a definition by its name or URI.

        Raises:
            NotFoundError: the toolkit has no such definition.
        """
        if not self.has(kind, name):
            raise NotFoundError(f"{self.name} has no {name!r} in its {kind}")
        items, key = self._items(kind)
        items[:] = [item for item in items if getattr(item, key) != name]
        for context in self._running:
            context.catalogue.remove(kind, name)

    def completed(self, definition: ItemDefinition) -> ItemDefinition:
        """Return a definition as hosts serve it."""
        return definition

    def _items(self, kind: ItemKind) -> tuple[list[Any], str]:
        """Return the definitions of a kind, and the field with their names."""
        if kind == "resources":
            return self._resources, "uri"
        return (self._tools if kind == "tools" else self._prompts), "name"

    @hookimpl(specname="lifespan")
    def enter_lifespan(self, context: PluginContext) -> Lifespan:
        """Enter the author's lifespan, and change the catalogue of the host until the lifespan ends."""
        return self._within_lifespan(context)

    @asynccontextmanager
    async def _within_lifespan(self, context: PluginContext) -> AsyncIterator[Any]:
        async with super().enter_lifespan(context) as state:
            self._running.append(context)
            try:
                yield state
            finally:
                self._running.remove(context)
