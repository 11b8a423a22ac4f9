"""Reads of resources and resource templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pegboard.calls.content_results import awaited, check_result_size, unsendable
from pegboard.calls.execute import Runtime, run_function
from pegboard.calls.served_item import ServedItem
from pegboard.content.function_results import resource_result
from pegboard.content.rules import ContentError
from pegboard.errors import NotFoundError
from pegboard.types.calls import Call, InputRequired, RawResult, ResourceResult
from pegboard.wire.codec import encode, with_base64

if TYPE_CHECKING:
    pass


async def read_resource(
    bound: ServedItem, uri: str, values: Mapping[str, Any], keywords: dict[str, Any], call: Call, runtime: Runtime
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
        result = resource_result(returned, uri, bound.item.mime_type, lambda value: encode(with_base64(value)).decode())
    except (ContentError, TypeError) as error:
        raise unsendable("a resource", error) from error
    check_result_size(bound.name, bound.max_result_bytes, result, "resource")
    return result


def not_found(uri: str, why: str = "") -> NotFoundError:
    """Return the error for a URI that no resource has."""
    return NotFoundError(f"Resource not found{why}", data={"uri": uri})
