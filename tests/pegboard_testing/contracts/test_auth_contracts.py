"""The contracts of token sources and auth providers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pegboard import Authorization, AuthorizationRequiredError
from pegboard.plugin import TokenSource
from pegboard.types import TokenRequest, ToolAuthorization
from pegboard_plugins.auth import auth_providers
from pegboard_plugins.auth.auth_providers import GitHub
from pegboard_plugins.auth.static_tokens import StaticTokens, StaticTokensConfig
from pegboard_testing import AuthProviderContract, TokenSourceContract
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, broken, debug, then, variant

TOKEN = "canary-t0ken"


class TestStaticTokensOfAUser(TokenSourceContract):
    user = "ada"

    def make(self) -> TokenSource:
        config = StaticTokensConfig.model_validate({"tokens": {"github": TOKEN}, "users": ["ada"]})
        return StaticTokens(config, lambda name: None)

    def required(self) -> ToolAuthorization:
        return GitHub(scopes=["repo"])


class TestStaticTokensOfThisMachinesUser(TestStaticTokensOfAUser):
    user = None  # type: ignore[assignment]  # the default of the contract


class Source(TokenSource):
    """Returns the token of ada."""

    given = False

    async def token(self, request: TokenRequest) -> Any:
        if request.required.name != "github":
            return None
        if (request.user_id, request.issuer) != ("ada", None) or request.call.caller.subject != "ada":
            raise AuthorizationRequiredError("github", url="https://x.example")
        return Authorization(TOKEN)


def source(token: Any) -> Any:
    """Return a source that finds tokens in another way."""
    return variant(Source, token=token)


SOUND = Source.token


async def once(self: Any, request: TokenRequest) -> Any:
    given, self.given = self.given, True
    return None if given else await SOUND(self, request)


async def to_all(self: Any, request: TokenRequest) -> Any:
    return Authorization(TOKEN) if request.required.name == "github" else None


async def by_subject_alone(self: Any, request: TokenRequest) -> Any:
    caller = request.call.caller._replace(issuer=None)
    return await SOUND(self, request._replace(call=request.call._replace(caller=caller)))


async def to_programs(self: Any, request: TokenRequest) -> Any:
    caller = request.call.caller
    named = request._replace(call=request.call._replace(caller=caller._replace(subject=caller.subject or "ada")))
    return await SOUND(self, named._replace(user_id=named.user_id or "ada"))


async def by_provider(self: Any, request: TokenRequest) -> Any:
    if request.required.provider.id == "github":
        request = request._replace(required=GitHub())
    return await SOUND(self, request)


async def asks_for_all(self: Any, request: TokenRequest) -> Any:
    if request.required.name != "github":
        raise AuthorizationRequiredError(request.required.name, url="https://x.example")
    return await SOUND(self, request)


SOURCES: Faults = [
    (
        source(
            lambda self, request: then(
                SOUND(self, request), lambda authorization: authorization and authorization.token
            )
        ),
        "test_it_returns_the_token_to_its_owner",
    ),
    (source(once), "test_it_returns_the_token_again"),
    (source(to_all), "test_it_returns_the_token_to_no_other_caller"),
    (source(to_programs), "test_it_returns_the_token_to_no_other_caller"),
    (source(by_subject_alone), "test_it_distinguishes_issuers"),
    (source(by_provider), "test_it_distinguishes_registrations"),
    (source(asks_for_all), "test_it_declines_other_providers"),
    (
        source(
            lambda self, request: then(
                SOUND(self, request),
                lambda authorization: debug(str(authorization and authorization.token)) or authorization,
            )
        ),
        "test_it_discloses_no_token",
    ),
]


def provider(**members: Any) -> Any:
    """Return a function that returns a changed auth provider."""
    return lambda: variant(GitHub, **members)


def describes(**fields: Any) -> Any:
    """Return a function that returns an auth provider that describes itself in another way."""
    return provider(provider=GitHub.provider._replace(**fields))


PROVIDERS: Faults = [
    (describes(id="Git Hub"), "test_it_describes_its_provider"),
    (describes(title=" "), "test_it_describes_its_provider"),
    (describes(documentation="http://x.example"), "test_it_describes_its_provider"),
    (
        provider(__init__=lambda self, id=None, scopes=(): GitHub.__init__(self, id=id)),
        "test_it_accepts_scopes_and_an_id",
    ),
    (provider(name="github"), "test_it_accepts_scopes_and_an_id"),
    (provider(__eq__=lambda self, other: self is other, __hash__=GitHub.__hash__), "test_equal_requirements_are_equal"),
    (
        provider(__eq__=lambda self, other: self.scopes == other.scopes, __hash__=GitHub.__hash__),
        "test_equal_requirements_are_equal",
    ),
]
MUTANTS = [
    Mutants(TokenSourceContract, Source, SOURCES, {"required": lambda self: GitHub()}),
    Mutants(AuthProviderContract, lambda: GitHub, PROVIDERS),
]


BUILT_IN = [
    kind
    for kind in vars(auth_providers).values()
    if inspect.isclass(kind) and issubclass(kind, ToolAuthorization) and kind.__module__ == auth_providers.__name__
]


@pytest.mark.parametrize("made", [kind for kind in BUILT_IN if kind.provider.id is not None])
def test_the_built_in_providers_keep_the_contract(made: Any) -> None:
    assert broken(AuthProviderContract, lambda: made) == {}
