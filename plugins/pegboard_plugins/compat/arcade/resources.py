"""Resources: handlers as functions of pegboard, and resources that a toolkit declares with `@resource`."""

from __future__ import annotations

import inspect
import re
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pegboard import Annotations, NotFoundError, ResourceContents
from pegboard.plugin import ResourceDefinition
from pegboard_plugins.compat.adapting import called, signed
from pegboard_plugins.compat.fastmcp.apps import resource_ui
from pegboard_plugins.compat.fastmcp.options import snake_case
from pegboard_plugins.compat.fastmcp.types import plain

UI_MIME_TYPE = "text/html;profile=mcp-app"
_VARIABLE = re.compile(r"\{(\w+)(\*?)\}")


def resource_definition(
    uri: str,
    handler: Callable[..., Any] | None,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    annotations: Any = None,
    meta: Mapping[str, Any] | None = None,
) -> ResourceDefinition:
    """Return a resource, or a template if the URI has variables.

    Args:
        uri: the URI. `{path*}` is a variable that may contain slashes.
        handler: a function of the URI and the variables; None for an empty text.
        name: its name; the URI when None.
        title: a name for people.
        description: the description for the model.
        mime_type: the media type.
        annotations: its audience and priority.
        meta: its `_meta`. The member "ui" describes the frame of an interface (MCP Apps).
    """
    if mime_type is None and uri.startswith("ui://"):
        mime_type = UI_MIME_TYPE
    kept = dict(meta or {})
    frame = kept.pop("ui", None)
    return ResourceDefinition(
        _VARIABLE.sub(lambda match: f"{{{'+' if match[2] else ''}{match[1]}}}", uri),
        _reader(uri, handler or (lambda uri, **_: ""), mime_type, kept or None),
        name=name or uri,
        title=title,
        description=description,
        mime_type=mime_type,
        annotations=None if annotations is None else Annotations(**snake_case(plain(annotations))),
        meta=kept or None,
        extensions={} if frame is None else {"ui": resource_ui(frame)},
    )


def _reader(
    template: str, handler: Callable[..., Any], mime_type: str | None, meta: Mapping[str, Any] | None
) -> Callable[..., Any]:
    """Return a resource function that calls the handler with the URI."""

    async def read(**values: str) -> Any:
        uri = _VARIABLE.sub(lambda match: quote(values[match[1]], safe="/" if match[2] else ""), template)
        return _contents(await called(handler, uri, **values), uri, mime_type, meta)

    names = [groups[0] for groups in _VARIABLE.findall(template)]
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=str) for name in names]
    return signed(read, inspect.Signature(parameters))


def _contents(value: Any, uri: str, mime_type: str | None, meta: Mapping[str, Any] | None) -> Any:
    """Return the result of a handler as contents of pegboard."""
    if isinstance(value, list):
        return [_part(plain(item)) for item in value]
    if isinstance(value, Mapping):
        value = b64decode(value["blob"]) if "blob" in value else value.get("text", "")
    return ResourceContents(uri, value if isinstance(value, str | bytes) else str(value), mime_type, meta)


def _part(part: Mapping[str, Any]) -> ResourceContents:
    content = b64decode(part["blob"]) if "blob" in part else part.get("text", "")
    return ResourceContents(part["uri"], content, part.get("mimeType"), part.get("_meta"))


def file_handler(path: str | Path) -> Callable[[str], str | bytes]:
    """Return a handler that reads a file: text if it is UTF-8, else bytes.

    Args:
        path: the file.
    """
    file = Path(path)

    def read(uri: str) -> str | bytes:
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            raise NotFoundError("Resource not found", data={"uri": uri}) from None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    return read


# --- resources that a toolkit declares


@dataclass(frozen=True)
class ResourceDeclaration:
    """A resource that a toolkit declares. Its URI contains the name and version of the app that serves it.

    Attributes:
        path: the last part of the URI.
        name: its name.
        scheme: the scheme of the URI.
        title: a name for people.
        description: the description for the model.
        mime_type: the media type.
        file: the file with the content.
        function: returns the content, if there is no file.
        meta: its `_meta`.
    """

    path: str
    name: str
    scheme: str = "ui"
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    file: Path | None = None
    function: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    meta: Mapping[str, Any] | None = field(default=None, compare=False)

    def __call__(self) -> Any:
        """Return the content."""
        if self.file is None:
            return self.function() if self.function else ""
        return file_handler(self.file)(self.path)

    def definition(self, toolkit: str, version: str) -> ResourceDefinition:
        """Return the resource as an app serves it. The content is read once."""
        uri = f"{self.scheme.rstrip(':/')}://{toolkit}/{version}/{quote(self.path.strip('/'))}"
        content = self()
        return resource_definition(
            uri,
            lambda _: content,
            name=self.name,
            title=self.title,
            description=self.description,
            mime_type=self.mime_type,
            meta=self.meta,
        )


def resource(
    path: str | None = None,
    *,
    file: str | None = None,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    meta: Mapping[str, Any] | None = None,
    scheme: str = "ui",
) -> Callable[[Callable[..., Any]], ResourceDeclaration]:
    """Declare a resource of a toolkit, for the option `ui` of tools and for `MCPApp.add_tools_from_module`.

    Args:
        path: the last part of its URI; the name of the file when None.
        file: a file beside the module with its content. If None, the decorated function returns the content.
        name: its name; the function's name when None.
        title: a name for people.
        description: the description for the model; the docstring when None.
        mime_type: the media type.
        meta: its `_meta`.
        scheme: the scheme of its URI.

    Raises:
        TypeError: neither a path nor a file is given, or the function is async.
    """
    if path is None and file is None:
        raise TypeError('a resource has a path or a file: write @resource(file="page.html")')

    def declare(function: Callable[..., Any]) -> ResourceDeclaration:
        if inspect.iscoroutinefunction(function):
            raise TypeError(
                f"the resource {function.__name__!r} is async: its content is read once, by a sync function"
            )
        folder = Path(inspect.getsourcefile(function) or sys.argv[0]).parent
        return ResourceDeclaration(
            path=path or Path(file or "").name,
            name=name or function.__name__,
            scheme=scheme,
            title=title,
            description=description or inspect.getdoc(function),
            mime_type=mime_type,
            file=None if file is None else folder / file,
            function=function,
            meta=meta,
        )

    return declare
