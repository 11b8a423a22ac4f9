"""Reads of resources and resource templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.calls.content_results import awaited, check_result_size, unsendable
from pegboard.calls.execute import Runtime, run_function
from pegboard.calls.function import Function
from pegboard.content.function_results import resource_result
from pegboard.content.rules import ContentError
from pegboard.context.bound_function import NO_PLUGIN, PluginData
from pegboard.context.requirements import Requirements
from pegboard.errors import NotFoundError
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.schemas.signature import Signature
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, InputRequired, RawResult, ResourceResult
from pegboard.wire.codec import encode, with_base64

if TYPE_CHECKING:
    from pegboard.calls.completion import BoundCompleter
    from pegboard.context import Context
    from pegboard.uris.matching import Matcher


class BoundResource(NamedTuple):
    """A resource or template, compiled for one host.

    Attributes:
        name: the URI or the template.
        mime_type: the media type that the author declares, or None.
        matcher: the matcher for the URIs of a template, or None for a resource with one URI.
        owner: the data of the resource's plugin.
        completers: the completers of the template's variables, by name.
        requirements: the secrets, tokens and metadata that a call requires, or None.
        adapters: the error adapters, in the order in which they are tried.
        timeout: the time limit of each function in seconds; 0 for no limit.
        max_result_bytes: the size limit of the content; 0 for no limit.
        uri_parameter: the parameter that receives the URI, or None.
        subscribed: called when a client subscribes to a URI; None to call nothing.
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
    uri_parameter: str | None = None
    subscribed: Callable[[str, Context], None] | None = None

    @property
    def repeatable(self) -> bool:
        """Always True: reading has no effects."""
        return True


async def read_resource(
    bound: BoundResource, uri: str, values: Mapping[str, Any], keywords: dict[str, Any], call: Call, runtime: Runtime
) -> ResourceResult | RawResult | InputRequired:
    """Run the function of a resource for one URI.

    Args:
        bound: the resource or template.
        uri: the URI.
        values: the values of the template's variables in the URI.
        keywords: the arguments of the function, as `bound.signature.bind` returns them.
        call: the call.
        runtime: the parts of the host that every call uses.

    Raises:
        NotFoundError: the function found no resource for the URI.
        ToolRuntimeError, MCPContextError: the function failed, or returned a value that cannot be sent.
    """
    if bound.uri_parameter is not None:
        keywords = {bound.uri_parameter: uri}
    running = run_function(bound, bound.function, bound.signature.context_parameter, call, runtime, values, keywords)
    returned = await awaited(running, uri)
    if type(returned) is InputRequired:
        return returned
    if returned is None:
        raise not_found(uri)
    if type(returned) is RawResult:
        check_result_size(bound.name, bound.max_result_bytes, returned, "resource")
        return returned
    try:
        result = resource_result(returned, uri, bound.mime_type, lambda value: encode(with_base64(value)).decode())
    except (ContentError, TypeError) as error:
        raise unsendable("a resource", error) from error
    check_result_size(bound.name, bound.max_result_bytes, result, "resource")
    return result


def not_found(uri: str, why: str = "") -> NotFoundError:
    """Return the error for a URI that no resource has."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})
