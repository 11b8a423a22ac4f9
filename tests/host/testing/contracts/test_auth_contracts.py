"""The contracts of token sources and auth providers: the built-in ones keep them, and faulty ones break each rule."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pegboard import Authorization
from pegboard.plugin import AuthorizationRequiredError, TokenSource
from pegboard.testing import AuthProviderContract, TokenSourceContract
from pegboard.types import AuthProvider, TokenRequest, ToolAuthorization
from pegboard_plugins import auth_providers
from pegboard_plugins.auth_providers import GitHub
from pegboard_plugins.static_tokens import StaticTokens, StaticTokensConfig
from tests.host.testing.contracts.faulty import broken, cases, debug, rules, then, variant

TOKEN = "canary-t0ken"


class OfStaticTokens(TokenSourceContract):
    def make(self) -> TokenSource:
        config = StaticTokensConfig.model_validate({"tokens": {"github": TOKEN}, "users": ["ada"]})
        return StaticTokens(config, lambda name: None)

    def required(self) -> ToolAuthorization:
        return GitHub(scopes=["repo"])


class TestStaticTokensOfAUser(OfStaticTokens):
    user = "ada"


class TestStaticTokensOfThisMachinesUser(OfStaticTokens):
    user = None


# --- sources


async def sound(request: TokenRequest, given: list[str]) -> Any:
    """Return the token of ada."""
    if request.required.name != "github":
        return None
    if (request.user_id, request.issuer) != ("ada", None) or request.call.caller.subject != "ada":
        raise AuthorizationRequiredError("github", url="https://x.example")
    given.append("ada")
    return Authorization(TOKEN)


def strings(request: TokenRequest, given: list[str]) -> Any:
    return then(sound(request, given), lambda found: found and found.token)


async def once(request: TokenRequest, given: list[str]) -> Any:
    return None if given else await sound(request, given)


async def to_all(request: TokenRequest, given: list[str]) -> Any:
    return Authorization(TOKEN) if request.required.name == "github" else None


async def to_named_users(request: TokenRequest, given: list[str]) -> Any:
    known = request.required.name == "github" and request.call.caller.subject == "ada"
    return Authorization(TOKEN) if known else None


async def by_subject_alone(request: TokenRequest, given: list[str]) -> Any:
    caller = request.call.caller._replace(issuer=None)
    return await sound(request._replace(call=request.call._replace(caller=caller)), given)


async def asks_for_all(request: TokenRequest, given: list[str]) -> Any:
    if request.required.name != "github":
        raise AuthorizationRequiredError(request.required.name, url="https://x.example")
    return await sound(request, given)


def logs(request: TokenRequest, given: list[str]) -> Any:
    return then(sound(request, given), lambda found: debug(str(found and found.token)) or found)


class Source:
    def __init__(self, function: Any) -> None:
        self._function = function
        self._given: list[str] = []

    async def token(self, request: TokenRequest) -> Authorization | None:
        return await self._function(request, self._given)  # type: ignore[no-any-return]


class Shown(Source):
    def __repr__(self) -> str:
        return TOKEN


SOURCES: list[tuple[Any, str]] = [
    (lambda: Source(strings), "test_it_returns_the_token_to_its_owner"),
    (lambda: Source(once), "test_it_returns_the_token_again"),
    (lambda: Source(to_all), "test_it_returns_the_token_to_no_other_caller"),
    (lambda: Source(to_named_users), "test_it_returns_the_token_to_no_other_caller"),
    (lambda: Source(by_subject_alone), "test_it_distinguishes_issuers"),
    (lambda: Source(asks_for_all), "test_it_declines_other_providers"),
    (lambda: Source(logs), "test_it_discloses_no_token"),
    (lambda: Shown(sound), "test_it_discloses_no_token"),
]
REQUIRED = {"required": lambda self: GitHub()}


@pytest.mark.parametrize(("make", "rule"), cases(SOURCES))
def test_a_faulty_source_breaks_the_rule(make: Any, rule: str) -> None:
    assert rule in broken(TokenSourceContract, make, **REQUIRED)


def test_a_sound_source_breaks_no_rule() -> None:
    assert broken(TokenSourceContract, lambda: Source(sound), **REQUIRED) == {}
    assert rules(SOURCES) == set(TokenSourceContract.rules())


# --- providers

BUILT_IN = [
    one
    for one in vars(auth_providers).values()
    if inspect.isclass(one) and issubclass(one, ToolAuthorization) and one.__module__ == auth_providers.__name__
]
ACME = AuthProvider("acme", "Acme", "https://acme.example")


def provider(described: AuthProvider = ACME, **members: Any) -> Any:
    return variant(ToolAuthorization, provider=described, **members)


PROVIDERS: list[tuple[Any, str]] = [
    (provider(AuthProvider("acme", "Acme")), "test_it_describes_its_provider"),
    (provider(ACME._replace(id="Acme Login")), "test_it_describes_its_provider"),
    (provider(__init__=lambda own: super(type(own), own).__init__()), "test_it_accepts_scopes_and_an_id"),
    (provider(__hash__=None, __eq__=lambda self, other: self is other), "test_equal_requirements_are_equal"),
]


@pytest.mark.parametrize("made", [one for one in BUILT_IN if one.provider.id is not None])
def test_the_built_in_providers_keep_the_contract(made: Any) -> None:
    assert broken(AuthProviderContract, lambda: made) == {}


@pytest.mark.parametrize(("made", "rule"), cases(PROVIDERS))
def test_a_faulty_provider_breaks_the_rule(made: Any, rule: str) -> None:
    assert rule in broken(AuthProviderContract, lambda: made)


def test_each_rule_of_providers_has_a_fault() -> None:
    assert rules(PROVIDERS) == set(AuthProviderContract.rules())
    assert len(BUILT_IN) > 20
