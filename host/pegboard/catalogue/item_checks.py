"""The checks of plugins that decide whether an item is served."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pegboard.calls.execute import BoundTool
from pegboard.catalogue.bound_definitions import SINGULAR, BindResult, Unserved
from pegboard.hookspecs import register_definition_checks
from pegboard.loading.plugins import LoadedPlugin, contributions_of
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.definition_checks import CheckedDefinition
from pegboard.plugin.origin import Origin
from pegboard.types.catalogue import ItemKind

if TYPE_CHECKING:
    from pegboard.catalogue.assembly import Assembly

logger = logging.getLogger("pegboard")


class ItemChecks:
    """The checks of all plugins.

    Args:
        plugins: the loaded plugins.
    """

    def __init__(self, plugins: Iterable[LoadedPlugin]) -> None:
        self._checks = tuple(contributions_of(plugins, register_definition_checks))

    def checked(self, bound: BindResult) -> BindResult:
        """Return a definition, or its rejection by the first check that rejects it."""
        if isinstance(bound, Unserved):
            return bound
        definition = checked_definition(bound.field, bound.name, bound.origin, bound.item)
        for plugin, check in self._checks:
            try:
                reason = check.rejection(definition)
            except Exception as error:  # noqa: BLE001 - a plugin's exception
                reason = f"the check of {plugin.origin} raised {describe_error(error)}"
            if reason is not None:
                return Unserved(bound.field, bound.name, bound.origin.name, reason, is_rejected=True)
        return bound


def accepted(
    results: Iterable[BindResult], rejection: Callable[[CheckedDefinition], str | None]
) -> tuple[list[BindResult], dict[tuple[ItemKind, str], str]]:
    """Return served and unserved items, and the reasons of the rejected items for the log."""
    kept: list[BindResult] = []
    rejected: dict[tuple[ItemKind, str], str] = {}
    for result in results:
        if isinstance(result, Unserved):
            kept.append(result)
            if result.is_rejected:
                rejected[result.kind, result.name] = result.reason
            continue
        reason = rejection(checked_definition(result.field, result.name, result.origin, result.item))
        if reason is None:
            kept.append(result)
        else:
            rejected[result.field, result.name] = reason
            unserved = Unserved(result.field, result.name, result.origin.name, reason, is_rejected=True)
            logger.error("%s: %s", result.origin, unserved)
            kept.append(unserved)
    return kept, rejected


def served_definitions(assembly: Assembly) -> Iterator[CheckedDefinition]:
    """Yield the items of an assembly as checks receive them."""
    for kind in SINGULAR:
        items: Mapping[str, Any] = getattr(assembly, kind)
        for name, bound in items.items():
            yield checked_definition(kind, name, assembly.origins[kind][name], bound)


def checked_definition(kind: ItemKind, name: str, origin: Origin, bound: Any) -> CheckedDefinition:
    """Return an item of an assembly with its owner.

    Args:
        kind: the kind of the item.
        name: its name in the assembly.
        origin: its plugin.
        bound: its value in the assembly.
    """
    item = bound.tool if isinstance(bound, BoundTool) else bound[0]
    owner = f"{origin.kind}:{origin.name}"
    if item.owner != origin.name:
        return CheckedDefinition(kind, name, item, f"{owner}/{item.owner}")
    return CheckedDefinition(kind, name, item, owner, origin.distribution, origin.version)
