"""Challenges, the form of tokens and scopes (RFC 6750), and the strength of secrets."""

from __future__ import annotations

import pytest

from pegboard.types import Response
from pegboard_plugins.support.bearer import BearerScheme, checked_scopes, is_bearer_token, is_scope
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret

METADATA = {"resource_metadata": "https://a.example/m"}


def test_a_challenge_has_no_characters_that_would_break_it() -> None:
    refusal = BearerScheme().invalid('a"b\\c\r\n\x1fSet-Cookie: ~d\u00e9\x7f')
    challenge = refusal.headers["WWW-Authenticate"]
    assert challenge == 'Bearer error="invalid_token", error_description="abcSet-Cookie: ~d"'


def test_a_challenge_has_the_error_first() -> None:
    scheme = BearerScheme({**METADATA, "scope": "usual"})
    refusal = scheme.insufficient(["a", "b"], "more")
    assert (scheme.invalid("old").status, refusal.status, refusal.body) == (401, 403, b"more\n")
    assert refusal.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", error_description="more", resource_metadata="https://a.example/m", '
        'scope="a b"'
    )


def test_the_refusal_of_another_authenticator_is_completed() -> None:
    scheme = BearerScheme(METADATA)
    completed = scheme.complete(BearerScheme().insufficient(["a"], "more"))
    assert completed.headers["WWW-Authenticate"] == (
        'Bearer error="insufficient_scope", error_description="more", scope="a", '
        'resource_metadata="https://a.example/m"'
    )
    bare = scheme.complete(BearerScheme().refusal(401))
    assert bare.headers["WWW-Authenticate"] == 'Bearer resource_metadata="https://a.example/m"'
    for other in (Response(403), Response(403, headers={"WWW-Authenticate": "Basic"}), completed):
        assert scheme.complete(other) is other


def test_the_scopes_of_a_setting_are_listed_separately() -> None:
    assert checked_scopes(("work", "files:read")) == ("work", "files:read")
    with pytest.raises(ValueError, match="invalid scope 'a b'"):
        checked_scopes(("work", "a b"))


def test_a_short_or_uniform_secret_is_weak() -> None:
    assert SECRET_BYTES == 32
    for secret in ("01234567" * 4, "äöüßéèêë" * 2, "\ud800123456789" * 3):
        assert is_weak_secret(secret) is False
    for secret in ("", ("01234567" * 4)[:-1], "0123456" * 40):
        assert is_weak_secret(secret) is True


def test_a_scope_and_a_token_have_only_the_characters_of_their_grammar() -> None:
    for scope in ("a", "work:read", "!#[]~", "https://a.example/scope"):
        assert is_scope(scope) is True
    for wrong in ("", "a b", 'a"', "a\\b", "a\x7f", "\u00e9", None, 5, ["a"]):
        assert is_scope(wrong) is False
    fits = {"aZ09-._~+/==": True, "": False, "=a": False, "a b": False, "\u00e4": False}
    assert {text: is_bearer_token(text) for text in fits} == fits
