"""`Image`, `Audio` and `File`: content from a file or from bytes. This module is imported on first use.

The host calls `load` in a thread, after the function has returned (`calls/media_results.py`).
"""

from __future__ import annotations

import mimetypes
import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from pathlib import PurePath
from typing import Any, ClassVar
from urllib.parse import quote

from pegboard.content.rules import ContentError
from pegboard.types.calls import MEDIA_TYPES, ResourceContents
from pegboard.types.content import Annotations, AudioContent, Content, EmbeddedResource, ImageContent

_SUFFIXES = {
    ".aac": "audio/aac",
    ".avif": "image/avif",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".md": "text/markdown",
    ".mp3": "audio/mpeg",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".weba": "audio/webm",
    ".webp": "image/webp",
}
"""The media types that differ between machines or versions of Python."""

_MAGIC = {
    rb"\x89PNG\r\n\x1a\n": "image/png",
    rb"\xff\xd8\xff": "image/jpeg",
    rb"GIF8[79]a": "image/gif",
    rb".{8}WEBP": "image/webp",
    rb"BM.{4}\0{4}": "image/bmp",
    rb"II\*\0|MM\0\*": "image/tiff",
    rb".{4}ftypavif": "image/avif",
    rb".{4}ftypM4A ": "audio/mp4",
    rb".{8}WAVE": "audio/wav",
    rb"ID3[\x02-\x04]|\xff\xfb": "audio/mpeg",
    rb"OggS": "audio/ogg",
    rb"fLaC": "audio/flac",
    rb".{8}AIFF": "audio/aiff",
    rb"%PDF-": "application/pdf",
    rb"PK\x03\x04": "application/zip",
    rb"\x1f\x8b": "application/gzip",
}
"""The media types of files, by patterns of their first bytes."""

_TEXT_TYPE = re.compile(r"text/.*|application/(?:json|xml|(?:x-)?yaml|toml)|.*\+(?:json|xml|yaml)")


class MediaTooLarge(Exception):
    """A file or the bytes exceed a size limit.

    Args:
        size: the size in bytes.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Media(ABC):
    """A file, or bytes, as content.

    Args:
        path: the file. Either `path` or `data` is required.
        data: the bytes.
        mime_type: the media type. When None, it follows from the file's name, or from the first bytes.
        annotations: the audience and priority of the content.
        meta: the `_meta` of the content.

    Raises:
        ValueError: both or none of `path` and `data` are given.
    """

    main_type: ClassVar[str] = ""
    """The beginning of the media type, such as "image/"."""
    default_type: ClassVar[str | None] = None
    """The media type if neither the name nor the bytes tell it; None to refuse such content."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        MEDIA_TYPES.add(cls)

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        data: bytes | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        if (path is None) == (data is None):
            raise ValueError(f"{type(self).__name__} requires path or data, not both: pass one argument")
        self.path: str | None = None if path is None else os.fspath(path)
        self.data = data
        self.mime_type = mime_type
        self.annotations = annotations
        self.meta = meta

    def __repr__(self) -> str:
        source = f"{len(self.data or b'')} bytes" if self.path is None else repr(self.path)
        return f"<{type(self).__name__} {source}>"

    def load(self, limit: int | None = None) -> bytes:
        """Return the bytes. Read the file, if `path` names one.

        Args:
            limit: the largest accepted size in bytes; None for no limit. A larger file is not read.

        Raises:
            MediaTooLarge: the size exceeds the limit.
            OSError: the file cannot be read, or is not a regular file.
        """
        data = _content_of(self.path, limit) if self.path is not None else self.data or b""
        if limit is not None and len(data) > limit:
            raise MediaTooLarge(len(data))
        return data

    @abstractmethod
    def block(self, data: bytes) -> Content:
        """Return the content block.

        Args:
            data: the bytes, read from the file if `path` names one.

        Raises:
            ContentError: the media type does not fit, or is unknown.
        """

    def type_of(self, data: bytes) -> str:
        """Return the media type of the content.

        Raises:
            ContentError: it is unknown.
        """
        if self.mime_type is not None:
            return self.mime_type
        for mime_type in (_type_of_name(self.path), _type_of_bytes(data), self.default_type):
            if mime_type is not None and mime_type.startswith(self.main_type):
                return mime_type
        name = type(self).__name__
        raise ContentError(f"{name}: neither the name nor the bytes are of type {self.main_type}*; set mime_type")


class Image(Media):
    """An image from a file or from bytes. Clients receive an `ImageContent`."""

    main_type = "image/"

    def block(self, data: bytes) -> ImageContent:
        """Return the image as a content block."""
        return ImageContent(data, self.type_of(data), self.annotations, self.meta)


class Audio(Media):
    """Audio from a file or from bytes. Clients receive an `AudioContent`."""

    main_type = "audio/"

    def block(self, data: bytes) -> AudioContent:
        """Return the audio as a content block."""
        return AudioContent(data, self.type_of(data), self.annotations, self.meta)


class File(Media):
    """A file of any type. It becomes an `EmbeddedResource`: a string for text in UTF-8, else bytes.

    Args:
        uri: the URI of the resource. When None, `file:///` and the name of the file, without its directory.
    """

    default_type = "application/octet-stream"

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        data: bytes | None = None,
        mime_type: str | None = None,
        uri: str | None = None,
        annotations: Annotations | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, data=data, mime_type=mime_type, annotations=annotations, meta=meta)
        self.uri = uri

    def block(self, data: bytes) -> EmbeddedResource:
        """Return the file as a content block."""
        mime_type = self.type_of(data)
        text = _text_of(data) if _TEXT_TYPE.fullmatch(mime_type) else None
        uri = self.uri or f"file:///{quote(PurePath(self.path or 'file').name)}"
        return EmbeddedResource(
            ResourceContents(uri, data if text is None else text, mime_type), self.annotations, self.meta
        )


def _content_of(path: str, limit: int | None) -> bytes:
    with open(path, "rb", opener=_open) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path!r} is not a regular file")
        if limit is not None and status.st_size > limit:
            raise MediaTooLarge(status.st_size)
        return file.read(-1 if limit is None else limit + 1)  # the file may grow meanwhile


def _open(path: str, flags: int) -> int:
    # without O_NONBLOCK a pipe would block the thread
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _type_of_name(path: str | None) -> str | None:
    if path is None:
        return None
    name = PurePath(path).name
    return _SUFFIXES.get(PurePath(name).suffix.lower()) or mimetypes.guess_type(name)[0]


def _type_of_bytes(data: bytes) -> str | None:
    magic = next((kind for pattern, kind in _MAGIC.items() if re.match(pattern, data, re.DOTALL)), None)
    return magic or (None if _text_of(data) is None else "text/plain")


def _text_of(data: bytes) -> str | None:
    """Return data as text; None if it is not UTF-8 or has NUL."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
