"""Content of results and messages, and what may be said about it. Loaded by whoever uses it, not with the rest.

Records hold what their author wrote; it is checked when it is sent, or listed (`content_rules.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from pegboard.types.calls import CONTENT_TYPES, ResourceContents

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks, or is spoken to."""


class Annotations(NamedTuple):
    """For whom something is and how much it matters (MCP Annotations); None leaves one out.

    Attributes:
        audience: for whom it is, "user", "assistant" or both.
        priority: from 0, of no importance, to 1, required.
        last_modified: when it was changed last: a time, or its text in ISO 8601.
    """

    audience: Sequence[Role] | None = None
    priority: float | None = None
    last_modified: datetime | str | None = None


class Icon(NamedTuple):
    """A picture that clients may show beside a name (2025-11-25).

    Attributes:
        src: an `https:`, `http:` or `data:` URI.
        mime_type: its media type, where the source does not say.
        sizes: "48x48" and the like, or "any" for one that scales.
        theme: the background it is made for.
    """

    src: str
    mime_type: str | None = None
    sizes: Sequence[str] | None = None
    theme: Literal["light", "dark"] | None = None


class TextContent(NamedTuple):
    """A text; `str` will do where nothing is to be said about it. `meta` is its `_meta`, as it is of all content."""

    text: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class ImageContent(NamedTuple):
    """A picture.

    Attributes:
        data: its bytes, or those as text in base64 (RFC 4648 section 4).
        mime_type: its media type, such as "image/png".
    """

    data: bytes | str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class AudioContent(NamedTuple):
    """A sound; described in words to clients of 2024-11-05, which know none.

    Attributes:
        data: its bytes, or those as text in base64 (RFC 4648 section 4).
        mime_type: its media type, such as "audio/wav".
    """

    data: bytes | str
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class EmbeddedResource(NamedTuple):
    """What a resource holds, given along with the rest; it need not be one that is listed."""

    resource: ResourceContents
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


class ResourceLink(NamedTuple):
    """A resource that the client may read; given as text to clients before 2025-06-18, which know no links.

    Attributes:
        uri: where it is, absolute (RFC 3986).
        name: what it is called.
        title: a name for people.
        description: what it is, for the model.
        mime_type: its media type.
        size: of its content, in bytes.
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
