"""The classification and behaviour of a tool, for searches and policies (`@kit.tool(metadata=...)`)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple


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
