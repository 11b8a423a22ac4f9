"""`Image`, `Audio` and `File` with the parameters of FastMCP. The media type follows from `format` or the file name."""

from __future__ import annotations

import mimetypes
import os.path
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegboard import Audio as HostAudio
from pegboard import AudioContent, EmbeddedResource, ImageContent
from pegboard import File as HostFile
from pegboard import Image as HostImage

MEDIA_TYPES = (HostImage, HostAudio, HostFile)

_IMAGE_TYPES = {"jpg": "image/jpeg", "svg": "image/svg+xml", "tif": "image/tiff", "webp": "image/webp"}
_AUDIO_TYPES = {
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
_FILE_TYPES = {
    "plain": "text/plain",
    "txt": "text/plain",
    "text": "text/plain",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "md": "text/markdown",
    "markdown": "text/markdown",
}


class Image(HostImage):
    """An image.

    Args:
        path: the file. Exactly one of `path` and `data` is required.
        data: the bytes.
        format: the subtype, such as "png". By default it follows from the file name.
    """

    def __init__(
        self, path: str | Path | None = None, data: bytes | None = None, format: str | None = None, **_: Any
    ) -> None:
        super().__init__(_expanded(path), data=data, mime_type=_type(path, format, "image", "image/png", _IMAGE_TYPES))

    def to_image_content(self) -> ImageContent:
        """Return the image as a content block."""
        return self.block(self.load())

    def to_data_uri(self) -> str:
        """Return the image as a `data:` URI."""
        return f"data:{self.mime_type};base64,{b64encode(self.load()).decode()}"


class Audio(HostAudio):
    """Audio, with the same parameters as `Image`."""

    def __init__(
        self, path: str | Path | None = None, data: bytes | None = None, format: str | None = None, **_: Any
    ) -> None:
        super().__init__(_expanded(path), data=data, mime_type=_type(path, format, "audio", "audio/wav", _AUDIO_TYPES))

    def to_audio_content(self) -> AudioContent:
        """Return the audio as a content block."""
        return self.block(self.load())


class File(HostFile):
    """A file, with the parameters of `Image` and `name`: the file name in the URI."""

    def __init__(
        self,
        path: str | Path | None = None,
        data: bytes | None = None,
        format: str | None = None,
        name: str | None = None,
        **_: Any,
    ) -> None:
        expanded = _expanded(path)
        super().__init__(
            expanded,
            data=data,
            mime_type=_type(path, format, "application", "application/octet-stream", _FILE_TYPES),
            uri=f"file:///{name or 'resource'}" if expanded is None else expanded.resolve().as_uri(),
        )

    def to_resource_content(self) -> EmbeddedResource:
        """Return the file as an embedded resource. Text is decoded."""
        return self.block(self.load())


def _expanded(path: str | Path | None) -> Path | None:
    return None if path is None else Path(os.path.expandvars(path)).expanduser()


def _type(path: str | Path | None, format: str | None, main_type: str, default: str, types: Mapping[str, str]) -> str:
    if format:
        return types.get(format.lower(), f"{main_type}/{format.lower()}")
    if path is None:
        return default
    suffix = Path(path).suffix.lower().lstrip(".")
    return types.get(suffix) or mimetypes.guess_type(str(path))[0] or "application/octet-stream"
