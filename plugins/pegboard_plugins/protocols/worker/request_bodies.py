"""Models of the bodies of requests, and responses to invalid ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pegboard import Authorization
from pegboard.plugin import encode
from pegboard.types import Request, Response, Supplied
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS
from pegboard_plugins.support.repeated_members import decode_unique

Model = TypeVar("Model", bound=BaseModel)


class ToolReference(BaseModel):
    """The tool to call. Names match in any case. Without a version every version matches."""

    name: str
    toolkit: str
    version: str | None = None


class SuppliedAuthorization(BaseModel):
    """The token for the tool."""

    token: str | None = None
    user_info: dict[str, Any] = Field(default_factory=dict)


class KeyValue(BaseModel):
    """A secret or a metadata value."""

    key: str
    value: str


class ToolContext(BaseModel):
    """The token, secrets and metadata that the caller supplies."""

    authorization: SuppliedAuthorization | None = None
    secrets: list[KeyValue] | None = None
    metadata: list[KeyValue] | None = None
    user_id: str | None = None

    def supplied(self, *, lenient: bool) -> Supplied:
        """Return the context for the host. With `lenient`, missing requirements do not refuse the call."""
        own = self.authorization
        token = Authorization(own.token, own.user_info) if own is not None and own.token else None
        return Supplied(
            authorization=token,
            secrets=_by_key(self.secrets),
            metadata=_by_key(self.metadata),
            user_id=self.user_id,
            lenient=lenient,
        )


class ToolCallRequest(BaseModel):
    """A call of a tool. Unknown members are ignored."""

    run_id: str | None = None
    execution_id: str | None = None
    created_at: str | None = None
    tool: ToolReference
    inputs: dict[str, Any] | None = None
    context: ToolContext = Field(default_factory=ToolContext)


class ListRequest(BaseModel):
    """A request for a page of resources."""

    cursor: str | None = None


class ReadRequest(BaseModel):
    """A request for the contents of a resource."""

    uri: str


def read_body(request: Request, model: type[Model]) -> Model | Response:
    """Return the body of a request as a model.

    Return the response that refuses it if it is not a JSON object, repeats a member, or does not fit the model.
    """
    try:
        body = decode_unique(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return error_response(400, INVALID_PARAMS, "Invalid params: malformed request body")
    try:
        return model.model_validate(body)
    except ValidationError as error:
        return error_response(400, INVALID_PARAMS, f"Invalid params: {error.error_count()} error(s)")


def error_response(status: int, code: int, message: str) -> Response:
    """Return a response with an error."""
    return Response(status, encode({"code": code, "message": message}))


def _by_key(items: list[KeyValue] | None) -> Mapping[str, str]:
    return {item.key: item.value for item in items or ()}
