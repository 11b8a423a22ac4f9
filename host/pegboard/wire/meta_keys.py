"""The keys of `_meta`: their grammar, and which of them belong to the protocol or the host (2026-07-28, `_meta`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegboard.wire.codec import encode, is_finite

MAX_META_LEVELS = 100
"""How deeply what authors and plugins say may be nested: beyond 200 nobody reads the list that it stands in."""

_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_PREFIX = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")

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
"""Keys that the protocol itself writes, or reads."""

_OF_EXTENSIONS = frozenset({"ui"})
"""Names without a prefix, and prefixes, that an official extension has reserved for itself (MCP Apps 2026-01-26)."""

_HOST = "pegboard"
"""The prefix of what the host itself says."""


def grammar_complaint(key: str, *, prefixed: bool = False) -> str | None:
    """What is wrong with a key by its grammar; None when it is in order.

    Args:
        key: "name" or "prefix/name".
        prefixed: it must have a prefix, as the identifiers of extensions must.
    """
    prefix, slash, name = key.rpartition("/")
    if prefixed and not (slash and name):
        return 'it lacks its prefix or its name; write it as "com.example/name"'
    if slash and not _PREFIX.fullmatch(prefix):
        return f"its prefix {prefix!r} must be labels of letters, digits and '-' with dots between, such as com.example"
    if not _NAME.fullmatch(name):
        return f"its name {name!r} must be letters and digits, with '-', '_' and '.' only between them"
    return None


def key_complaint(key: object, extension: str | None = None) -> str | None:
    """What is wrong with a key that a plugin or an author writes; None when it is in order.

    Args:
        key: the key.
        extension: the identifier of the extension that writes it: what it has reserved for itself is its to write.
    """
    if not isinstance(key, str):
        return f"the key {key!r} is no text"
    if complaint := grammar_complaint(key):
        return f"the key {key!r} is no good: {complaint}"
    prefix, slash, name = key.rpartition("/")
    own, _, own_name = (extension or "").rpartition("/")
    labels = prefix.split(".")
    of_mcp = len(labels) > 1 and labels[1] in ("modelcontextprotocol", "mcp")
    of_others = (prefix if slash else name) in _OF_EXTENSIONS and (prefix if slash else name) != own_name
    if key in _CORE or prefix == _HOST or of_others or (of_mcp and prefix != own):
        return f"the key {key!r} is reserved; use one with a prefix of your own, such as com.example/{name}"
    return None


def meta_complaint(meta: object, extension: str | None = None) -> str | None:
    """What is wrong with a `_meta` that a plugin or an author writes; None when it is in order."""
    if not isinstance(meta, dict):
        return f"it is {type(meta).__name__}, not a dict"
    for key in meta:
        if complaint := key_complaint(key, extension):
            return complaint
        if not nests_within(meta[key], MAX_META_LEVELS):
            return f"the value of {key!r} is nested more than {MAX_META_LEVELS} levels deep"
        try:
            encode(meta[key])
        except TypeError as error:
            return f"the value of {key!r} is no JSON: {error}"
    return None if is_finite((meta,)) else "it holds NaN or an infinity, which JSON lacks"


def nests_within(value: Any, levels: int) -> bool:
    """Whether dicts and lists stand in one another no deeper than this."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    return inner is None or (levels > 0 and all(nests_within(one, levels - 1) for one in inner))
