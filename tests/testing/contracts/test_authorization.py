"""The contracts of token sources and auth providers: the built-in ones keep them; each rule is broken by somebody."""

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


class Sound:
    """Keeps one token, of ada."""

    def __init__(self) -> None:
        self.given = 0

    async def token(self, request: TokenRequest) -> Authorization | None:
        if request.required.name != "github":
            return None
        if (request.user_id, request.issuer) != ("ada", None) or request.call.caller.subject != "ada":
            raise AuthorizationRequiredError("github", url="https://x.example")
        self.given += 1
        return Authorization(TOKEN)


class Texts(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        found = await super().token(request)
        return found and found.token  # type: ignore[return-value]


class Once(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        return None if self.given else await super().token(request)


class ToAll(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        return Authorization(TOKEN) if request.required.name == "github" else None


class ToWhoeverIsNamed(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        known = request.required.name == "github" and request.call.caller.subject == "ada"
        return Authorization(TOKEN) if known else None


class ByNameAlone(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        caller = request.call.caller._replace(issuer=None)
        return await super().token(request._replace(call=request.call._replace(caller=caller)))


class AsksForAll(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        if request.required.name != "github":
            raise AuthorizationRequiredError(request.required.name, url="https://x.example")
        return await super().token(request)


class Logs(Sound):
    async def token(self, request: TokenRequest) -> Authorization | None:
        found = await super().token(request)
        logging.getLogger("source").debug("gave %s", found and found.token)
        return found


class Shows(Sound):
    def __repr__(self) -> str:
        return f"Shows({TOKEN})"


BAD_SOURCES: list[tuple[type[Sound], str]] = [
    (Texts, "test_it_gives_the_token_to_whose_it_is"),
    (Once, "test_it_gives_it_again"),
    (ToAll, "test_it_gives_it_to_nobody_else"),
    (ToWhoeverIsNamed, "test_it_gives_it_to_nobody_else"),
    (ByNameAlone, "test_it_knows_issuers_apart"),
    (AsksForAll, "test_of_others_it_has_none"),
    (Logs, "test_it_shows_no_token_by_itself"),
    (Shows, "test_it_shows_no_token_by_itself"),
]


def sources(kind: type[Sound]) -> type[TokenSourceContract]:
    class Sources(TokenSourceContract):
        async def make(self) -> TokenSource:
            return kind()

        def required(self) -> ToolAuthorization:
            return GitHub()

    return Sources


@pytest.mark.parametrize(("kind", "rule"), BAD_SOURCES)
def test_each_rule_of_sources_is_broken_by_somebody(kind: type[Sound], rule: str) -> None:
    assert rule in sources(kind).broken()


def test_a_sound_source_breaks_none() -> None:
    assert sources(Sound).broken() == {}
    assert {rule for _, rule in BAD_SOURCES} == set(TokenSourceContract.rules())


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
    (NoScopes, "test_it_takes_scopes_and_an_id"),
    (NeverAlike, "test_what_is_said_alike_is_alike"),
]


@pytest.mark.parametrize(("made", "rule"), BAD_PROVIDERS)
def test_each_rule_of_providers_is_broken_by_somebody(made: type[Any], rule: str) -> None:
    assert rule in providers(made).broken()


def test_no_rule_of_providers_is_left_out() -> None:
    assert {rule for _, rule in BAD_PROVIDERS} == set(AuthProviderContract.rules())
    assert len(BUILT_IN) > 20
