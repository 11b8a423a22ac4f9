"""The JSON-RPC 2.0 envelope of decoded messages: message types and validation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeGuard

from pegboard.plugin import ProtocolError
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, RequestId
from pegboard_plugins.support.repeated_members import REPEATED_MEMBERS

EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The parameters of a message without parameters."""
MessageType = Literal["request", "notification", "response"]


def is_request_id(value: object) -> TypeGuard[RequestId]:
    """Return True if a value is a valid request id: a string or an integer, not a boolean or null (MCP, basic)."""
    return type(value) is str or type(value) is int


def readable_id(message: object) -> RequestId | None:
    """Return the id for an error response to this message, or None without a valid id."""
    request_id = message.get("id") if isinstance(message, dict) and "method" in message else None
    return request_id if is_request_id(request_id) else None


def message_type(message: Any) -> MessageType:
    """Return the type of a message.

    Raises:
        ProtocolError: the message is not a request, notification or response (JSON-RPC 2.0 sections 4 and 5).
    """
    if type(message) is not dict:
        raise ProtocolError(INVALID_REQUEST, "A message must be an object.")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'The member "jsonrpc" must be "2.0".')
    if "method" not in message:
        if "id" in message and ("result" in message or "error" in message):
            return "response"
        raise ProtocolError(INVALID_REQUEST, 'The message has no "method" and is not a response.')
    if type(message["method"]) is not str:
        raise ProtocolError(INVALID_REQUEST, 'The member "method" must be a string.')
    if "id" not in message:
        return "notification"
    if not is_request_id(message["id"]):
        raise ProtocolError(INVALID_REQUEST, 'The member "id" must be a string or an integer.')
    return "request"


def requires_response(message: object) -> bool:
    """Return True if a message of a batch requires a response: a request or an invalid message."""
    try:
        return message_type(message) == "request"
    except ProtocolError:
        return True


def params_of(message: dict[str, Any]) -> Any:
    """Return the message's parameters. Return an empty mapping if they are missing or null.

    Raises:
        ProtocolError: the parameters or their `_meta` are not an object, or an object in them has a duplicate member.
    """
    params = message.get("params")
    if type(params) is dict:
        if "_meta" in params and type(params["_meta"]) is not dict:
            raise ProtocolError(INVALID_PARAMS, "params._meta must be an object.")
        return params
    if params is None:
        return EMPTY
    if params is REPEATED_MEMBERS:
        raise ProtocolError(INVALID_PARAMS, "params contains a member twice: send each member once.")
    raise ProtocolError(INVALID_PARAMS, "params must be an object.")
