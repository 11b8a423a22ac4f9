"""The rules of authenticators (`pegboard.plugin.Authenticator`)."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from pegboard.plugin.routes import Authenticator
from pegboard.types.callers import ANONYMOUS, EMPTY, Caller
from pegboard.types.http import Request, Response
from pegboard.types.request_headers import header_fields
from pegboard_testing.contracts.contract import Contract, captured_output, rule

INVALID_AUTHORIZATION = (
    "", " ", "Bearer", "Bearer ", "Bearer  ", "Bearer a b", "Bearer \u20ac", "Bearer \udcff", "Bearer \0", "Basic Og==",
    "Basic !", "Bearer invalid", "Bearer a.b.c", "Bearer " + "x" * 20_000, "Negotiate", "=",
)  # fmt: skip
"""Values of the header `Authorization` that identify no caller."""
FORWARDED = ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1;by=localhost"})
"""Header fields that any client can send, and that identify no caller."""


class AuthenticatorContract(Contract[Authenticator]):
    """The rules of an authenticator.

    Attributes:
        anonymous: requests without credentials are admitted, as an unknown caller.
        trusted: callers with valid credentials are operators.
        ids: the header fields in `credentials` that prove nothing, such as `X-User` of a proxy that proves itself by
            another field. Another value of such a field may identify another caller.
    """

    anonymous: ClassVar[bool] = False
    trusted: ClassVar[bool] = False
    ids: ClassVar[Collection[str]] = ()

    @abstractmethod
    def make(self) -> Authenticator | Awaitable[Authenticator]:
        """Return an authenticator."""

    @abstractmethod
    def credentials(self) -> Sequence[Mapping[str, str]]:
        """Return valid credentials: for each caller the header fields of a request, such as `Authorization`.

        A request with only some of these fields, or with a field changed, must not be admitted.
        """

    def invalid_credentials(self) -> Sequence[Mapping[str, str]]:
        """Return header fields that the authenticator must reject, such as those with an expired token."""
        return ()

    def request(self, headers: Mapping[str, str] = EMPTY) -> Request:
        """Return a request with these header fields."""
        return http_request(headers=headers)

    @rule
    async def test_it_names_its_policy(self, authenticator: Authenticator) -> None:
        """Routes refer to the policy by this name."""
        assert isinstance(authenticator.policy, str), f"its policy is {authenticator.policy!r}"
        assert authenticator.policy.strip(), "its policy is empty"
        assert authenticator.policy != "public", "routes with the policy 'public' admit every caller"

    @rule
    async def test_its_attributes_are_valid(self, authenticator: Authenticator) -> None:
        """`only_local` is a reason, `needs_token` a bool and `public_hosts` lists host names."""
        only_local: object = authenticator.only_local
        assert only_local is None or (isinstance(only_local, str) and only_local), f"only_local is {only_local!r}"
        assert isinstance(authenticator.needs_token, bool), "needs_token must be a bool"
        hosts: Iterable[object] = authenticator.public_hosts
        assert not isinstance(hosts, str), "public_hosts must be a collection of strings"
        assert all(isinstance(host, str) and host for host in hosts), f"public_hosts is {hosts!r}"

    @rule
    async def test_valid_credentials_identify_the_caller(self, authenticator: Authenticator) -> None:
        """The host authenticates each request. The same credentials identify the same caller each time."""
        for headers in self.credentials():
            answer = await authenticator.authenticate(self.request(headers))
            assert isinstance(answer, Caller), f"valid credentials were rejected: {answer!r}"
            assert answer.is_known, "the caller has no subject and no client_id"
            assert answer.trusted == self.trusted, f"`trusted` of the caller is {answer.trusted}"
            again = await authenticator.authenticate(self.request(headers))
            assert _summary(again) == _summary(answer), f"the second request identified {again!r}"

    @rule
    async def test_known_callers_are_the_authenticated_ones(self, authenticator: Authenticator) -> None:
        """The host skips `authenticate` for callers that `known_caller` returns."""
        valid = self.credentials()
        altered = [headers for credentials in valid for headers in self._altered(credentials)]
        for headers in (*valid, *altered, *self.invalid_credentials(), EMPTY):
            answer = await authenticator.authenticate(self.request(headers))
            caller = authenticator.known_caller(self.request(headers))
            assert caller is None or _summary(caller) == _summary(answer), f"known_caller returned {caller!r}"

    @rule
    async def test_missing_credentials_are_challenged(self, authenticator: Authenticator) -> None:
        """A client learns from status 401 and `WWW-Authenticate` how to authenticate (RFC 9110, section 11.6.1)."""
        answer = await authenticator.authenticate(self.request())
        if self.anonymous:
            assert isinstance(answer, Caller), f"a request without credentials was rejected: {answer!r}"
            assert not answer.trusted, "a request without credentials made its caller an operator"
            return
        assert isinstance(answer, Response), f"a request without credentials was admitted: {answer!r}"
        assert answer.status == 401, f"a request without credentials got status {answer.status}"
        challenge = {name.lower(): value for name, value in answer.headers.items()}.get("www-authenticate")
        assert challenge, "status 401 requires the header WWW-Authenticate"

    @rule
    async def test_invalid_credentials_are_rejected(self, authenticator: Authenticator) -> None:
        """Malformed and unknown credentials get a response, never an exception and never a caller."""
        malformed = [{"Authorization": value} for value in INVALID_AUTHORIZATION]
        for headers in (*malformed, *FORWARDED, *self.invalid_credentials()):
            answer = await authenticator.authenticate(self.request(headers))
            if self.anonymous and isinstance(answer, Caller):
                assert not answer.is_known, f"{headers!r} identified {answer!r}"
                continue
            assert isinstance(answer, Response), f"{headers!r} was admitted as {answer!r}"
            assert 400 <= answer.status < 600, f"{headers!r} got status {answer.status}"

    @rule
    async def test_altered_credentials_are_rejected(self, authenticator: Authenticator) -> None:
        """Credentials with a changed or missing field are invalid, before and after the valid credentials were used."""
        for headers in self.credentials():
            assert self._proofs(headers), f"{headers!r} proves nothing: all fields are `ids`"
            for _ in range(2):
                for altered in self._altered(headers):
                    answer = await authenticator.authenticate(self.request(altered))
                    assert not isinstance(answer, Caller) or not answer.is_known, f"{altered!r} was admitted"
                await authenticator.authenticate(self.request(headers))

    @rule
    async def test_concurrent_requests_are_independent(self, authenticator: Authenticator) -> None:
        """The result of one request does not depend on the others that run at the same time."""
        cases = [*self.credentials(), EMPTY] * 10
        alone = [await authenticator.authenticate(self.request(headers)) for headers in cases]
        together = await asyncio.gather(*[authenticator.authenticate(self.request(headers)) for headers in cases])
        for expected, actual in zip(alone, together, strict=True):
            assert _summary(actual) == _summary(expected), f"expected {expected!r}, got {actual!r}"

    @rule
    async def test_it_discloses_no_credentials(self, authenticator: Authenticator) -> None:
        """Neither its logs nor its responses contain credentials."""
        secret: set[tuple[str, str]] = set()
        with captured_output() as output:
            for headers in (*self.credentials(), {"Authorization": "Bearer canary-51c7"}):
                answer = await authenticator.authenticate(self.request(headers))
                output.write(f"{answer!r}")
                names = (answer.subject, answer.client_id) if isinstance(answer, Caller) else ()
                proofs = self._proofs(headers)
                unnamed = {name: value for name, value in proofs.items() if value not in names}
                secret |= (unnamed or proofs).items()
        output.write(f"{authenticator!r}")
        for name, value in secret:
            assert value.split(" ")[-1] not in output.getvalue(), f"the value of {name} was disclosed"

    @rule
    async def test_a_completed_response_keeps_its_status(self, authenticator: Authenticator) -> None:
        """`complete` adds to the challenge of a rejection."""
        for status in (401, 403):
            response = authenticator.complete(Response(status, b"body"))
            assert isinstance(response, Response), f"complete returned {response!r}"
            assert (response.status, response.body) == (status, b"body"), f"complete changed the response: {response!r}"

    @rule
    async def test_a_completed_challenge_has_its_scheme(self, authenticator: Authenticator) -> None:
        """A 403 of MCP asks for a bearer token. `complete` adds another scheme, or replaces the challenge."""
        refusal = await authenticator.authenticate(self.request())
        asked = _schemes(refusal) if isinstance(refusal, Response) else ()
        lacking = Response(403, headers={"WWW-Authenticate": 'Bearer error="insufficient_scope"'})
        completed = _schemes(authenticator.complete(lacking))
        assert not asked or asked[0] in completed, f"the scheme {asked[0]} is missing in a completed challenge"

    def _proofs(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the fields that are not in `ids`."""
        ids = {name.lower() for name in self.ids}
        return {name: value for name, value in headers.items() if name.lower() not in ids}

    def _altered(self, headers: Mapping[str, str]) -> list[dict[str, str]]:
        """Return variants of valid credentials: with one field left out or changed, and with all fields longer."""
        proofs = self._proofs(headers)
        variants = [{other: value for other, value in headers.items() if other != name} for name in proofs]
        variants += [{**headers, name: value} for name, sent in proofs.items() for value in _changed(sent)]
        variants.append({name: f"{value}x" for name, value in headers.items()})
        return [variant for variant in variants if variant != headers]


def _changed(value: str) -> list[str]:
    """Return variants of a header field: empty, longer, cut, with another character, case or signature."""
    token = value.rpartition(" ")[2]
    middle = len(value) - len(token) // 2 - 1
    other = value[:middle] + ("B" if value[middle : middle + 1] == "A" else "A") + value[middle + 1 :]
    cased = [] if re.fullmatch(r"[0-9A-Fa-f]+", token) else [value.swapcase()]  # hex has no case
    return ["", f"{value}x", value[:-1], value[: len(value) // 2], other, *cased, *_unsigned(value)]


def _unsigned(value: str) -> list[str]:
    """Return a JSON Web Token without its signature, also with the algorithm "none" (RFC 7519, section 6)."""
    scheme, blank, token = value.rpartition(" ")
    header, *parts = token.split(".")
    none = urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return [f"{scheme}{blank}{first}.{parts[0]}." for first in (header, none)] if len(parts) == 2 else []


def _schemes(response: Response) -> list[str]:
    """Return the first words of the parts of a challenge, in lower case."""
    challenge = {name.lower(): value for name, value in response.headers.items()}.get("www-authenticate", "")
    return [part.split()[0].lower() for part in challenge.split(",") if part.strip()]


def _summary(answer: Caller | Response) -> object:
    return answer.identity if isinstance(answer, Caller) else answer.status


# --- HTTP requests for the contracts of authenticators and routes.


def http_request(
    method: str = "GET",
    path: str = "/",
    body: bytes = b"",
    headers: Mapping[str, str] = EMPTY,
    query: Mapping[str, str] = EMPTY,
    caller: Caller = ANONYMOUS,
) -> Request:
    """Return a request from another machine."""
    return Request(method, path, query, header_fields(headers), body, caller, peer="203.0.113.9")
