"""The inventory of an assembly, and the middleware that receives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pegboard.catalogue.assembly import Assembly
from pegboard.loading.plugins import LoadProblem
from pegboard.messages.error_fields import describe_error
from pegboard.middleware.chain import REQUEST_HOOKS
from pegboard.types.catalogue import Inventory

if TYPE_CHECKING:
    from pegboard.uris.matching import Matcher


def notify_middleware(assembly: Assembly) -> list[LoadProblem]:
    """Pass the inventory to middleware that overrides `assembled`. Return the warnings and failures of
    the middleware.
    """
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
        tools={name: bound.tool for name, bound in assembly.tools.items()},
        resources={uri: bound.item for uri, bound in assembly.resources.items()},
        prompts={name: bound.item for name, bound in assembly.prompts.items()},
        methods=frozenset((*REQUEST_HOOKS, *assembly.contributed.methods)),
        answering=_answering(assembly),
        is_complete=assembly.is_complete,
    )


def _answering(assembly: Assembly) -> Callable[[str], Sequence[str]]:
    templates: list[tuple[str, Matcher]] = [
        (name, bound.matcher) for name, bound in assembly.resources.items() if bound.matcher is not None
    ]
    exact = assembly.resources.keys() - {name for name, _ in templates}

    def answering(uri: str) -> Sequence[str]:
        if uri in exact:
            return (uri,)
        return [name for name, matcher in templates if matcher.match(uri) is not None]

    return answering
