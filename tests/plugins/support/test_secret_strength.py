"""The form of tokens and scopes, and the strength of secrets."""

from __future__ import annotations

from pegboard_plugins.support.bearer import is_bearer_token, is_scope
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret


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
