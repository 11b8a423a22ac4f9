"""The `Authorization` header, and challenges (RFC 6750)."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.plugin import SECRET_BYTES, BearerScheme, checked_scopes, is_bearer_token, is_scope, is_weak_secret
from pegboard.types import Request, Response

METADATA = {"resource_metadata": "https://a.example/m"}


class Fields(list[tuple[str, str]]):
    """Header fields, in order."""

    def get(self, key: str) -> str | None:
        return next(iter(self.getall(key, ())), None)

    def getall(self, key: str, default: Any) -> Any:
        return [value for name, value in self if name == key] or default


def asked(*values: str, **query: str) -> Request:
    return Request("GET", "/mcp", query, Fields(("Authorization", value) for value in values))


@pytest.mark.parametrize("value", ["Bearer t", "bearer  t ", " BEARER t"])
def test_a_token_is_read(value: str) -> None:
    assert BearerScheme().token(asked(value)) == "t"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (asked(), 401),
        (asked(""), 401),
        (asked("Bearer"), 401),
        (asked("Basic x"), 401),
        (asked("Bearer\tx"), 401),
        (asked("Bearer a", "Bearer a"), 400),
        (asked("Bearer a", access_token="a"), 400),
        (asked(access_token=""), 400),
    ],
)
def test_a_request_without_one_is_refused(request_: Request, status: int) -> None:
    refusal = BearerScheme(METADATA).token(request_)
    assert isinstance(refusal, Response)
    assert refusal.status == status
    challenge = refusal.headers["WWW-Authenticate"]
    assert challenge.endswith('resource_metadata="https://a.example/m"')
    assert ('Bearer error="invalid_request", error_description="' in challenge) is (status == 400)
    assert ("error" in challenge) is (status == 400)
    assert refusal.content_type == "text/plain"


def test_a_challenge_says_first_what_is_wrong() -> None:
    scheme = BearerScheme({**METADATA, "scope": "usual"})
    refusal = scheme.invalid("old")
    assert (refusal.status, refusal.body) == (401, b"old\n")
    assert refusal.headers["WWW-Authenticate"] == (
        'Bearer error="invalid_token", error_description="old", resource_metadata="https://a.example/m", scope="usual"'
    )
    refusal = scheme.insufficient(["a", "b"], "more")
    assert refusal.status == 403
    assert refusal.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", error_description="more", resource_metadata="https://a.example/m", '
        'scope="a b"'
    )


def test_a_challenge_holds_nothing_that_would_break_it() -> None:
    refusal = BearerScheme().invalid('a"b\\c\r\n\x1fSet-Cookie: ~d\u00e9\x7f')
    told = refusal.headers["WWW-Authenticate"]
    assert told == 'Bearer error="invalid_token", error_description="abcSet-Cookie: ~d"'


def test_a_refusal_of_somebody_else_is_completed() -> None:
    scheme = BearerScheme({**METADATA, "scope": "usual"})
    own = BearerScheme().insufficient(["a"], "more")
    assert scheme.complete(own).headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", error_description="more", scope="a", '
        'resource_metadata="https://a.example/m"'
    )
    assert scheme.complete(own).body == own.body
    assert scheme.complete(BearerScheme().refusal(401)).headers["WWW-Authenticate"] == (
        'Bearer resource_metadata="https://a.example/m", scope="usual"'
    )
    for other in (Response(403), Response(403, headers={"WWW-Authenticate": "Basic"}), scheme.complete(own)):
        assert scheme.complete(other) is other


@pytest.mark.parametrize(
    ("secret", "weak"),
    [
        ("0123456789abcdef" * 2, False),
        (("0123456789abcdef" * 2)[:-1], True),
        ("01234567" * 4, False),
        ("0123456" * 40, True),
        ("äöüßéèêë" * 2, False),
        ("", True),
        ("\ud800123456789" * 3, False),
    ],
)
def test_a_secret_is_weak_when_it_is_short_or_much_of_the_same(secret: str, *, weak: bool) -> None:
    assert is_weak_secret(secret) is weak
    assert SECRET_BYTES == 32


@pytest.mark.parametrize("given", ["a", "work:read", "!#[]~", "https://a.example/scope"])
def test_a_valid_scope_is_accepted(given: str) -> None:
    assert is_scope(given)


@pytest.mark.parametrize("given", ["", "a b", 'a"', "a\\b", "a\x7f", "\u00e9", None, 5, ["a"]])
def test_an_invalid_scope_is_rejected(given: object) -> None:
    assert is_scope(given) is False


def test_scopes_of_a_setting() -> None:
    assert checked_scopes(("work", "files:read")) == ("work", "files:read")
    with pytest.raises(ValueError, match="invalid scope 'a b'"):
        checked_scopes(("work", "a b"))


@pytest.mark.parametrize(
    ("text", "fits"), [("aZ09-._~+/==", True), ("", False), ("=a", False), ("a b", False), ("\u00e4", False)], ids=str
)
def test_a_token_must_fit_a_header(text: str, *, fits: bool) -> None:
    assert is_bearer_token(text) == fits
