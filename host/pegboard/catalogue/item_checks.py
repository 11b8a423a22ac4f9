"""The checks of plugins that decide whether an item is served."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from pegboard.calls.served_item import SINGULAR, ServedItem, Unserved
from pegboard.catalogue.binding import BindResult
from pegboard.loading.plugins import LoadedPlugin
from pegboard.messages.error_fields import describe_error
from pegboard.plugin.definition_checks import CheckedDefinition, DefinitionCheck
from pegboard.types.catalogue import ItemKind

if TYPE_CHECKING:
    from pegboard.catalogue.assembly import Assembly

logger = logging.getLogger("pegboard")


def checked(bound: BindResult, checks: Iterable[tuple[LoadedPlugin, DefinitionCheck]]) -> BindResult:
    """Return a definition, or its rejection by the first check that rejects it."""
    if isinstance(bound, Unserved):
        return bound
    definition = checked_definition(bound)
    for plugin, check in checks:
        try:
            reason = check.rejection(definition)
        except Exception as error:  # noqa: BLE001 - a plugin's exception
            reason = f"the check of {plugin.origin} raised {describe_error(error)}"
        if reason is not None:
            return Unserved(bound.kind, bound.name, bound.origin.name, reason, is_rejected=True, forms=bound.forms)
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
        reason = rejection(checked_definition(result))
        if reason is None:
            kept.append(result)
        else:
            rejected[result.kind, result.name] = reason
            unserved = Unserved(
                result.kind, result.name, result.origin.name, reason, is_rejected=True, forms=result.forms
            )
            logger.error("%s: %s", result.origin, unserved)
            kept.append(unserved)
    return kept, rejected


def served_definitions(assembly: Assembly) -> Iterator[CheckedDefinition]:
    """Yield the items of an assembly as checks receive them."""
    return (checked_definition(item) for kind in SINGULAR for item in assembly.items(kind).values())


def checked_definition(served: ServedItem) -> CheckedDefinition:
    """Return an item with its owner, as checks receive it."""
    kind, name, item, origin = served.kind, served.name, served.item, served.origin
    owner = f"{origin.kind}:{origin.name}"
    if item.owner != origin.name:
        return CheckedDefinition(kind, name, item, f"{owner}/{item.owner}")
    return CheckedDefinition(kind, name, item, owner, origin.distribution, origin.version)
