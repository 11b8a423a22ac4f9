"""Names of the wire: keys of `_meta` that the protocol and the host reserve (2026-07-28, `_meta`), and error codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.wire.codec import encode, is_finite

MAX_META_LEVELS = 100
"""The limit of the nesting depth of values by authors and plugins. Clients cannot read lists nested beyond 200
levels."""

_PROTOCOL = "io.modelcontextprotocol"
_CORE = frozenset(
    {
        "progressToken",
        "traceparent",
        "tracestate",
        "baggage",
        *(
            f"{_PROTOCOL}/{name}"
            for name in (
                "protocolVersion",
                "clientInfo",
                "clientCapabilities",
                "logLevel",
                "subscriptionId",
                "serverInfo",
            )
        ),
    }
)
"""The keys that the protocol writes or reads."""

_OF_EXTENSIONS = frozenset({"ui"})
"""The prefixes, and the names without a prefix, that official extensions reserve (MCP Apps 2026-01-26)."""

_HOST = "pegboard"
"""The prefix of the host's own keys."""


def grammar_complaint(key: str, *, prefixed: bool = False) -> str | None:
    """Return the problem if a key violates the grammar, or None if the key is valid.

    Args:
        key: "name" or "prefix/name".
        prefixed: True if the key must have a prefix, like the identifier of an extension.
    """
    prefix, slash, name = key.rpartition("/")
    if prefixed and not (slash and name):
        return 'it lacks its prefix or its name; write it as "com.example/name"'
    if slash and not all(label[:1].isalpha() and _is_word(label, "-") for label in prefix.split(".")):
        return f"its prefix {prefix!r} must be labels of letters, digits and '-' with dots between, such as com.example"
    if name and not _is_word(name, "._-"):
        return f"its name {name!r} must be letters and digits, with '-', '_' and '.' only between them"
    return None


def _is_word(text: str, between: str) -> bool:
    """Return True for ASCII letters and digits with some characters between them. A pattern would delay the start."""
    ends = text[:1].isalnum() and text[-1:].isalnum()
    return ends and text.isascii() and all(char.isalnum() or char in between for char in text)


def key_complaint(key: object, extension: str | None) -> str | None:
    """Return the problem of a key from a plugin or an author, or None if the key is valid.

    Args:
        key: the key.
        extension: the identifier of the extension that writes the key. An extension may write its reserved keys.
    """
    if not isinstance(key, str):
        return f"the key {key!r} must be a string"
    if complaint := grammar_complaint(key):
        return f"the key {key!r} is invalid: {complaint}"
    prefix, slash, name = key.rpartition("/")
    own, _, own_name = (extension or "").rpartition("/")
    labels = prefix.split(".")
    of_mcp = len(labels) > 1 and labels[1] in ("modelcontextprotocol", "mcp")
    of_others = (prefix if slash else name) in _OF_EXTENSIONS and (prefix if slash else name) != own_name
    if key in _CORE or prefix == _HOST or of_others or (of_mcp and prefix != own):
        return f"the key {key!r} is reserved; use one with a prefix of your own, such as com.example/{name}"
    return None


def is_of_host(key: object) -> bool:
    """Return True for the host's own keys."""
    return isinstance(key, str) and key.startswith(f"{_HOST}/")


def meta_complaint(meta: object, extension: str | None = None) -> str | None:
    """Return the reason why the `_meta` of a plugin or an author is invalid. Return None if it is valid."""
    if not isinstance(meta, dict):
        return f"it must be a dict, not {type(meta).__name__}"
    for key in meta:
        if complaint := key_complaint(key, extension):
            return complaint
        if not nests_within(meta[key], MAX_META_LEVELS):
            return f"the value of {key!r} is nested more than {MAX_META_LEVELS} levels deep"
        try:
            encode(meta[key])
        except TypeError as error:
            return f"the value of {key!r} is not JSON: {error}"
    return None if is_finite(meta) else "it contains NaN or an infinity, which JSON lacks"


def nests_within(value: Any, levels: int) -> bool:
    """Return True if the nesting depth of dicts and lists is at most `depth`."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    return inner is None or (levels > 0 and all(nests_within(item, levels - 1) for item in inner))


# --- Error codes of JSON-RPC 2.0 (section 5.1).

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
