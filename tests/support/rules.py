"""Rules for one message of a server, by its revision and its request. They have no state of a connection.

The official schema comes first. Rules of the specification's text and our own promises follow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.support.schemas import LEGACY, MODERN, SchemaMismatch, check, check_tool_schema, check_value, methods

RESULTS: Mapping[str, str] = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    **dict.fromkeys(("ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"), "EmptyResult"),
}
"""The definition of the result, by request method."""

ASKING = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The methods that may return `input_required` (2026-07-28)."""
CACHEABLE = {"server/discover", "resources/read", *(method for method in RESULTS if method.endswith("/list"))}
"""The methods whose complete results have a lifetime (2026-07-28)."""

STANDARD_CODES = frozenset({-32700, -32600, -32601, -32602, -32603})
LEGACY_CODES = frozenset({-32002, -32042})
MODERN_CODES: Mapping[int, str] = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}
MISSING_CAPABILITY = -32021
"""In sessions too, for what belongs to an extension: their revisions leave such codes to the implementation."""
UNREADABLE = frozenset({-32700, -32600})
"""The codes of an answer to something whose id could not be read: `id` may be null there (JSON-RPC 2.0, section 5)."""


class Added(NamedTuple):
    """The additions of an extension: JSON Schemas of results by method and by result type, and of notifications."""

    results: Mapping[str, Any] = {}
    kinds: Mapping[str, Any] = {}
    notifications: Mapping[str, Any] = {}


NOTHING_ADDED = Added()


def decode(line: bytes) -> Any:
    """Parse a line as strictly as the strictest client does."""
    try:
        message = json.loads(line.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        json.dumps(message, ensure_ascii=False).encode("utf-8")  # a lone surrogate fails here
    except ValueError as error:
        raise SchemaMismatch(f"not strict JSON: {error}: {line[:200]!r}") from error
    return message


def shape(message: Any) -> str:
    """Return the kind of a message: request, notification, result or error. Raise for any other value."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise SchemaMismatch(f"not a JSON-RPC message: {message!r:.200}")
    has = tuple(key for key in ("method", "result", "error") if key in message)
    if has == ("method",):
        return "request" if "id" in message else "notification"
    if has in {("result",), ("error",)}:
        return has[0]
    raise SchemaMismatch(f"neither a request, a notification nor a response: {message!r:.200}")


def check_result(revision: str, method: str, message: dict[str, Any], added: Added = NOTHING_ADDED) -> None:
    """Check a result."""
    if method not in methods(revision, "ClientRequest") and method not in added.results:
        raise SchemaMismatch(f"{revision} has no method {method!r}, yet it got a result")
    result = message["result"]
    check(revision, "JSONRPCResultResponse" if revision >= "2025-11-25" else "JSONRPCResponse", message)
    if method in added.results or result.get("resultType") in added.kinds:
        _check_added(revision, method, result, added)
    elif revision in MODERN:
        _check_modern(revision, method, result)
    else:
        check(revision, RESULTS[method], result)
        _refuse_members(result, {"resultType", "ttlMs", "cacheScope"}, f"{method} of {revision}")
    for tool in result.get("tools", ()):
        check_tool_schema(tool["inputSchema"], f"{tool['name']}.inputSchema")
        if "outputSchema" in tool:
            check_tool_schema(tool["outputSchema"], f"{tool['name']}.outputSchema")


def _check_added(revision: str, method: str, result: dict[str, Any], added: Added) -> None:
    """Check a result that an extension defines, against the revision and the extension's own schema."""
    check(revision, "Result", result)
    kind = result.get("resultType")
    if isinstance(kind, str) and kind in added.kinds:
        check_value(added.kinds[kind], result, f"{method} with resultType {kind!r}")
        if revision in LEGACY and method in RESULTS:
            check(revision, RESULTS[method], result)
        return
    check_value(added.results[method], result, method)
    if kind != ("complete" if revision in MODERN else None):
        raise SchemaMismatch(f"{method} of {revision} with resultType {kind!r}")


def check_error(
    revision: str, message: dict[str, Any], added: Added = NOTHING_ADDED, *, request_waits: bool = True
) -> None:
    """Check an error response. If no request waits, it refuses a notification, and has no id to name."""
    nameless = message.get("id") is None
    if nameless:
        message = {**message, "id": 0}  # stands in: the schemas know no null
    check(revision, "JSONRPCErrorResponse" if revision >= "2025-11-25" else "JSONRPCError", message)
    code: int = message["error"]["code"]
    if nameless and request_waits and code not in UNREADABLE:
        raise SchemaMismatch(f"error {code} without the id of its request")
    if added is not NOTHING_ADDED and code == MISSING_CAPABILITY:
        check(MODERN[-1], MODERN_CODES[code], message)
        return
    own = LEGACY_CODES if revision in LEGACY else MODERN_CODES
    if code not in STANDARD_CODES and code not in own and -32768 <= code <= -32000:
        raise SchemaMismatch(f"{revision} has no error {code}")
    if revision in MODERN and code in MODERN_CODES:
        check(revision, MODERN_CODES[code], message)


def check_sent(revision: str, kind: str, message: dict[str, Any], added: Added = NOTHING_ADDED) -> None:
    """Check a notification or a request of the server."""
    if kind == "notification" and message["method"] in added.notifications:
        check(revision, "JSONRPCNotification", message)
        check_value(added.notifications[message["method"]], message["params"], message["method"])
        return
    union = "ServerNotification" if kind == "notification" else "ServerRequest"
    known = methods(revision, union)
    if message["method"] not in known:
        raise SchemaMismatch(f"{revision} has no {union} {message['method']!r}")
    check(revision, "JSONRPCNotification" if kind == "notification" else "JSONRPCRequest", message)
    check(revision, known[message["method"]], message)


def check_structured(schema: dict[str, Any], result: dict[str, Any], tool: str) -> None:
    """Check that a result of a tool matches its output schema, unless the call failed."""
    if result.get("isError"):
        _refuse_members(result, {"structuredContent"}, f"the failed call of {tool}")
    elif "structuredContent" not in result:
        raise SchemaMismatch(f"{tool} has an outputSchema and gave no structuredContent")
    else:
        check_value(schema, result["structuredContent"], f"{tool}.structuredContent")


def _check_modern(revision: str, method: str, result: dict[str, Any]) -> None:
    kind = result.get("resultType")
    if kind == "input_required" and method in ASKING:
        check(revision, "InputRequiredResult", result)
    elif kind == "complete":
        check(revision, RESULTS[method], result)
    else:
        raise SchemaMismatch(f"{method} of {revision} with resultType {kind!r}")
    if kind == "input_required" or method not in CACHEABLE:
        _refuse_members(result, {"ttlMs", "cacheScope"}, f"{method} of {revision}")
    if method == "server/discover":
        _refuse_members(result["capabilities"], {"tasks"}, f"the capabilities of {revision}")
        _refuse_members(result, {"serverInfo"}, f"{method} of {revision}")


def _refuse_members(value: dict[str, Any], names: set[str], what: str) -> None:
    if unknown := names & value.keys():
        raise SchemaMismatch(f"{what} has no {', '.join(sorted(unknown))}")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a member twice in {[key for key, _ in pairs]}")
    return members


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
