"""The specification's rules for content, the same for all revisions.

Records are checked, and MCP objects are converted to records.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pegboard.types.calls import ResourceContents
from pegboard.types.content import (
    Annotations,
    AudioContent,
    Content,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
)
from pegboard.wire.meta_keys import meta_complaint

ROLES = ("user", "assistant")
THEMES = ("light", "dark")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f]+")
_SIZE = re.compile(r"any|[1-9][0-9]*x[1-9][0-9]*")


class ContentError(ValueError):
    """Content violates a rule of the specification. The message names the member and the problem."""


# --- records


def checked(item: Any) -> Content:
    """Validate a content block and return it. Strings become text content, and MCP objects become records.

    Raises:
        ContentError: the item is not content, or a member is invalid.
    """
    if isinstance(item, str):
        return TextContent(item)
    if type(item) is dict:
        return of_object(item)
    check = _CHECKS.get(type(item))
    if check is None:
        raise ContentError(
            f"{type(item).__name__} is not content: use str, {', '.join(kind.__name__ for kind in _CHECKS)}"
        )
    check(item)
    check_annotations(item.annotations)
    check_meta(item.meta, type(item).__name__)
    return item  # type: ignore[no-any-return]  # one of the types just looked up


def check_annotations(item: object) -> None:
    """Check the annotations of a content block or resource.

    Raises:
        ContentError: a member is invalid.
    """
    if item is None:
        return
    if not isinstance(item, Annotations):
        raise ContentError(f"annotations: must be Annotations, not {type(item).__name__}")
    if item.audience is not None:
        if not isinstance(item.audience, list | tuple | set | frozenset):
            raise ContentError(f"annotations.audience: must be a list of {_choices(ROLES)}, not {item.audience!r}")
        for role in item.audience:
            check_role(role, "annotations.audience")
    priority = item.priority
    if priority is not None and (type(priority) not in (int, float) or not 0 <= priority <= 1):
        raise ContentError(f"annotations.priority: must be a number from 0 to 1, not {priority!r}")
    if item.last_modified is not None and not _is_time(item.last_modified):
        raise ContentError(f"annotations.last_modified: must be a time in ISO 8601, not {item.last_modified!r}")


def check_role(role: object, where: str = "role") -> None:
    """Check the role of a message or audience.

    Raises:
        ContentError: the role is unknown.
    """
    if not isinstance(role, str) or role not in ROLES:
        raise ContentError(f"{where}: must be {_choices(ROLES)}, not {role!r}")


def check_icons(items: object) -> None:
    """Check icons.

    Raises:
        ContentError: clients cannot show an icon.
    """
    if items is None:
        return
    if not isinstance(items, list | tuple) or isinstance(items, Icon):
        raise ContentError(f"icons: must be a list of Icon, not {type(items).__name__}")
    for item in items:
        if not isinstance(item, Icon):
            raise ContentError(f"icons: must be a list of Icon, not of {type(item).__name__}")
        if not re.match(r"(https?://|data:)[^\s]", str(item.src)):
            raise ContentError(f"icons: src must be an https:, http: or data: URI, not {_short(item.src)}")
        check_string(item.mime_type, "icons: mime_type", optional=True)
        if item.theme is not None and item.theme not in THEMES:
            raise ContentError(f"icons: theme must be {_choices(THEMES)}, not {item.theme!r}")
        sizes = item.sizes
        if sizes is not None and not (
            isinstance(sizes, list | tuple) and all(isinstance(size, str) and _SIZE.fullmatch(size) for size in sizes)
        ):
            raise ContentError(f'icons: sizes must be a list of "48x48" or "any", not {sizes!r}')


def check_contents(item: object, where: str = "resource") -> ResourceContents:
    """Validate the contents of a resource and return them as records.

    Raises:
        ContentError: a member is invalid.
    """
    if not isinstance(item, ResourceContents):
        raise ContentError(f"{where}: must be ResourceContents, not {type(item).__name__}")
    _uri(item.uri, f"{where}.uri")
    if not isinstance(item.content, str | bytes):
        raise ContentError(f"{where}.content: must be str or bytes, not {type(item.content).__name__}")
    check_string(item.mime_type, f"{where}.mime_type", optional=True)
    check_meta(item.meta, where)
    return item


def check_meta(meta: object, where: str = "the result") -> None:
    """Check the `_meta` of an item.

    Raises:
        ContentError: a key or a value is invalid.
    """
    if meta is not None and (complaint := meta_complaint(meta)):
        raise ContentError(f"the meta of {where}: {complaint}")


def _check_media(item: ImageContent | AudioContent) -> None:
    name = type(item).__name__
    if not re.fullmatch(r"[^\s/]+/\S.*", str(item.mime_type)):
        raise ContentError(f"{name}.mime_type: must be a media type such as image/png, not {item.mime_type!r}")
    if isinstance(item.data, str):
        _decoded(item.data, f"{name}.data")
    elif not isinstance(item.data, bytes):
        raise ContentError(f"{name}.data: must be bytes or a string in base64, not {type(item.data).__name__}")


def _check_link(item: ResourceLink) -> None:
    _uri(item.uri, "ResourceLink.uri")
    check_string(item.name, "ResourceLink.name")
    for member in ("title", "description", "mime_type"):
        check_string(getattr(item, member), f"ResourceLink.{member}", optional=True)
    check_size(item.size, "ResourceLink.size")
    check_icons(item.icons)


def check_size(size: object, where: str = "size") -> None:
    """Check the size of a resource.

    Raises:
        ContentError: the size is not a number of bytes.
    """
    if size is not None and (type(size) is not int or size < 0):
        raise ContentError(f"{where}: must be a number of bytes, not {size!r}")


_CHECKS: dict[type[Any], Callable[[Any], object]] = {
    TextContent: lambda item: check_string(item.text, "TextContent.text"),
    ImageContent: _check_media,
    AudioContent: _check_media,
    EmbeddedResource: lambda item: check_contents(item.resource, "EmbeddedResource.resource"),
    ResourceLink: _check_link,
}


def _choices(names: Sequence[str]) -> str:
    return " or ".join(repr(name) for name in names)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def check_string(value: object, where: str, *, optional: bool = False) -> None:
    """Check a string.

    Raises:
        ContentError: the value is not a string.
    """
    if not isinstance(value, str) and not (optional and value is None):
        raise ContentError(f"{where}: must be a string, not {type(value).__name__}")


def _uri(value: object, where: str) -> None:
    if not isinstance(value, str) or not _URI.fullmatch(value):
        raise ContentError(f"{where}: must be an absolute URI (RFC 3986), not {_short(value)}")


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, datetime) or (isinstance(value, str) and bool(datetime.fromisoformat(value)))
    except ValueError:
        return False


def _decoded(text: str, where: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ContentError(f"{where}: must be base64 (RFC 4648 section 4)") from None


# --- MCP's own objects


def of_object(item: Mapping[str, Any]) -> Content:
    """Convert an MCP ContentBlock object to a record.

    Raises:
        ContentError: the object is not a ContentBlock, or a member is unknown.
    """
    reads = _OBJECTS.get(str(item.get("type")))
    if reads is None:
        raise ContentError(f"unknown content type {item.get('type')!r}: use {', '.join(map(repr, _OBJECTS))}")
    make, required, optional = reads
    fields = members(item, f"content of type {item['type']!r}", {"type": "type"} | required, optional | _ABOUT)
    fields.pop("type")
    return checked(make(**fields))


def is_block(item: object) -> bool:
    """Return True if an item is a content record, or an object with the type of an MCP ContentBlock."""
    if type(item) is dict:
        return isinstance(item.get("type"), str) and item["type"] in _OBJECTS
    return type(item) in _CHECKS


def members(item: object, what: str, required: Mapping[str, str], optional: Mapping[str, str]) -> dict[str, Any]:
    """Rename the members of an object to the field names of a record.

    Raises:
        ContentError: a member is missing or unknown.
    """
    if not isinstance(item, Mapping):
        raise ContentError(f"{what}: must be an object, not {type(item).__name__}")
    if missing := [name for name in required if name not in item]:
        raise ContentError(f"{what} lacks {', '.join(missing)}")
    if unknown := [name for name in item if name not in required and name not in optional]:
        raise ContentError(f"{what} has no member {unknown[0]!r}")
    names = {**required, **optional}
    return {names[name]: _READ[name](value) if name in _READ else value for name, value in item.items()}


def _annotations(item: object) -> Annotations:
    optional = {"audience": "audience", "priority": "priority", "lastModified": "last_modified"}
    return Annotations(**members(item, "annotations", {}, optional))


def _icons(items: object) -> tuple[Icon, ...]:
    if not isinstance(items, list | tuple):
        raise ContentError(f"icons: must be a list, not {type(items).__name__}")
    optional = {"mimeType": "mime_type", "sizes": "sizes", "theme": "theme"}
    return tuple(Icon(**members(item, "icons", {"src": "src"}, optional)) for item in items)


def contents_of_object(item: object) -> ResourceContents:
    """Convert a `ResourceContents` object of MCP to a record.

    Raises:
        ContentError: the object is not ResourceContents.
    """
    optional = {"mimeType": "mime_type", "text": "text", "blob": "blob", "_meta": "meta"}
    fields = members(item, "resource", {"uri": "uri"}, optional)
    text, blob = fields.pop("text", None), fields.pop("blob", None)
    if (text is None) == (blob is None):
        raise ContentError("resource: must have either text or blob")
    if text is None and not isinstance(blob, str):
        raise ContentError(f"resource.blob: must be a string in base64, not {type(blob).__name__}")
    return check_contents(ResourceContents(content=_decoded(blob, "resource.blob") if text is None else text, **fields))


_ABOUT = {"annotations": "annotations", "_meta": "meta"}
_READ: dict[str, Callable[[Any], Any]] = {"annotations": _annotations, "icons": _icons, "resource": contents_of_object}
_MEDIA = {"data": "data", "mimeType": "mime_type"}
_LINK = {"title": "title", "description": "description", "mimeType": "mime_type", "size": "size", "icons": "icons"}
_OBJECTS: dict[str, tuple[Callable[..., Content], dict[str, str], dict[str, str]]] = {
    "text": (TextContent, {"text": "text"}, {}),
    "image": (ImageContent, _MEDIA, {}),
    "audio": (AudioContent, _MEDIA, {}),
    "resource": (EmbeddedResource, {"resource": "resource"}, {}),
    "resource_link": (ResourceLink, {"uri": "uri", "name": "name"}, _LINK),
}
