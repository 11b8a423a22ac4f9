"""Signatures of types that are strings in JSON."""

from __future__ import annotations

import datetime
import decimal
import fractions
import ipaddress
import pathlib
import re
import uuid
import zoneinfo
from typing import Annotated

from pydantic import (
    UUID4,
    AnyHttpUrl,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    ByteSize,
    Field,
    HttpUrl,
    IPvAnyAddress,
    NaiveDatetime,
    PastDate,
    SecretStr,
)

from tests.host.schemas.signatures.table import NONE, takes

ONE = "00000000-0000-0000-0000-000000000001"

CASES = [
    takes(datetime.date, "2026-07-28", 86400, "yesterday", "2026-07-28T10:00:00", True),
    takes(datetime.datetime, "2026-07-28T10:30:00Z", "2026-07-28T10:30:00", 0, "soon"),
    takes(datetime.time, "10:30:00", "noon", None),
    takes(datetime.timedelta, "P1DT2H", "01:00:00", 90, "long", True),
    takes(AwareDatetime, "2026-07-28T10:30:00+02:00", "2026-07-28T10:30:00", name="AwareDatetime"),
    takes(NaiveDatetime, "2026-07-28T10:30:00", "2026-07-28T10:30:00Z", name="NaiveDatetime"),
    takes(PastDate, "2001-01-01", "9000-01-01", name="PastDate"),
    takes(
        Annotated[datetime.date, Field(ge=datetime.date(2026, 1, 1))], "2026-01-01", "2025-12-31", name="limited date"
    ),
    takes(datetime.date, "2026-07-28", 0, strict=True, name="date, strict"),
    takes(uuid.UUID, ONE, "canary", 1),
    takes(UUID4, ONE, name="UUID4"),
    takes(uuid.UUID, ONE, strict=True, name="UUID, strict"),
    takes(decimal.Decimal, "1.50", 2, 1.1, "x", "NaN", True),
    takes(
        Annotated[decimal.Decimal, Field(max_digits=3, decimal_places=1, ge=0)],
        "12.5",
        "1.25",
        "1234",
        "-1",
        name="limited Decimal",
    ),
    takes(fractions.Fraction, "3/4", 2, "x"),
    takes(complex, "1+2j", 3, "x", True),
    takes(bytes, "abc", "\u00e9", 1),
    takes(Base64Bytes, "AP8=", "A", name="Base64Bytes"),
    takes(pathlib.Path, "a/b", 1),
    takes(pathlib.PurePosixPath, "/a", None),
    takes(AnyUrl, "https://example.com/a", "canary", 1, name="AnyUrl"),
    takes(HttpUrl, "https://example.com/", "ftp://example.com", name="HttpUrl"),
    takes(AnyHttpUrl, "http://example.com/", "file:///etc", name="AnyHttpUrl"),
    takes(ipaddress.IPv4Address, "192.0.2.1", "canary"),
    takes(ipaddress.IPv6Address, "2001:db8::1", "192.0.2.1"),
    takes(ipaddress.IPv4Network, "192.0.2.0/24", "192.0.2.1/24"),
    takes(IPvAnyAddress, "192.0.2.1", "x", name="IPvAnyAddress"),
    takes(re.Pattern[str], "^a+$", "a(", 1, name="Pattern"),
    takes(zoneinfo.ZoneInfo, "UTC", "canary"),
    takes(SecretStr, "x", 1, name="SecretStr"),
    takes(ByteSize, 1024, "1KiB", "canary", name="ByteSize"),
    takes(datetime.date, NONE, name="date by default", default=datetime.date(2026, 7, 28)),
    takes(decimal.Decimal, NONE, name="Decimal by default", default=decimal.Decimal("1.5")),
    takes(float, NONE, name="infinity by default", default=float("inf")),
    takes(Annotated[float, Field(description="at most")], NONE, name="infinity by default, told", default=float("inf")),
    takes(pathlib.Path | None, None, "a", name="Path | None"),
    takes(list[datetime.date], ["2026-07-28"], ["2026-07-28", "x"]),
    takes(dict[uuid.UUID, decimal.Decimal], {ONE: "1.5"}, {"x": 1}),
]
