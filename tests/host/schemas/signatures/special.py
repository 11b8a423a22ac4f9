"""Signatures of types that JSON writes as text."""

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

from tests.host.schemas.signatures.table import absent, bad, lax, ok, picky, takes

ONE = "00000000-0000-0000-0000-000000000001"

CASES = [
    takes(
        datetime.date,
        {"format": "date", "type": "string"},
        ok("2026-07-28", "datetime.date(2026, 7, 28)"),
        lax(86400, "datetime.date(1970, 1, 2)"),
        picky("yesterday", "a: must be a date such as 2026-07-28"),
        picky("2026-07-28T10:00:00", "a: must be a date without a time"),
        bad(True, "a: must be a date such as 2026-07-28"),
    ),
    takes(
        datetime.datetime,
        {"format": "date-time", "type": "string"},
        ok("2026-07-28T10:30:00Z", "datetime.datetime(2026, 7, 28, 10, 30, tzinfo=TzInfo(0))"),
        ok("2026-07-28T10:30:00", "datetime.datetime(2026, 7, 28, 10, 30)"),
        lax(0, "datetime.datetime(1970, 1, 1, 0, 0, tzinfo=TzInfo(0))"),
        picky("soon", "a: must be a date and time such as 2026-07-28T10:30:00Z"),
    ),
    takes(
        datetime.time,
        {"format": "time", "type": "string"},
        ok("10:30:00", "datetime.time(10, 30)"),
        picky("noon", "a: must be a time such as 10:30:00"),
        bad(None, "a: must be a time such as 10:30:00"),
    ),
    takes(
        datetime.timedelta,
        {"format": "duration", "type": "string"},
        ok("P1DT2H", "datetime.timedelta(days=1, seconds=7200)"),
        ok("01:00:00", "datetime.timedelta(seconds=3600)"),
        lax(90, "datetime.timedelta(seconds=90)"),
        picky("long", "a: must be a duration such as P1DT2H30M (ISO 8601)"),
        bad(True, "a: must be a duration such as P1DT2H30M (ISO 8601)"),
    ),
    takes(
        AwareDatetime,
        {"format": "date-time", "type": "string"},
        ok("2026-07-28T10:30:00+02:00", "datetime.datetime(2026, 7, 28, 10, 30, tzinfo=TzInfo(7200))"),
        picky("2026-07-28T10:30:00", "a: must have an offset from UTC, such as Z or +02:00"),
        name="AwareDatetime",
    ),
    takes(
        NaiveDatetime,
        {"format": "date-time", "type": "string"},
        ok("2026-07-28T10:30:00", "datetime.datetime(2026, 7, 28, 10, 30)"),
        picky("2026-07-28T10:30:00Z", "a: must not have an offset from UTC"),
        name="NaiveDatetime",
    ),
    takes(
        PastDate,
        {"format": "date", "type": "string"},
        ok("2001-01-01", "datetime.date(2001, 1, 1)"),
        picky("9000-01-01", "a: must be in the past"),
        name="PastDate",
    ),
    takes(
        Annotated[datetime.date, Field(ge=datetime.date(2026, 1, 1))],
        {"format": "date", "type": "string"},
        ok("2026-01-01", "datetime.date(2026, 1, 1)"),
        picky("2025-12-31", "a: must be at least 2026-01-01"),
        name="limited date",
    ),
    takes(
        datetime.date,
        {"format": "date", "type": "string"},
        ok("2026-07-28", "datetime.date(2026, 7, 28)"),
        bad(0, "a: must be a date such as 2026-07-28"),
        strict=True,
        name="date, strict",
    ),
    takes(
        uuid.UUID,
        {"format": "uuid", "type": "string"},
        ok(ONE, "UUID('00000000-0000-0000-0000-000000000001')"),
        picky("canary", "a: must be a UUID such as 01234567-89ab-4def-8123-456789abcdef"),
        bad(1, "a: must be a UUID such as 01234567-89ab-4def-8123-456789abcdef"),
    ),
    takes(UUID4, {"format": "uuid4", "type": "string"}, picky(ONE, "a: must be a UUID of version 4"), name="UUID4"),
    takes(
        uuid.UUID,
        {"format": "uuid", "type": "string"},
        ok(ONE, "UUID('00000000-0000-0000-0000-000000000001')"),
        strict=True,
        name="UUID, strict",
    ),
    takes(
        decimal.Decimal,
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        ok("1.50", "Decimal('1.50')"),
        ok(2, "Decimal('2')"),
        ok(1.1, "Decimal('1.1')"),
        picky("x", "a: must be a decimal number"),
        picky("NaN", "a: must be a finite number"),
        bad(True, "a: must be a decimal number"),
    ),
    takes(
        Annotated[decimal.Decimal, Field(max_digits=3, decimal_places=1, ge=0)],
        {"anyOf": [{"minimum": 0.0, "type": "number"}, {"type": "string"}]},
        ok("12.5", "Decimal('12.5')"),
        picky("1.25", "a: must have at most 1 digit after the point"),
        picky("1234", "a: must have at most 3 digits"),
        picky("-1", "a: must be at least 0"),
        name="limited Decimal",
    ),
    takes(
        fractions.Fraction,
        {"anyOf": [{"type": "number"}, {"format": "fraction", "type": "string"}]},
        ok("3/4", "Fraction(3, 4)"),
        ok(2, "Fraction(2, 1)"),
        picky("x", "a: must be a fraction such as 3/4"),
    ),
    takes(
        complex,
        {"type": "string"},
        ok("1+2j", "(1+2j)"),
        lax(3, "(3+0j)"),
        picky("x", "a: must be a complex number such as 1+2j"),
        bad(True, "a: must be a complex number such as 1+2j"),
    ),
    takes(
        bytes,
        {"format": "binary", "type": "string"},
        ok("abc", "b'abc'"),
        ok("\u00e9", "b'\\xc3\\xa9'"),
        bad(1, "a: must be a string"),
    ),
    takes(
        Base64Bytes,
        {"format": "base64", "type": "string"},
        ok("AP8=", "b'\\x00\\xff'"),
        picky("A", "a: must be Base64"),
        name="Base64Bytes",
    ),
    takes(
        pathlib.Path, {"format": "path", "type": "string"}, ok("a/b", "PosixPath('a/b')"), bad(1, "a: must be a path")
    ),
    takes(
        pathlib.PurePosixPath,
        {"format": "path", "type": "string"},
        ok("/a", "PurePosixPath('/a')"),
        bad(None, "a: must be a path"),
    ),
    takes(
        AnyUrl,
        {"format": "uri", "minLength": 1, "type": "string"},
        ok("https://example.com/a", "AnyUrl('https://example.com/a')"),
        picky("canary", "a: must be a URL such as https://example.com/path"),
        bad(1, "a: must be a URL such as https://example.com/path"),
        name="AnyUrl",
    ),
    takes(
        HttpUrl,
        {"format": "uri", "maxLength": 2083, "minLength": 1, "type": "string"},
        ok("https://example.com/", "HttpUrl('https://example.com/')"),
        picky("ftp://example.com", "a: must be a URL that begins with 'http' or 'https'"),
        name="HttpUrl",
    ),
    takes(
        AnyHttpUrl,
        {"format": "uri", "minLength": 1, "type": "string"},
        ok("http://example.com/", "AnyHttpUrl('http://example.com/')"),
        picky("file:///etc", "a: must be a URL that begins with 'http' or 'https'"),
        name="AnyHttpUrl",
    ),
    takes(
        ipaddress.IPv4Address,
        {"format": "ipv4", "type": "string"},
        ok("192.0.2.1", "IPv4Address('192.0.2.1')"),
        picky("canary", "a: must be an IPv4 address such as 192.0.2.1"),
    ),
    takes(
        ipaddress.IPv6Address,
        {"format": "ipv6", "type": "string"},
        ok("2001:db8::1", "IPv6Address('2001:db8::1')"),
        picky("192.0.2.1", "a: must be an IPv6 address such as 2001:db8::1"),
    ),
    takes(
        ipaddress.IPv4Network,
        {"format": "ipv4network", "type": "string"},
        ok("192.0.2.0/24", "IPv4Network('192.0.2.0/24')"),
        picky("192.0.2.1/24", "a: must be an IPv4 network such as 192.0.2.0/24"),
    ),
    takes(
        IPvAnyAddress,
        {"format": "ipvanyaddress", "type": "string"},
        ok("192.0.2.1", "IPv4Address('192.0.2.1')"),
        picky("x", "a: must be an IPv4 or IPv6 address"),
        name="IPvAnyAddress",
    ),
    takes(
        re.Pattern[str],
        {"format": "regex", "type": "string"},
        ok("^a+$", "re.compile('^a+$')"),
        picky("a(", "a: must be a regular expression"),
        bad(1, "a: must be a regular expression"),
        name="Pattern",
    ),
    takes(
        zoneinfo.ZoneInfo,
        {"format": "zoneinfo", "type": "string"},
        ok("UTC", "zoneinfo.ZoneInfo(key='UTC')"),
        picky("canary", "a: must be the name of a time zone such as Europe/Lisbon"),
    ),
    takes(
        SecretStr,
        {"format": "password", "type": "string", "writeOnly": True},
        ok("x", "SecretStr('**********')"),
        bad(1, "a: must be a string"),
        name="SecretStr",
    ),
    takes(
        ByteSize,
        {"anyOf": [{"pattern": "^\\s*(\\d*\\.?\\d+)\\s*(\\w+)?", "type": "string"}, {"minimum": 0, "type": "integer"}]},
        ok(1024, "1024"),
        ok("1KiB", "1024"),
        bad("canary", "a: must be a size such as 10MB"),
        name="ByteSize",
    ),
    takes(
        datetime.date,
        {"default": "2026-07-28", "format": "date", "type": "string"},
        absent("datetime.date(2026, 7, 28)"),
        name="date by default",
        default=datetime.date(2026, 7, 28),
    ),
    takes(
        decimal.Decimal,
        {"anyOf": [{"type": "number"}, {"type": "string"}], "default": "1.5"},
        absent("Decimal('1.5')"),
        name="Decimal by default",
        default=decimal.Decimal("1.5"),
    ),
    takes(float, {"type": "number"}, absent("inf"), name="infinity by default", default=float("inf")),
    takes(
        Annotated[float, Field(description="at most")],
        {"description": "at most", "type": "number"},
        absent("inf"),
        name="infinity by default, told",
        default=float("inf"),
    ),
    takes(
        pathlib.Path | None,
        {"anyOf": [{"format": "path", "type": "string"}, {"type": "null"}]},
        ok(None, "None"),
        ok("a", "PosixPath('a')"),
    ),
    takes(
        list[datetime.date],
        {"items": {"format": "date", "type": "string"}, "type": "array"},
        ok(["2026-07-28"], "[datetime.date(2026, 7, 28)]"),
        picky(["2026-07-28", "x"], "a.1: must be a date such as 2026-07-28"),
    ),
    takes(
        dict[uuid.UUID, decimal.Decimal],
        {
            "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "propertyNames": {"format": "uuid"},
            "type": "object",
        },
        ok({ONE: "1.5"}, "{UUID('00000000-0000-0000-0000-000000000001'): Decimal('1.5')}"),
        picky({"x": 1}, "a.x: the name must be a UUID such as 01234567-89ab-4def-8123-456789abcdef"),
    ),
]
