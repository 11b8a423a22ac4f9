"""Content blocks of results and messages. This module is imported on first use.

Records hold the author's values unchanged. The host checks them when it sends or lists them (`content/rules.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from pegboard.types.calls import CONTENT_TYPES, ResourceContents


class Annotations(NamedTuple):
    """The audience and priority of content (MCP Annotations). A member that is None is not sent.

    Attributes:
        audience: "user", "assistant" or both.
        priority: a number from 0, unimportant, to 1, required.
        last_modified: the time of the last change: a datetime, or a string in ISO 8601.
    """

    audience: Sequence[Literal["user", "assistant"]] | None = None
    priority: float | None = None
    last_modified: datetime | str | None = None


class Icon(NamedTuple):
    """An icon that clients may show beside a name (2025-11-25).

    Attributes:
        src: an `https:`, `http:` or `data:` URI.
        mime_type: its media type, if the source does not state it.
        sizes: sizes such as "48x48", or "any" for a scalable icon.
        theme: the background for which the icon is designed.
    """

    src: str
    mime_type: str | None = None
    sizes: Sequence[str] | None = None
    theme: Literal["light", "dark"] | None = None


class TextContent(NamedTuple):
    """A text block. `meta` is its `_meta`, as in all blocks.

    For a plain string among the blocks that a tool returns, the host makes a text block without annotations.
    """

    text: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class ImageContent(NamedTuple):
    """An image.

    Attributes:
        data: its bytes, or a string with their base64 form (RFC 4648 section 4).
        mime_type: its media type, such as "image/png".
    """

    data: bytes | str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class AudioContent(NamedTuple):
    """Audio. Clients of 2024-11-05 receive a text description instead.

    Attributes:
        data: its bytes, or a string with their base64 form (RFC 4648 section 4).
        mime_type: its media type, such as "audio/wav".
    """

    data: bytes | str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class EmbeddedResource(NamedTuple):
    """The content of a resource inside a result. The resource need not be listed."""

    resource: ResourceContents
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class ResourceLink(NamedTuple):
    """A resource that the client may read. Clients before 2025-06-18 receive a text block instead.

    Attributes:
        uri: the absolute URI (RFC 3986).
        name: its name.
        title: a name for people.
        description: the description for the model.
        mime_type: its media type.
        size: the size of its content, in bytes.
    """

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: Sequence[Icon] | None = None
    meta: Mapping[str, Any] | None = None


Content: TypeAlias = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink
"""One block of content."""

CONTENT_TYPES.update((TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink))
