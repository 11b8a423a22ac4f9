"""Subscriptions of clients to resources: the check by gates, and the notification of the resource."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard.calls.logged_failures import told_traceback
from pegboard.catalogue.assembly import Assembly
from pegboard.context import Context
from pegboard.context.bound_function import HostAccess
from pegboard.errors import MCPError
from pegboard.middleware.gate import Gate, refused
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call

if TYPE_CHECKING:
    from pegboard.calls.served_item import ServedItem

logger = logging.getLogger("pegboard")


def subscribe(gates: Iterable[Gate], uri: str, call: Call, assembly: Assembly, access: HostAccess) -> MCPError | None:
    """Notify the resource of a subscription. Return the error of a gate that rejects the subscription, else None."""
    if (error := refused(gates, uri, call)) is not None:
        return error
    bound = _subscribed(assembly, uri)
    if bound is not None and bound.subscribed is not None:
        try:
            bound.subscribed(uri, Context(call, bound, EMPTY, access))
        except Exception as failed:
            text = "the function `subscribed` of %s failed"
            logger.error(text, bound.name, exc_info=told_traceback(failed))
    return None


def _subscribed(assembly: Assembly, uri: str) -> ServedItem | None:
    """Return the resource or template with the URI, if it has a function `subscribed`."""
    for bound in assembly.resources.values():
        if bound.subscribed is not None and (
            bound.name == uri if bound.matcher is None else bound.matcher.match(uri) is not None
        ):
            return bound
    return None
