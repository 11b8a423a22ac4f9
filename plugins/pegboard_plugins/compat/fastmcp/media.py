"""`Image`, `Audio` and `File`: media of a tool's result, from a path or from bytes."""

from __future__ import annotations

import mimetypes
import os.path
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pegboard import AudioContent, Content, EmbeddedResource, ImageContent, ResourceContents


class Media(ABC):
    """Bytes with a media type.

    Args:
        path: the file. Exactly one of `path` and `data` is required.
        data: the bytes.
        format: the subtype, such as "png". By default it follows from the file name.
    """

    _main_type: ClassVar[str]
    _default_type: ClassVar[str]
    _types: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        path: str | Path | None = None,
        data: bytes | None = None,
        format: str | None = None,
        **_: Any,
    ) -> None:
        if (path is None) == (data is None):
            raise ValueError("either path or data is required: pass one of them")
        self.path = None if path is None else Path(os.path.expandvars(path)).expanduser()
        self.data = data
        self._format = format

    @property
    def mime_type(self) -> str:
        """The media type."""
        if self._format:
            subtype = self._format.lower()
            return self._types.get(subtype, f"{self._main_type}/{subtype}")
        if self.path is None:
            return self._default_type
        suffix = self.path.suffix.lower().lstrip(".")
        return self._types.get(suffix) or mimetypes.guess_type(self.path)[0] or "application/octet-stream"

    def read(self) -> bytes:
        """Return the bytes."""
        return self.path.read_bytes() if self.path is not None else self.data or b""

    @abstractmethod
    def content(self) -> Content:
        """Return the content block."""


class Image(Media):
    """An image."""

    _main_type = "image"
    _default_type = "image/png"
    _types: ClassVar = {"jpg": "image/jpeg", "svg": "image/svg+xml", "tif": "image/tiff", "webp": "image/webp"}

    def content(self) -> ImageContent:
        """Return the image as a content block."""
        return ImageContent(self.read(), self.mime_type)

    to_image_content = content

    def to_data_uri(self) -> str:
        """Return the image as a `data:` URI."""
        return f"data:{self.mime_type};base64,{b64encode(self.read()).decode()}"


class Audio(Media):
    """Audio."""

    _main_type = "audio"
    _default_type = "audio/wav"
    _types: ClassVar = {
        "wav": "audio/wav",
        "mp3": "audio/mpeg",
        "m4a": "audio/mp4",
        "ogg": "audio/ogg",
        "opus": "audio/ogg",
        "flac": "audio/flac",
        "aac": "audio/aac",
        "aif": "audio/aiff",
        "aiff": "audio/aiff",
    }

    def content(self) -> AudioContent:
        """Return the audio as a content block."""
        return AudioContent(self.read(), self.mime_type)

    to_audio_content = content


class File(Media):
    """A file.

    Args:
        path: the file. Exactly one of `path` and `data` is required.
        data: the bytes.
        format: the subtype, such as "pdf". By default it follows from the file name.
        name: the name of the file, for its URI.
    """

    _main_type = "application"
    _default_type = "application/octet-stream"
    _types: ClassVar = {
        "plain": "text/plain",
        "txt": "text/plain",
        "text": "text/plain",
        "csv": "text/csv",
        "htm": "text/html",
        "html": "text/html",
        "md": "text/markdown",
        "markdown": "text/markdown",
    }

    def __init__(
        self,
        path: str | Path | None = None,
        data: bytes | None = None,
        format: str | None = None,
        name: str | None = None,
        **_: Any,
    ) -> None:
        super().__init__(path, data, format)
        self._name = name

    def content(self) -> EmbeddedResource:
        """Return the file as an embedded resource. Text is decoded."""
        raw, mime_type = self.read(), self.mime_type
        uri = self.path.resolve().as_uri() if self.path else f"file:///{self._name or 'resource'}"
        is_text = mime_type.startswith("text/")
        return EmbeddedResource(
            ResourceContents(uri, raw.decode(errors="replace") if is_text else raw, mime_type=mime_type)
        )

    to_resource_content = content
