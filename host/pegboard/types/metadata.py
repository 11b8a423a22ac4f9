"""What kind of tool a tool is: for finding it, and for rules about whom it may serve (`@kit.tool(metadata=...)`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple


class ServiceDomain(StrEnum):
    """The kinds of services that are known by a name in common; any other name in snake case will do as well."""

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
    """What a tool does to the things of its service; OPAQUE where that depends on the arguments, as of a shell."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    OPAQUE = "opaque"


class Classification(NamedTuple):
    """What a tool works on.

    Attributes:
        service_domains: the kinds of service whose data it reaches, of `ServiceDomain` or named in snake case.
    """

    service_domains: Sequence[ServiceDomain | str] = ()


class Behavior(NamedTuple):
    """What a tool does. The hints for clients come from here, where `annotations` does not give them; None for unsaid.

    Attributes:
        operations: what it does to the things of its service.
        read_only: it changes nothing.
        destructive: what it changes may be lost for good.
        idempotent: calling it again with the same arguments changes nothing more.
        open_world: it reaches beyond this process.
    """

    operations: Sequence[Operation | str] = ()
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ToolMetadata(NamedTuple):
    """What kind of tool a tool is.

    Attributes:
        classification: what it works on.
        behavior: what it does.
        extras: whatever else rules of your own go by; plain JSON.
        strict: False lets contradictions pass, for a tool that reads and counts its readers all the same.
    """

    classification: Classification | None = None
    behavior: Behavior | None = None
    extras: Mapping[str, Any] | None = None
    strict: bool = True
