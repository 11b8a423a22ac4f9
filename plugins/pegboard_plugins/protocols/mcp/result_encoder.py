"""Outcomes encoded as JSON-RPC results and errors of one revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from pydantic_core import to_json

from pegboard import (
    AuthorizationRequiredError,
    ClientCapabilityError,
    Completion,
    InsufficientScopeError,
    MCPError,
    NotFoundError,
    PromptResult,
    ResourceResult,
    ToolError,
    ToolkitError,
    ToolResult,
)
from pegboard.errors import MCPContextError
from pegboard.plugin import ProtocolError, decode, encode
from pegboard.types import EmbeddedOutcome, Failure, Identity, Listing, MethodResult, Outcome, RawResult
from pegboard_plugins.protocols.mcp.listing_objects import implementation_object, listing_object
from pegboard_plugins.protocols.mcp.revisions import SERVER_INFO, STATELESS_REVISIONS, since
from pegboard_plugins.support.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    RequestId,
    jsonrpc_error,
    jsonrpc_result,
)

CacheableKind: TypeAlias = Literal["tools", "resources", "templates", "prompts", "discovery"]
"""The results that clients may cache."""

PRIVATE_EXTRA_MEMBERS = frozenset(("endpoint",))
"""Members of an error's `extra` that are logged only, because a service's host and path may be secret."""

_UNQUOTED = frozenset((int, float, bool))
"""The types whose JSON needs no escaping inside a string."""


class ResultEncoder:
    """An encoder of one server's responses in one revision.

    Args:
        revision: the revision.
        identity: the server's name and description.
        ttl_ms: how long clients may cache each kind of result, in milliseconds.

    Attributes:
        wraps_results: True if structured content is always an object in this revision.
    """

    def __init__(self, revision: str, identity: Identity, ttl_ms: Mapping[CacheableKind, int]) -> None:
        self.revision = revision
        self._introduction = implementation_object(identity, revision)
        self._identity = identity._replace(
            description=None, icons=()
        )  # results name the server without icons and description
        self._stateless = revision in STATELESS_REVISIONS
        self._structured = since(revision, "2025-06-18")
        self.wraps_results = self._structured and not self._stateless
        self._close = b"}"
        self._ttl_ms = ttl_ms
        if self._stateless:
            # every result of this era has a type and names its server (2026-07-28, basic)
            info = encode(implementation_object(self._identity, revision))
            self._server_info = b'"%b":%b' % (SERVER_INFO.encode(), info)
            self._close = b',"resultType":"complete","_meta":{%b}}' % self._server_info
        self._success = b',"isError":false' + self._close
        # an encoded page is kept for as long as the host lists the page
        self._pages: WeakKeyDictionary[Listing, bytes] = WeakKeyDictionary()
        self._encoders: dict[type[Any], Callable[[Any], bytes]] = {
            ResourceResult: self._resource,
            PromptResult: self._prompt,
            Completion: self._completion,
            Listing: self._page,
            MethodResult: self._added,
            RawResult: self._raw,
        }

    def handshake(self, request_id: RequestId, capabilities: dict[str, Any]) -> bytes:
        """Return the response to `initialize`."""
        result: dict[str, Any] = {
            "protocolVersion": self.revision,
            "capabilities": capabilities,
            "serverInfo": self._introduction,
        }
        if self._identity.instructions is not None:
            result["instructions"] = self._identity.instructions
        return jsonrpc_result(request_id, encode(result))

    def discovery(self, request_id: RequestId, capabilities: dict[str, Any], revisions: Sequence[str]) -> bytes:
        """Return the response to `server/discover`."""
        result: dict[str, Any] = {"supportedVersions": list(revisions), "capabilities": capabilities}
        end = b',"resultType":"complete","_meta":%b}' % encode({SERVER_INFO: self._introduction})
        if self._identity.instructions is not None:
            result["instructions"] = self._identity.instructions
        caching = self._caching(self._ttl_ms["discovery"], public=True)
        return jsonrpc_result(request_id, encode(result)[:-1] + caching + end)

    def wrapped_answer(self, request_id: RequestId, result: ToolResult | RawResult) -> bytes:
        """Return the response to a call, with the value of the result as the member `result` of an object."""
        encode_result: Callable[..., bytes] = self._raw if type(result) is RawResult else self._full_tool_result
        return jsonrpc_result(request_id, encode_result(result, is_wrapped=True))

    def answer(self, request_id: RequestId, method: str, outcome: Outcome) -> bytes:
        """Return the response to a request."""
        if type(outcome) is Failure:
            return self._failure(request_id, method, outcome)
        if isinstance(outcome, ToolResult):
            return jsonrpc_result(request_id, *self._tool_result(outcome))
        return jsonrpc_result(request_id, self._encoders[type(outcome)](outcome))

    def input_required(self, request_id: RequestId, result: Mapping[str, Any]) -> bytes:
        """Return the response to a request that requires input (2026-07-28)."""
        return jsonrpc_result(request_id, encode(result)[:-1] + b',"_meta":{%b}}' % self._server_info)

    # --- results ---

    def _tool_result(self, outcome: ToolResult) -> Iterable[bytes]:
        """Return the parts of the result of a tool. Its value may be large."""
        raw = outcome.json
        if raw is not None:
            structured, text = outcome.structured, _quoted(raw)
        else:
            value, structured, content, is_error, meta = outcome
            if content is not None or is_error or meta is not None:
                return (self._full_tool_result(outcome),)
            if value is None and not structured:
                return b'{"content":[]', self._success
            raw = encode(value)
            text = raw if type(value) is str else b'"%b"' % raw if type(value) in _UNQUOTED else _quoted(raw)
        head, end = b'{"content":[{"type":"text","text":', self._success
        if not (structured and self._structured):
            return head, text, b"}]", end
        if not self.wraps_results or raw.startswith(b"{"):
            return head, text, b'}],"structuredContent":', raw, end
        return head, text, b'}],"structuredContent":{"result":', raw, b"}", end

    def _full_tool_result(self, outcome: ToolResult, *, is_wrapped: bool = False) -> bytes:
        from pegboard_plugins.protocols.mcp.content_objects import tool_result_object
        from pegboard_plugins.protocols.mcp.wrapped_results import MEMBER

        result = tool_result_object(outcome, self.revision, structured=outcome.structured and self._structured)
        if self.wraps_results and outcome.structured and (is_wrapped or not isinstance(outcome.value, dict)):
            result["structuredContent"] = {MEMBER: outcome.value}
        return encode(result)[:-1] + self._end(outcome.meta)

    def _resource(self, outcome: ResourceResult) -> bytes:
        from pegboard_plugins.protocols.mcp.content_objects import contents_object

        parts = [contents_object(part, self.revision) for part in outcome.contents]
        caching = self._caching(outcome.ttl_ms, public=outcome.public)
        return encode({"contents": parts})[:-1] + caching + self._end(outcome.meta)

    def _prompt(self, outcome: PromptResult) -> bytes:
        from pegboard_plugins.protocols.mcp.content_objects import content_block

        result: dict[str, Any] = {} if outcome.description is None else {"description": outcome.description}
        result["messages"] = [
            {"role": message.role, "content": content_block(message.content, self.revision)}
            for message in outcome.messages
        ]
        return encode(result)[:-1] + self._end(outcome.meta)

    def _completion(self, outcome: Completion) -> bytes:
        completion: dict[str, Any] = {"values": list(outcome.values), "hasMore": outcome.has_more}
        if outcome.total is not None:
            completion["total"] = outcome.total
        return encode({"completion": completion})[:-1] + self._close

    def _caching(self, ttl_ms: int, *, public: bool) -> bytes:
        """Return the caching fields of a result (2026-07-28, server/utilities/caching)."""
        if not self._stateless:
            return b""
        return b',"ttlMs":%d,"cacheScope":"%b"' % (ttl_ms, b"public" if public else b"private")

    def _end(self, meta: Mapping[str, Any] | None) -> bytes:
        """Return the last members of a result that may have its own `_meta`."""
        if not meta:
            return self._close
        own = encode(dict(meta))[1:-1]
        if self._stateless:
            return b',"resultType":"complete","_meta":{%b,%b}}' % (own, self._server_info)
        return b',"_meta":{%b}}' % own

    def _page(self, listing: Listing) -> bytes:
        page = self._pages.get(listing)
        if page is None:
            ttl_ms = self._ttl_ms[listing.kind]
            if listing.max_ttl_ms is not None:
                ttl_ms = min(ttl_ms, listing.max_ttl_ms)
            caching = self._caching(ttl_ms, public=not listing.private)
            page = encode(listing_object(listing, self.revision))[:-1] + caching + self._close
            self._pages[listing] = page
        return page

    def _added(self, outcome: MethodResult) -> bytes:
        """Return the result of a plugin's method, or a result of a plugin's result type."""
        result = self.inlined(outcome.value)
        if outcome.result_type != "complete":
            # also in sessions: the extension defines it, whatever the revision
            result["resultType"] = outcome.result_type
        if self._stateless:
            result.setdefault("resultType", "complete")
            meta = result.get("_meta") or {}
            result["_meta"] = {**meta, SERVER_INFO: implementation_object(self._identity, self.revision)}
        return encode(result)

    def _raw(self, outcome: RawResult, *, is_wrapped: bool = False) -> bytes:
        from pegboard_plugins.protocols.mcp.raw_objects import raw_result

        result = raw_result(outcome.value, self.revision, is_wrapped=is_wrapped)
        end = self._end(result.pop("_meta", None))
        return encode(result)[:-1] + end if result else b"{" + end.removeprefix(b",")

    def inlined(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with embedded outcomes. Each is encoded like its own response."""
        return {
            name: self._inlined(member) if isinstance(member, EmbeddedOutcome) else member
            for name, member in members.items()
        }

    def _inlined(self, embedded: EmbeddedOutcome) -> Any:
        response = decode(self.answer(0, embedded.method, embedded.outcome))
        return response.get("result", response.get("error"))

    # --- errors ---

    def _failure(self, request_id: RequestId, method: str, failure: Failure) -> bytes:
        error = failure.error
        if self._stateless and isinstance(error, ClientCapabilityError):
            error = ProtocolError(MISSING_CLIENT_CAPABILITY, error.message, {"requiredCapabilities": error.required})
        if method == "tools/call" and isinstance(error, ToolError):
            return jsonrpc_result(request_id, self._tool_error(error, failure))
        code, data = self._code(method, error)
        if isinstance(error, ToolkitError):
            data = error_detail(error, failure.error_id)
        elif failure.error_id is not None:
            data = {"errorId": failure.error_id}
        return jsonrpc_error(code, error.message or type(error).__name__, request_id, data)

    def _tool_error(self, error: ToolError, failure: Failure) -> bytes:
        error_id = failure.error_id
        text = (
            "\n\n".join(part for part in (error.message, error.additional_prompt_content) if part)
            or type(error).__name__
        )
        if error_id is not None:
            text += f"\n\nError id: {error_id}"
        if failure.debug is not None:
            text += f"\n\n{failure.debug}"
        result = {
            "content": [{"type": "text", "text": text}],
            "isError": True,
            "_meta": {"pegboard/error": error_detail(error, error_id)},
        }
        if self._stateless:
            result["resultType"] = "complete"
            result["_meta"][SERVER_INFO] = implementation_object(self._identity, self.revision)  # type: ignore[index]
        return encode(result)

    def _code(self, method: str, error: MCPError) -> tuple[int, Any]:
        if isinstance(error, ProtocolError):
            return error.code, error.data
        if isinstance(error, NotFoundError):
            legacy_resource = method in _RESOURCE_METHODS and not self._stateless
            return RESOURCE_NOT_FOUND if legacy_resource else INVALID_PARAMS, error.data
        if isinstance(error, InsufficientScopeError):
            return INVALID_PARAMS, {"requiredScopes": list(error.scopes)}
        if isinstance(error, MCPContextError):
            return INVALID_PARAMS, None
        return INTERNAL_ERROR, None


_RESOURCE_METHODS = ("resources/read", "resources/subscribe")


def error_detail(error: ToolkitError, error_id: str | None) -> dict[str, Any]:
    """Return the machine-readable fields of an error, without absent members."""
    detail: dict[str, Any] = {"kind": error.kind.value, "canRetry": error.can_retry}
    optional = {
        "statusCode": error.status_code,
        "retryAfterMs": error.retry_after_ms,
        "additionalPromptContent": error.additional_prompt_content,
        "errorId": error_id,
        "extra": {name: value for name, value in error.extra.items() if name not in PRIVATE_EXTRA_MEMBERS} or None,
    }
    if isinstance(error, AuthorizationRequiredError):
        detail["authorizationRequired"] = _required(error)
    return detail | {name: value for name, value in optional.items() if value is not None}


def _required(error: AuthorizationRequiredError) -> dict[str, Any]:
    """Return the missing authorization and the URL to grant it."""
    required = {"provider": error.provider, "scopes": list(error.scopes), "status": error.status}
    where = {"url": error.url, "authorizationId": error.authorization_id}
    return required | {name: value for name, value in where.items() if value is not None}


def _quoted(written: bytes) -> bytes:
    """Return JSON as a string of JSON, without a copy as `str`."""
    return to_json(written, bytes_mode="utf8")
