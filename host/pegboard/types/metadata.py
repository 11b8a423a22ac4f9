"""The options `metadata` and `ui` of tools: classification and behaviour for searches and policies, and interfaces."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple


class ServiceDomain(StrEnum):
    """Well-known kinds of services. Any other name in snake case is valid too."""

    BUSINESS_INTELLIGENCE = "business_intelligence"
    CALENDAR = "calendar"
    CLOUD_STORAGE = "cloud_storage"
    CODE_SANDBOX = "code_sandbox"
    CONTACTS = "contacts"
    CRM = "crm"
    CUSTOMER_SUPPORT = "customer_support"
    DESIGN = "design"
    DOCUMENTS = "documents"
    ECOMMERCE = "ecommerce"
    EMAIL = "email"
    FINANCIAL_DATA = "financial_data"
    GEOSPATIAL = "geospatial"
    INCIDENT_MANAGEMENT = "incident_management"
    MESSAGING = "messaging"
    MUSIC_STREAMING = "music_streaming"
    OBSERVABILITY = "observability"
    PAYMENTS = "payments"
    PRESENTATIONS = "presentations"
    PRODUCT_ANALYTICS = "product_analytics"
    PROJECT_MANAGEMENT = "project_management"
    SALES_INTELLIGENCE = "sales_intelligence"
    SOCIAL_MEDIA = "social_media"
    SOURCE_CODE = "source_code"
    SPREADSHEETS = "spreadsheets"
    SURVEY = "survey"
    TRAVEL = "travel"
    VIDEO_CONFERENCING = "video_conferencing"
    VIDEO_HOSTING = "video_hosting"
    WEB_SCRAPING = "web_scraping"


class Operation(StrEnum):
    """The effect of a tool on the objects of its service; OPAQUE if it depends on the arguments, as for a shell."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    OPAQUE = "opaque"


class Classification(NamedTuple):
    """The services that a tool uses.

    Attributes:
        service_domains: the kinds of service: members of `ServiceDomain` or other names in snake case.
    """

    service_domains: Sequence[ServiceDomain | str] = ()


class Behavior(NamedTuple):
    """The effects of a tool. An unknown effect is None. Effects supply the hints that `annotations` does not set.

    Attributes:
        operations: the effects on the objects of its service.
        read_only: it changes nothing.
        destructive: it may delete or overwrite data.
        idempotent: a second call with the same arguments changes nothing more.
        open_world: it reaches beyond this process.
    """

    operations: Sequence[Operation | str] = ()
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ToolMetadata(NamedTuple):
    """The classification and behaviour of a tool.

    Attributes:
        classification: the services that it uses.
        behavior: its effects.
        extras: further JSON values, for the author's own policies.
        strict: False to allow contradictions, such as a read-only tool that counts its calls.
    """

    classification: Classification | None = None
    behavior: Behavior | None = None
    extras: Mapping[str, Any] | None = None
    strict: bool = True


# --- Interfaces that clients show in a frame. The plugin `apps` checks the values.


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
