"""The contracts of token sources and auth providers: the built-in ones keep them, and faulty ones break each rule."""

from __future__ import annotations

import inspect
import logging
from typing import Any, ClassVar

import pytest

from pegboard import Authorization
from pegboard.plugin import AuthorizationRequiredError, TokenSource
from pegboard.testing import AuthProviderContract, TokenSourceContract
from pegboard.types import AuthProvider, TokenRequest, ToolAuthorization
from pegboard_plugins import auth_providers
from pegboard_plugins.auth_providers import GitHub
from pegboard_plugins.static_tokens import StaticTokens, StaticTokensConfig

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


async def strings(request: TokenRequest, given: list[str]) -> Any:
    found = await sound(request, given)
    return found and found.token


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


async def logs(request: TokenRequest, given: list[str]) -> Any:
    found = await sound(request, given)
    logging.getLogger("source").debug("gave %s", found and found.token)
    return found


class Source:
    """A source, sound unless it is told otherwise."""

    def __init__(self, function: Any, shown: str = "") -> None:
        self._function = function
        self._given: list[str] = []
        self._shown = shown

    async def token(self, request: TokenRequest) -> Authorization | None:
        return await self._function(request, self._given)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Source({self._shown})"


BAD_SOURCES: list[tuple[Any, str, str]] = [
    (strings, "", "test_it_returns_the_token_to_its_owner"),
    (once, "", "test_it_returns_the_token_again"),
    (to_all, "", "test_it_returns_the_token_to_no_other_caller"),
    (to_named_users, "", "test_it_returns_the_token_to_no_other_caller"),
    (by_subject_alone, "", "test_it_distinguishes_issuers"),
    (asks_for_all, "", "test_it_declines_other_providers"),
    (logs, "", "test_it_discloses_no_token"),
    (sound, TOKEN, "test_it_discloses_no_token"),
]


def sources(function: Any, shown: str = "") -> type[TokenSourceContract]:
    class Sources(TokenSourceContract):
        async def make(self) -> TokenSource:
            return Source(function, shown)

        def required(self) -> ToolAuthorization:
            return GitHub()

    return Sources


@pytest.mark.parametrize(("function", "shown", "rule"), BAD_SOURCES)
def test_a_faulty_source_breaks_the_rule(function: Any, shown: str, rule: str) -> None:
    assert rule in sources(function, shown).broken()


def test_a_sound_source_breaks_no_rule() -> None:
    assert sources(sound).broken() == {}
    assert {rule for _, _, rule in BAD_SOURCES} == set(TokenSourceContract.rules())


# --- providers


def providers(made: type[Any]) -> type[AuthProviderContract]:
    class Providers(AuthProviderContract):
        def make(self) -> type[ToolAuthorization]:
            return made

    return Providers


BUILT_IN = [
    one
    for one in vars(auth_providers).values()
    if inspect.isclass(one) and issubclass(one, ToolAuthorization) and one.__module__ == auth_providers.__name__
]


@pytest.mark.parametrize("made", [one for one in BUILT_IN if one.provider.id is not None])
def test_the_built_in_providers_keep_the_contract(made: type[ToolAuthorization]) -> None:
    assert providers(made).broken() == {}


class NoPage(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


class OddId(ToolAuthorization):
    provider = AuthProvider("Acme Login", "Acme", "https://acme.example")


class NoScopes(ToolAuthorization):
    provider = AuthProvider("acme", "Acme", "https://acme.example")

    def __init__(self) -> None:
        super().__init__()


class NeverAlike(ToolAuthorization):
    provider: ClassVar[AuthProvider] = AuthProvider("acme", "Acme", "https://acme.example")
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


BAD_PROVIDERS: list[tuple[type[Any], str]] = [
    (NoPage, "test_it_describes_its_provider"),
    (OddId, "test_it_describes_its_provider"),
    (NoScopes, "test_it_accepts_scopes_and_an_id"),
    (NeverAlike, "test_equal_requirements_are_equal"),
]


@pytest.mark.parametrize(("made", "rule"), BAD_PROVIDERS)
def test_a_faulty_provider_breaks_the_rule(made: type[Any], rule: str) -> None:
    assert rule in providers(made).broken()


def test_each_rule_of_providers_has_a_fault() -> None:
    assert {rule for _, rule in BAD_PROVIDERS} == set(AuthProviderContract.rules())
    assert len(BUILT_IN) > 20
