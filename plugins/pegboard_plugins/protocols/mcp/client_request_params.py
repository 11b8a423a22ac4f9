"""The parameters of requests to clients, converted from the newest revision to a session's revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import ClientCapabilityError, ClientError
from pegboard_plugins.protocols.mcp.revisions import since


def in_revision(method: str, params: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return the parameters of a request to the client, as the client's revision defines them.

    Raises:
        ClientCapabilityError: the revision does not have the request.
        ClientError: the parameters cannot be expressed in the revision.
    """
    if method == "elicitation/create":
        return _elicitation(params, revision)
    if method == "sampling/createMessage" and not since(revision, "2025-11-25"):
        return _plain_sampling(params, revision)
    return params


def _elicitation(params: dict[str, Any], revision: str) -> dict[str, Any]:
    mode = params.get("mode", "form")
    if not since(revision, "2025-11-25" if mode == "url" else "2025-06-18"):
        raise ClientCapabilityError(f"elicitation.{mode}")
    if mode == "url":
        import secrets  # few calls need it

        return {**params, "elicitationId": secrets.token_urlsafe(16)}
    if since(revision, "2025-11-25"):
        return params
    schema = params["requestedSchema"]
    properties = {name: _plain_field(name, field) for name, field in schema["properties"].items()}
    return {"message": params["message"], "requestedSchema": {**schema, "properties": properties}}


def _plain_field(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form field in the format of 2025-06-18: choice names in a separate list, single choice only."""
    if field["type"] == "array":
        raise ClientError(f"The field {name} cannot be sent: the client's revision has no multiple choice.")
    titled = field.get("oneOf")
    if titled is None:
        return dict(field)
    plain = {key: value for key, value in field.items() if key != "oneOf"}
    return plain | {"enum": [choice["const"] for choice in titled], "enumNames": [choice["title"] for choice in titled]}


def _plain_sampling(params: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return parameters in the format before 2025-11-25: no tools, one content block per message."""
    if "tools" in params or "toolChoice" in params:
        raise ClientCapabilityError("sampling.tools")
    return {**params, "messages": [_plain_message(message, revision) for message in params["messages"]]}


def _plain_message(message: Mapping[str, Any], revision: str) -> Mapping[str, Any]:
    content = message["content"]
    if isinstance(content, list):
        if len(content) != 1:
            raise ClientError("The client's revision allows only one content block per sampling message.")
        content = content[0]
    kind = content["type"]
    if kind in ("tool_use", "tool_result"):
        raise ClientCapabilityError("sampling.tools")
    if kind == "audio" and not since(revision, "2025-03-26"):
        raise ClientError("The client's revision does not support audio in sampling messages.")
    return {**message, "content": content}
