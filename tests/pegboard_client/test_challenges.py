"""Challenges of servers, and the errors for them."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from pegboard_client.challenges import bearer_challenge, demands_login, login_required
from pegboard_client.http_auth import LoginRequiredError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bearer", {}),
        ('bearer realm="a, b", scope="x y" , error=no', {"realm": "a, b", "scope": "x y", "error": "no"}),
        (r'Basic realm="Bearer x", Bearer Scope="s\"q", Digest scope="other"', {"scope": 's"q'}),
        ('Negotiate YWJj==, Bearer resource_metadata="https://a/b?c=d"', {"resource_metadata": "https://a/b?c=d"}),
        ('Basic realm="x"', None),
        ("", None),
    ],
)  # fmt: skip
def test_the_parameters_of_a_bearer_challenge_are_found(text: str, expected: dict[str, str] | None) -> None:
    assert bearer_challenge({"www-authenticate": text}) == expected
    several = CIMultiDict([("WWW-Authenticate", "Basic"), ("WWW-Authenticate", text)])
    assert bearer_challenge(several) == expected


def test_401_and_a_missing_scope_demand_a_login() -> None:
    lacking = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="a b"'}
    verdicts = [
        demands_login(401, {}),
        demands_login(403, lacking),
        demands_login(403, {}),
        demands_login(400, lacking),
    ]
    assert verdicts == [True, True, False, False]
    lacking = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="a \x1bx b é"'}
    error = login_required("https://ann:secret@a.example:8443/mcp?x=1", lacking)
    assert (str(error), error.scopes, error.status) == (
        "https://a.example:8443 requires a login that allows a, b.", ("a", "b"), "not_started",
    )  # fmt: skip


def test_a_failed_login_has_its_reason() -> None:
    error = LoginRequiredError("https://a.example", "the person refused")
    assert (str(error), error.status) == ("The login at https://a.example failed: the person refused", "failed")


@pytest.mark.parametrize(
    ("challenge", "message"),
    [
        ('error="invalid_token", error_description="It has \x1b expired."', "refused the token: It has \\x1b expired."),
        ('error="invalid_token", error_description="no canary-1 here"', "refused the token: no ... here"),
        ('error="invalid_token"', "refused the token: invalid_token"),
        ('error="insufficient_scope", scope="a"', "requires a login that allows a."),
        ("", "requires a login."),
    ],
)
def test_a_refused_token_has_the_reason_of_the_server(challenge: str, message: str) -> None:
    headers = {"WWW-Authenticate": f"Bearer {challenge}"}
    assert str(login_required("https://a.example", headers, sent="Bearer canary-1")) == f"https://a.example {message}"
    assert "refused" not in str(login_required("https://a.example", headers)), "no token was sent"


@pytest.mark.parametrize(
    ("parameters", "offers"),
    [
        ("", False),
        ('resource_metadata="https://a/b"', True),
        ('scope="a"', True),
        ('error="insufficient_scope", scope="a"', False),
    ],
)
def test_a_challenge_shows_if_the_server_offers_a_login(parameters: str, offers: bool) -> None:
    assert login_required("https://a.example", {"WWW-Authenticate": f"Bearer {parameters}"}).offers_login is offers
