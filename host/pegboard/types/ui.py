"""The values of the option `ui`: interfaces that clients show in a frame. The plugin of the extension checks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple


class ToolUi(NamedTuple):
    """The interface of a tool.

    Attributes:
        resource_uri: the `ui://` resource that shows its results, None for a tool that only serves another's interface.
        visibility: whom clients offer the tool to; one without "model" is listed all the same, and clients hide it.
    """

    resource_uri: str | None = None
    visibility: Sequence[Literal["model", "app"]] = ("model", "app")


class ResourceUi(NamedTuple):
    """What an interface needs of the frame it is shown in; whatever is not named here is blocked there.

    Attributes:
        connect_domains: origins that it may make requests to, such as "https://api.example.com".
        resource_domains: origins of its scripts, styles, images, fonts and media; "https://*.example.com" will do.
        frame_domains: origins of frames within it.
        base_uri_domains: origins that its base URI may have.
        permissions: what of the device it asks for.
        domain: an origin of its own, in the form that the client prescribes.
        prefers_border: whether a border is drawn around it; the client decides when None.
    """

    connect_domains: Sequence[str] = ()
    resource_domains: Sequence[str] = ()
    frame_domains: Sequence[str] = ()
    base_uri_domains: Sequence[str] = ()
    permissions: Sequence[Literal["camera", "microphone", "geolocation", "clipboardWrite"]] = ()
    domain: str | None = None
    prefers_border: bool | None = None
