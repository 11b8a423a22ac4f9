"""Questions in the words of a session's revision: what older ones say otherwise, and what they cannot say."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pegboard.plugin import ClientCapabilityError, ClientError
from pegboard_plugins.mcp.revisions import since


def in_revision(method: str, params: dict[str, Any], revision: str) -> dict[str, Any]:
    """The parameters of a request to the client, from those of the newest revision.

    Raises:
        ClientCapabilityError: the revision has no such question.
        ClientError: it cannot be put in this revision.
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
        return {**params, "elicitationId": secrets.token_urlsafe(16)}
    if since(revision, "2025-11-25"):
        return params
    schema = params["requestedSchema"]
    properties = {name: _plain_field(name, field) for name, field in schema["properties"].items()}
    return {"message": params["message"], "requestedSchema": {**schema, "properties": properties}}


def _plain_field(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    """A field of a form as 2025-06-18 has it: choices with names beside them, and one choice only."""
    if field["type"] == "array":
        raise ClientError(f"The client cannot be asked for {name}: it knows no choice of several.")
    titled = field.get("oneOf")
    if titled is None:
        return dict(field)
    plain = {key: value for key, value in field.items() if key != "oneOf"}
    return plain | {"enum": [one["const"] for one in titled], "enumNames": [one["title"] for one in titled]}


def _plain_sampling(params: dict[str, Any], revision: str) -> dict[str, Any]:
    """Without tools, and with one content block for each message: all there was before 2025-11-25."""
    if "tools" in params or "toolChoice" in params:
        raise ClientCapabilityError("sampling.tools")
    return {**params, "messages": [_plain_message(message, revision) for message in params["messages"]]}


def _plain_message(message: Mapping[str, Any], revision: str) -> Mapping[str, Any]:
    content = message["content"]
    if isinstance(content, list):
        if len(content) != 1:
            raise ClientError("The client's model cannot be asked: its revision has one content block a message.")
        content = content[0]
    kind = content["type"]
    if kind in ("tool_use", "tool_result"):
        raise ClientCapabilityError("sampling.tools")
    if kind == "audio" and not since(revision, "2025-03-26"):
        raise ClientError("The client's model cannot be asked: its revision knows no sound.")
    return {**message, "content": content}
