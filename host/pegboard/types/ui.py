"""Values of the option `ui`: interfaces that clients show in a frame. The plugin `apps` checks the values."""

from collections.abc import Sequence
from typing import Literal, NamedTuple


class ToolUi(NamedTuple):
    """The interface of a tool.

    Attributes:
        resource_uri: the `ui://` resource that shows the tool's results; None for a tool that only serves the interface
            of another tool.
        visibility: the callers of the tool. If "model" is missing, the tool is listed, but clients hide it from the
            model.
    """

    resource_uri: str | None = None
    visibility: Sequence[Literal["model", "app"]] = ("model", "app")


class ResourceUi(NamedTuple):
    """The requirements of an interface for its frame. Clients block everything that is not listed here.

    Attributes:
        connect_domains: origins that the interface may send requests to, such as "https://api.example.com".
        resource_domains: origins of its scripts, styles, images, fonts and media. Wildcards such as
            `https://*.example.com` are allowed.
        frame_domains: origins of nested frames.
        base_uri_domains: origins that its base URI may have.
        permissions: features of the device that it requests.
        domain: a separate origin for the interface, in the form that the client prescribes.
        prefers_border: True for a border, False for none; the client decides when None.
    """

    connect_domains: Sequence[str] = ()
    resource_domains: Sequence[str] = ()
    frame_domains: Sequence[str] = ()
    base_uri_domains: Sequence[str] = ()
    permissions: Sequence[Literal["camera", "microphone", "geolocation", "clipboardWrite"]] = ()
    domain: str | None = None
    prefers_border: bool | None = None
