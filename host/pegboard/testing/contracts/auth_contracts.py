"""What every token source and every auth provider must do (`pegboard.TokenSource`, `pegboard.AuthProvider`)."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Awaitable
from typing import ClassVar

from pegboard.errors import AuthorizationRequiredError
from pegboard.plugin.token_sources import TokenSource
from pegboard.testing.contracts.contract import Contract, captured_output, rule
from pegboard.types.authorization import AuthProvider, TokenRequest, ToolAuthorization
from pegboard.types.callers import Authorization, Caller, Supplied
from pegboard.types.calls import Call


class _Elsewhere(ToolAuthorization):
    provider = AuthProvider("contract_elsewhere", "Somebody whom no source knows")


class TokenSourceContract(Contract[TokenSource]):
    """The rules of a `pegboard.TokenSource`; one under test has one token, of one person.

    Attributes:
        user: whose token it is: an authenticated user, or None for this machine's user.
    """

    user: ClassVar[str | None] = "ada"

    @abstractmethod
    def make(self) -> TokenSource | Awaitable[TokenSource]:
        """A source that has one token."""

    @abstractmethod
    def required(self) -> ToolAuthorization:
        """What the token is for, as a tool says it in `requires_auth`."""

    def request(
        self, required: ToolAuthorization, caller: Caller | None = None, user_id: str | None = None
    ) -> TokenRequest:
        """A request for a token; by default of whoever has it."""
        if caller is None:
            caller = Caller(trusted=True) if self.user is None else Caller(self.user)
        call = Call("tools/call", {"name": "contract_tool", "arguments": {}}, caller)
        if user_id is not None:
            call = call._replace(supplied=Supplied(user_id=user_id))
        return TokenRequest(required, "contract_tool", user_id or caller.subject, call)

    @rule
    async def test_it_gives_the_token_to_whose_it_is(self, source: TokenSource) -> None:
        """A tool that requires it is handed it."""
        found = await source.token(self.request(self.required()))
        assert isinstance(found, Authorization), f"it gave {type(found).__name__}, no Authorization"
        assert isinstance(found.token, str), "the token is no text"
        assert found.token.strip(), "the token is empty"

    @rule
    async def test_it_gives_it_again(self, source: TokenSource) -> None:
        """It is asked at each call."""
        found = [await source.token(self.request(self.required())) for _ in range(3)]
        assert all(isinstance(one, Authorization) for one in found), "the second time it had none"

    @rule
    async def test_it_gives_it_to_nobody_else(self, source: TokenSource) -> None:
        """Not to another user, not to a caller that nobody knows, not to a call in another user's name."""
        own = await source.token(self.request(self.required()))
        strangers = {
            "another user": self.request(self.required(), Caller("contract-stranger")),
            "a caller that nobody knows": self.request(self.required(), Caller()),
            "a call in another user's name": self.request(self.required(), user_id="contract-stranger"),
        }
        for who, request in strangers.items():
            found = await _asked(source, request)
            assert found is None or own is None or found.token != own.token, f"{who} got it too"

    @rule
    async def test_it_knows_issuers_apart(self, source: TokenSource) -> None:
        """By one name two authorization servers may mean two people (`TokenRequest.issuer`)."""
        own = await source.token(self.request(self.required()))
        namesake = Caller(self.user or "contract-stranger", issuer="https://contract.example")
        found = await _asked(source, self.request(self.required(), namesake))
        assert found is None or own is None or found.token != own.token, "another issuer's user of that name got it too"

    @rule
    async def test_of_others_it_has_none(self, source: TokenSource) -> None:
        """For what it does not know it gives None: the next source is asked, and nobody is sent to authorize."""
        for required in (_Elsewhere(), _Elsewhere(id="contract", scopes=["a", "b"])):
            found = await source.token(self.request(required))
            assert found is None, f"for {required!r} it gave something"

    @rule
    async def test_it_shows_no_token_by_itself(self, source: TokenSource) -> None:
        """Not when it is printed, and not in the log at any level."""
        with captured_output() as told:
            found = await source.token(self.request(self.required()))
        told.write(f"{source!r} {source!s}")
        assert found is not None, "it gave none"
        assert found.token not in told.getvalue(), "the token was shown"


async def _asked(source: TokenSource, request: TokenRequest) -> Authorization | None:
    """The token; None also where somebody must authorize first."""
    try:
        return await source.token(request)
    except AuthorizationRequiredError:
        return None


class AuthProviderContract(Contract[type[ToolAuthorization]]):
    """The rules of a `pegboard.AuthProvider` and of the class that authors name it by."""

    @abstractmethod
    def make(self) -> type[ToolAuthorization]:
        """The class, such as `GitHub`, that tools use in `requires_auth`."""

    def test_it_describes_its_provider(self) -> None:
        """By an id that configuration can name, a title for people and a page that tells of it."""
        provider = self.make().provider
        assert isinstance(provider, AuthProvider), f"`provider` is {provider!r}"
        assert isinstance(provider.id, str), f"its id is {provider.id!r}"
        assert re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", provider.id), f"its id is {provider.id!r}; write a-z, 0-9, _, -"
        assert provider.title.strip(), "its title is empty"
        assert str(provider.documentation).startswith("https://"), f"its documentation is {provider.documentation!r}"

    def test_it_takes_scopes_and_an_id(self) -> None:
        """As all others do: an operator may have several registrations with one provider."""
        made = self.make()
        one = made(id="contract", scopes=["a", "b"])
        assert (one.id, one.scopes, one.name) == ("contract", ("a", "b"), "contract")
        assert made().scopes == ()
        assert made().name == made.provider.id

    def test_what_is_said_alike_is_alike(self) -> None:
        """Requirements are compared, and never change."""
        made = self.make()
        assert made(scopes=["a"]) == made(scopes=["a"])
        assert hash(made(scopes=["a"])) == hash(made(scopes=["a"]))
        assert made(scopes=["a"]) != made(scopes=["b"])
        assert made(scopes=["a"]) != _Elsewhere(scopes=["a"])
