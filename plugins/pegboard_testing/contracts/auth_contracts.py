"""The rules of token sources and auth providers (`pegboard.plugin.TokenSource`, `pegboard.types.AuthProvider`)."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Awaitable
from typing import ClassVar

from pegboard.errors import AuthorizationRequiredError
from pegboard.plugin.secrets import TokenSource
from pegboard.types.authorization import AuthProvider, TokenRequest, ToolAuthorization
from pegboard.types.callers import Authorization, Caller, Supplied
from pegboard.types.calls import Call
from pegboard_testing.contracts.contract import Contract, captured_output, rule


class _Elsewhere(ToolAuthorization):
    provider = AuthProvider("contract_elsewhere", "A provider that no source knows")


class TokenSourceContract(Contract[TokenSource]):
    """The rules of a token source. The source has one token of one user.

    Attributes:
        user: the owner of the token: an authenticated user, or None for this machine's user.
    """

    user: ClassVar[str | None] = "ada"

    @abstractmethod
    def make(self) -> TokenSource | Awaitable[TokenSource]:
        """Return a source that has one token."""

    @abstractmethod
    def required(self) -> ToolAuthorization:
        """Return the requirement of the token, as in `requires_auth` of a tool."""

    def request(
        self, required: ToolAuthorization, caller: Caller | None = None, user_id: str | None = None
    ) -> TokenRequest:
        """Return a request for a token, by default of its owner."""
        if caller is None:
            caller = Caller(trusted=True) if self.user is None else Caller(self.user)
        call = Call("tools/call", {"name": "contract_tool", "arguments": {}}, caller)
        if user_id is not None:
            call = call._replace(supplied=Supplied(user_id=user_id))
        return TokenRequest(required, "contract_tool", user_id or caller.subject, call)

    @rule
    async def test_it_returns_the_token_to_its_owner(self, source: TokenSource) -> None:
        """A tool that requires the token receives it."""
        authorization = await source.token(self.request(self.required()))
        assert isinstance(authorization, Authorization), (
            f"it returned {type(authorization).__name__}, not an Authorization"
        )
        assert isinstance(authorization.token, str), "the token is not a string"
        assert authorization.token.strip(), "the token is empty"

    @rule
    async def test_it_returns_the_token_again(self, source: TokenSource) -> None:
        """The host calls the source for each call of a tool."""
        authorizations = [await source.token(self.request(self.required())) for _ in range(3)]
        assert all(isinstance(authorization, Authorization) for authorization in authorizations), (
            "the second call returned no token"
        )

    @rule
    async def test_it_returns_the_token_to_no_other_caller(self, source: TokenSource) -> None:
        """Other users, programs and anonymous callers do not receive the token."""
        own = await source.token(self.request(self.required()))
        strangers = {
            "another user": self.request(self.required(), Caller("contract-stranger")),
            "a program without a user": self.request(self.required(), Caller(client_id="contract-program")),
            "an anonymous caller": self.request(self.required(), Caller()),
            "a call for another user": self.request(self.required(), user_id="contract-stranger"),
        }
        for who, request in strangers.items():
            authorization = await _asked(source, request)
            assert authorization is None or own is None or authorization.token != own.token, f"{who} received the token"

    @rule
    async def test_it_distinguishes_issuers(self, source: TokenSource) -> None:
        """Two authorization servers may use one subject for two users (`TokenRequest.issuer`)."""
        own = await source.token(self.request(self.required()))
        namesake = Caller(self.user or "contract-stranger", issuer="https://contract.example")
        authorization = await _asked(source, self.request(self.required(), namesake))
        assert authorization is None or own is None or authorization.token != own.token, (
            "a user of another issuer with the same subject received the token"
        )

    @rule
    async def test_it_declines_other_providers(self, source: TokenSource) -> None:
        """The source returns None for an unknown provider: the host calls the next source."""
        for required in (_Elsewhere(), _Elsewhere(id="contract", scopes=["a", "b"])):
            authorization = await source.token(self.request(required))
            assert authorization is None, f"it returned a token for {required!r}"

    @rule
    async def test_it_distinguishes_registrations(self, source: TokenSource) -> None:
        """A toolkit may have the right to tokens of one registration with a provider, and not of another."""
        own = await source.token(self.request(self.required()))
        other = type(self.required())(id="contract_registration", scopes=self.required().scopes)
        authorization = await _asked(source, self.request(other))
        assert authorization is None or own is None or authorization.token != own.token, (
            f"it returned the token for {other!r}"
        )

    @rule
    async def test_it_discloses_no_token(self, source: TokenSource) -> None:
        """Neither its repr nor logs of any level contain the token."""
        with captured_output() as output:
            authorization = await source.token(self.request(self.required()))
        output.write(f"{source!r} {source!s}")
        assert authorization is not None, "it returned no token"
        assert authorization.token not in output.getvalue(), "the token was disclosed"


async def _asked(source: TokenSource, request: TokenRequest) -> Authorization | None:
    """Return the token; None if the user must authorize first."""
    try:
        return await source.token(request)
    except AuthorizationRequiredError:
        return None


class AuthProviderContract(Contract[type[ToolAuthorization]]):
    """The rules of an auth provider and of the class that authors use for it."""

    @abstractmethod
    def make(self) -> type[ToolAuthorization]:
        """Return the class that tools use in `requires_auth`, such as `GitHub`."""

    @rule
    def test_it_describes_its_provider(self, made: type[ToolAuthorization]) -> None:
        """The id is for configuration, the title for people, and the page documents the provider."""
        provider = made.provider
        assert isinstance(provider, AuthProvider), f"`provider` is {provider!r}"
        assert isinstance(provider.id, str), f"its id is {provider.id!r}"
        assert re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", provider.id), f"its id is {provider.id!r}; write a-z, 0-9, _, -"
        assert provider.title.strip(), "its title is empty"
        assert str(provider.documentation).startswith("https://"), f"its documentation is {provider.documentation!r}"

    @rule
    def test_it_accepts_scopes_and_an_id(self, made: type[ToolAuthorization]) -> None:
        """An operator may have several registrations with one provider."""
        requirement = made(id="contract", scopes=["a", "b"])
        assert (requirement.id, requirement.scopes, requirement.name) == ("contract", ("a", "b"), "contract")
        assert made().scopes == ()
        assert made().name == made.provider.id

    @rule
    def test_equal_requirements_are_equal(self, made: type[ToolAuthorization]) -> None:
        """The host compares requirements and uses them as keys."""
        assert made(scopes=["a"]) == made(scopes=["a"])
        assert hash(made(scopes=["a"])) == hash(made(scopes=["a"]))
        assert made(scopes=["a"]) != made(scopes=["b"])
        assert made(id="a") != made(id="b")
        assert made(scopes=["a"]) != _Elsewhere(scopes=["a"])
