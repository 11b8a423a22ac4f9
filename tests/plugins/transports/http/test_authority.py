"""Who sends a request: its Host and Origin, its address behind proxies, and the log of refused tokens."""

from __future__ import annotations

import logging
import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from pegboard.types import Response, header_fields
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.transports.http.access_log import log_refused_token
from pegboard_plugins.transports.http.authority import Authority, WebOrigin, parse_authority, parse_origin
from pegboard_plugins.transports.http.request_guard import RequestGuard
from pegboard_plugins.transports.http.settings import HttpConfig

LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
NAMES = st.builds(lambda labels, last: ".".join((*labels, last)), st.lists(LABELS, max_size=3), st.just("example"))
PORTS = st.integers(1, 65535)
WORDS = ["localhost", "127.0.0.1", "127.1", "0x7f", "[::1]", "::1", "evil.example", "80", "99999", "%25lo", "é", "٣"]
PIECES = st.sampled_from([*WORDS, *"[]:.@%/\\?#-_, \t\0\N{FULLWIDTH FULL STOP}"])
ODD = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=20))


def texts(authority: Authority) -> str:
    return authority.name if authority.port is None else f"{authority.name}:{authority.port}"


@given(NAMES | st.ip_addresses(), st.none() | PORTS)
def test_names_and_addresses_are_read(host: str | IPv4Address | IPv6Address, port: int | None) -> None:
    is_address = not isinstance(host, str)
    name = f"[{host}]" if isinstance(host, IPv6Address) else str(host)
    read = parse_authority(texts(Authority(name.upper(), port)))
    assert read == Authority(name, port, is_address=is_address)
    if not isinstance(host, str):
        assert read.is_loopback is (host.is_loopback and getattr(host, "ipv4_mapped", None) is None)


@given(ODD)
def test_a_host_is_parsed_as_other_parsers_do(text: str) -> None:
    """No part of a string is ignored or misread."""
    read = parse_authority(text)
    if read is None:
        return
    assert not set(text) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]")
    parts = urlsplit(f"http://{text}/")
    assert (parts.netloc, parts.path, parts.username, parts.port) == (text, "/", None, read.port)
    assert parts.hostname is not None
    if read.is_address:
        assert ip_address(parts.hostname) == ip_address(read.name.strip("[]"))
    else:
        assert parts.hostname == read.name
    if read.is_loopback:
        assert parts.hostname == "localhost" or ip_address(parts.hostname).is_loopback
    assert parse_authority(texts(read)) == read


@given(st.sampled_from(["http", "HTTPS", "app+x", "null", "", "1x"]), st.sampled_from(["://", ":/", ":", ""]), ODD)
def test_an_origin_is_a_scheme_and_an_authority(scheme: str, separator: str, text: str) -> None:
    text = f"{scheme}{separator}{text}"
    scheme, separator, rest = text.partition("://")
    authority = parse_authority(rest)
    if not separator or not re.fullmatch(r"[A-Za-z][\w+.-]*", scheme) or authority is None or text.endswith(":"):
        assert parse_origin(text) is None
    else:
        own = authority.port == {"http": 80, "https": 443}.get(scheme.lower())
        assert parse_origin(text) == WebOrigin(scheme.lower(), authority._replace(port=None) if own else authority)


def test_the_origins_of_a_variable_are_separated_by_commas() -> None:
    config = HttpConfig(cors_origins="https://a.example, https://b.example/")
    assert config.origins == {"https://a.example", "https://b.example"}


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "peer"),
    [
        ((), "10.0.0.1", ["1.2.3.4"], "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", [], "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
        (("10.0.0.0/8",), "11.0.0.1", ["1.2.3.4"], "11.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6, 1.2.3.4, 10.0.0.2"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6", "1.2.3.4"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (("::1",), "::1", ["2001:db8::7"], "2001:db8::7"),
        (("10.0.0.0/8",), None, ["1.2.3.4"], ""),
        (("10.0.0.0/8",), "10.0.0.1", ["nonsense"], "nonsense"),
        (("10.0.0.0/8",), "10.0.0.1", ["6.6.6.6, 1.2.3.4:5678, 10.0.0.2:80"], "1.2.3.4"),
        (("10.0.0.0/8",), "10.0.0.1", ["[2001:db8::7]:5678"], "2001:db8::7"),
    ],
)
def test_the_last_address_that_no_trusted_proxy_added(
    proxies: tuple[str, ...], remote: str | None, forwarded: list[str], peer: str
) -> None:
    guard = RequestGuard(HttpConfig(trusted_proxies=proxies), loopback=False)
    headers = CIMultiDict(("X-Forwarded-For", value) for value in forwarded)
    assert guard.peer(headers, remote) == peer


TOKEN = "Bearer wrong-token"
CASES: dict[str, tuple[Response, str]] = {
    "none": (BearerScheme().refusal(401), ""),
    "that allows too little": (BearerScheme().insufficient(["a"], "more"), TOKEN),
    "of an unavailable service": (Response(503), TOKEN),
    "in an invalid request": (Response(400), TOKEN),
}


@pytest.mark.parametrize(("refusal", "credentials"), CASES.values(), ids=CASES)
def test_a_request_without_an_invalid_token_is_not_logged(
    caplog: pytest.LogCaptureFixture, refusal: Response, credentials: str
) -> None:
    caplog.set_level(logging.INFO, "pegboard.audit")
    log_refused_token("/here", header_fields({"Authorization": credentials}), refusal, "10.0.0.1")
    assert caplog.records == []
