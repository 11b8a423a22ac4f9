"""What callers of the worker send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from pegboard import Authorization
from pegboard.plugin import decode
from pegboard.types import Request, Supplied

Model = TypeVar("Model", bound=BaseModel)


class InvalidRequestError(Exception):
    """A body is not what it should be; the message tells the caller."""


class ToolReference(BaseModel):
    """Which tool is meant; names in any case, every version where there is none."""

    name: str
    toolkit: str
    version: str | None = None


class SuppliedAuthorization(BaseModel):
    """The token that the tool is to use."""

    token: str | None = None
    user_info: dict[str, Any] = Field(default_factory=dict)


class KeyValue(BaseModel):
    """A secret, or one piece of metadata."""

    key: str
    value: str


class ToolContext(BaseModel):
    """What the caller brings for the tool."""

    authorization: SuppliedAuthorization | None = None
    secrets: list[KeyValue] | None = None
    metadata: list[KeyValue] | None = None
    user_id: str | None = None

    def supplied(self, *, lenient: bool) -> Supplied:
        """The same for the host; lenient where what a tool requires and nobody has is no reason to refuse the call."""
        own = self.authorization
        token = Authorization(own.token, own.user_info) if own is not None and own.token else None
        return Supplied(token, _by_key(self.secrets), _by_key(self.metadata), self.user_id, lenient)


class ToolCallRequest(BaseModel):
    """A call of a tool. Members that nobody knows are ignored."""

    run_id: str | None = None
    execution_id: str | None = None
    created_at: str | None = None
    tool: ToolReference
    inputs: dict[str, Any] | None = None
    context: ToolContext = Field(default_factory=ToolContext)


class ListRequest(BaseModel):
    """A page of the list of resources."""

    cursor: str | None = None


class ReadRequest(BaseModel):
    """Which resource is read."""

    uri: str


def read_body(request: Request, model: type[Model]) -> Model:
    """The body of a request.

    Raises:
        InvalidRequestError: it is no JSON object, or none of this kind.
    """
    try:
        body = decode(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InvalidRequestError("Invalid params: malformed request body")
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise InvalidRequestError(f"Invalid params: {error.error_count()} error(s)") from None


def _by_key(items: list[KeyValue] | None) -> Mapping[str, str]:
    return {item.key: item.value for item in items or ()}
