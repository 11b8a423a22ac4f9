"""The judge of the other tests rejects requests and responses that do not match GitHub's description."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import pytest

from toolkits.github.tests.openapi import cut
from toolkits.github.tests.support.description import (
    FILE,
    Mismatch,
    check_request,
    check_response,
    description,
    operations,
)
from toolkits.github.tests.support.examples import example

HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": f"toolkit-github/{version('toolkit-github')}",
    "Content-Type": "application/json",
}
ISSUES = "/repos/octocat/Hello-World/issues"


@pytest.mark.parametrize(
    ("method", "target", "body", "reason"),
    [
        ("GET", "/repos/octocat/Hello-World/isues", None, "no operation"),
        ("GET", "/repos/o/r/contents/../../user", None, "leaves its place"),
        ("GET", "/repos/o/r/commits/a%2F..%2Fb", None, "leaves its place"),
        ("GET", ISSUES + "?state=closd", None, "is not one of"),
        ("GET", ISSUES + "?color=red", None, "does not accept the query parameter color"),
        ("GET", "/search/code", None, "requires the query parameter q"),
        ("POST", ISSUES, {"body": "x"}, "'title' is a required property"),
        ("POST", ISSUES, {"title": "x", "colour": "red"}, "unknown members colour"),
    ],
)
def test_an_invalid_request_is_rejected(method: str, target: str, body: Any, reason: str) -> None:
    with pytest.raises(Mismatch, match=reason):
        check_request(method, target, HEADERS, b"" if body is None else json.dumps(body).encode())


@pytest.mark.parametrize("change", [{"X-GitHub-Api-Version": "1"}, {"Accept": "text/html"}, {"Cookie": "a=b"}])
def test_invalid_headers_are_rejected(change: dict[str, str]) -> None:
    with pytest.raises(Mismatch):
        check_request("POST", ISSUES, {**HEADERS, **change}, b'{"title": "x"}')


@pytest.mark.parametrize(
    ("status", "change", "reason"),
    [
        (200, {"number": "5"}, "is not of type 'integer'"),
        (200, {"labels": None}, "is not of type 'array'"),
        (200, {"created_at": "now"}, "is not a 'date-time'"),
        (200, {"html_url": "a b"}, "is not a 'uri'"),
        (204, {}, "has no response 204"),
        (304, {}, "has no body"),
    ],
)
def test_an_invalid_response_is_rejected(status: int, change: dict[str, Any], reason: str) -> None:
    body = json.dumps({**example("issues/get"), **change}).encode()
    with pytest.raises(Mismatch, match=reason):
        check_response(operations()["issues/get"], status, {}, body)


def test_the_description_is_unchanged_since_it_was_cut() -> None:
    again = cut.cut(description(), set(operations()))
    assert cut.text({**again, "info": description()["info"]}) == FILE.read_text(encoding="utf-8")
    assert (FILE.parent / "LICENSE").read_text().startswith("MIT License Copyright (c) 2020 Octokit contributors")
