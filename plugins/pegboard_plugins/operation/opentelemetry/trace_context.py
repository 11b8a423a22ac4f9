"""The trace context of a request: from its `_meta`, its HTTP request, or the program."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.context import Context
from opentelemetry.context import get_current as current
from opentelemetry.propagate import extract, get_global_textmap
from opentelemetry.trace import Link, get_current_span

from pegboard.types import Call


def parent_of(call: Call) -> tuple[Context, list[Link]]:
    """Return the parent context of a request, and links to other contexts.

    The parent is the context in `params._meta`. The context of the HTTP request, or of the program that embeds the
    host, is linked. Without a context in `_meta`, it is the parent.
    """
    meta, headers = call.meta, call.headers
    ambient = current()
    if headers is not None and not get_current_span(ambient).get_span_context().is_valid:
        ambient = _extracted(headers.get, ambient)
    own = _extracted(meta.get, Context())
    if not get_current_span(own).get_span_context().is_valid:
        return _extracted(meta.get, ambient), []
    linked = get_current_span(ambient).get_span_context()
    return own, [Link(linked)] if linked.is_valid else []


def _extracted(get: Callable[[str], object], base: Context) -> Context:
    """Return a context with the fields that clients send, such as `traceparent`. Ignore values that are not strings."""
    carrier = {field: value for field in get_global_textmap().fields if isinstance(value := get(field), str)}
    return extract(carrier, context=base) if carrier else base
