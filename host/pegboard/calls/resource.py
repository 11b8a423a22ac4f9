"""Reads of resources and resource templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.calls.content_results import awaited, check_result_size, unsendable
from pegboard.calls.execute import Function, Runtime, run_function
from pegboard.context.bound_function import NO_PLUGIN, PluginData
from pegboard.context.requirements import Requirements
from pegboard.errors import NotFoundError
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.schemas.signature import Signature
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, InputRequired, ResourceResult
from pegboard.wire.codec import encode

if TYPE_CHECKING:
    from pegboard.calls.completion import BoundCompleter
    from pegboard.uris.matching import Matcher


class BoundResource(NamedTuple):
    """A resource's or a template's function with everything one host knows about it.

    Attributes:
        name: its URI, or the template.
        mime_type: of what it gives, None where its author did not say.
        matcher: what a template's URIs are made of, None for a resource of one URI.
        owner: what its functions share with the others of their plugin.
        completers: by variable, what knows its values.
        requirements: what it needs beside its arguments, None when that is nothing.
        adapters: who knows what an exception means, in the order in which they are asked.
        timeout: for how many seconds each of its functions may run; 0 for no limit.
        max_result_bytes: the largest content; 0 for no limit.
    """

    name: str
    function: Function
    signature: Signature
    mime_type: str | None = None
    matcher: Matcher | None = None
    owner: PluginData = NO_PLUGIN
    completers: Mapping[str, BoundCompleter] = EMPTY
    requirements: Requirements | None = None
    adapters: tuple[ErrorAdapter, ...] = ()
    timeout: float = 0
    max_result_bytes: int = 0

    @property
    def repeatable(self) -> bool:
        """Reading changes nothing."""
        return True


async def read_resource(
    bound: BoundResource, uri: str, values: Mapping[str, Any], keywords: dict[str, Any], call: Call, runtime: Runtime
) -> ResourceResult | InputRequired:
    """Run a resource's function for one URI.

    Args:
        bound: the resource or template.
        uri: the URI that is read.
        values: what the URI is made of.
        keywords: the same as what the function takes (`bound.signature.bind`).
        call: the call.
        runtime: what the host lends.

    Raises:
        NotFoundError: the function says that there is nothing.
        ToolRuntimeError, MCPContextError: it failed, or gave what cannot be sent.
    """
    running = run_function(bound, bound.function, bound.signature.context_parameter, call, runtime, values, keywords)
    given = await awaited(running, uri)
    if type(given) is InputRequired:
        return given
    if given is None:
        raise not_found(uri)
    from pegboard.content.function_results import resource_result
    from pegboard.content.rules import ContentError

    try:
        result = resource_result(given, uri, bound.mime_type, lambda value: encode(value).decode())
    except (ContentError, TypeError) as error:
        raise unsendable("a resource", error) from error
    check_result_size(bound.name, bound.max_result_bytes, result, "resource")
    return result


def not_found(uri: str, why: str = "") -> NotFoundError:
    """The error for a URI where there is nothing."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})
