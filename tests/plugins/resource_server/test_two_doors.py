"""Tokens that the operator wrote down, and those of an authorization server, at one endpoint, over sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from pegboard.plugin import Route
from pegboard.routing.router import protect
from pegboard.types import ANONYMOUS, Caller, EventStream, Request, Response
from tests.plugins.auth_token.conftest import ADA, BEN, CALLERS, ENV
from tests.plugins.resource_server.conftest import METADATA, listed, serve
from tests.support.http import Answer, Served
from tests.support.http_mcp import ask, call
from tests.support.issuer import OTHER_RSA_KEY, Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

WHERE = f'resource_metadata="{METADATA}"'
ASKED = f'{WHERE}, scope="door other"'


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Path, issuer: Issuer) -> AsyncIterator[Served]:
    settings = f'challenge_scopes = ["door"]\nrequired_scopes = ["other"]\n{CALLERS}'
    async with serve(site, issuer, settings=settings, env=ENV) as served:
        yield served


async def test_either_token_opens(served: Served, issuer: Issuer) -> None:
    for token, who in ((ADA, "ada ['work']"), (issuer.token(), "ann ['other', 'work']")):
        done = await ask(served, call("door_who"), Authorization=f"Bearer {token}")
        assert done.result["content"][0]["text"] == who


def challenge(answer: Answer) -> str:
    return answer.get("WWW-Authenticate") or ""


async def test_who_brings_none_is_told_where_to_get_one(served: Served) -> None:
    """Row C-1, whichever plugin comes first."""
    answer = await listed(served, None)
    assert (answer.status, challenge(answer)) == (401, f"Bearer {ASKED}")


async def test_who_brings_a_bad_one_is_told_what_is_wrong_with_it(served: Served, issuer: Issuer) -> None:
    for token, reason in ((issuer.token(exp=1), "The token has expired."), ("x", "The token is no JWT.")):
        answer = await listed(served, token)
        assert answer.status == 401
        told = f'Bearer error="invalid_token", error_description="{reason}", {ASKED}'
        assert challenge(answer) == told


async def test_who_is_known_and_may_not_is_not_asked_for_another_token(served: Served, issuer: Issuer) -> None:
    """Row C-15: 403, with the scopes that are needed."""
    answer = await listed(served, issuer.token(scope="work"))
    assert answer.status == 403
    assert challenge(answer).startswith('Bearer error="insufficient_scope", ')
    assert challenge(answer).endswith(f'{WHERE}, scope="other"')


async def test_what_cannot_be_said_at_present_is_not_denied(site: Path) -> None:
    """Row C-11: 503, though the token is none of those that are written down."""
    async with Issuer() as broken:
        broken.answer = web.Response(status=500)
        async with serve(site, broken, settings=CALLERS, env=ENV) as served:
            answer = await listed(served, broken.token(key=OTHER_RSA_KEY))
            assert (answer.status, answer.get("Retry-After")) == (503, "10")
            assert (await listed(served, ADA)).status == 200


async def test_a_token_that_was_written_down_may_be_exchanged_for_a_better_one(served: Served) -> None:
    """Row C-15: what the call needs, and where to get it."""
    done = await ask(served, call("door_guarded"), Authorization=f"Bearer {BEN}")
    assert done.refused == (403, -32602)
    assert challenge(done.answer).startswith('Bearer error="insufficient_scope", ')
    assert challenge(done.answer).endswith(f'scope="work", {WHERE}')


# --- whatever authenticators there are


class Refuses:
    """An authenticator that refuses everybody; what another refuses it marks, but not its own."""

    policy = "mcp"

    def __init__(self, name: str, status: int, challenge: str = "") -> None:
        self.name = name
        self.refusal = Response(status, headers={"WWW-Authenticate": challenge, "X-Of": name})

    async def authenticate(self, request: Request) -> Caller | Response:
        return self.refusal

    def complete(self, response: Response) -> Response:
        assert response.headers["X-Of"] != self.name
        marks = response.headers.get("X-Marks", "") + self.name
        return response._replace(headers={**response.headers, "X-Marks": marks})


async def nothing(request: Request, host: object) -> Response | EventStream:
    raise AssertionError


SAYS: Mapping[str, tuple[list[Refuses], str, str | None]] = {
    "403": ([Refuses("a", 401, 'B x="", y=""'), Refuses("b", 503), Refuses("c", 403)], "c", "ab"),
    "503": ([Refuses("a", 400), Refuses("b", 401), Refuses("c", 503)], "c", None),
    "400": ([Refuses("a", 401, 'B x=""'), Refuses("b", 400)], "b", None),
    "more": ([Refuses("a", 401, 'B x=""'), Refuses("b", 401, 'B x="", y=""'), Refuses("c", 401)], "b", "ac"),
    "first": ([Refuses("a", 401, 'B x=""'), Refuses("b", 401, 'B y=""')], "a", "b"),
}


@pytest.mark.parametrize(("authenticators", "whose", "marks"), SAYS.values(), ids=SAYS)
async def test_the_refusal_that_says_most_goes_out_completed_by_the_others(
    authenticators: list[Refuses], whose: str, marks: str | None
) -> None:
    route = protect(Route("GET", "/x", nothing), authenticators)
    assert route is not None
    none: dict[str, str] = {}
    answer = await route.handler(Request("GET", "/x", none, none, caller=ANONYMOUS), None)  # type: ignore[arg-type]
    assert isinstance(answer, Response)
    assert (answer.headers["X-Of"], answer.headers.get("X-Marks")) == (whose, marks)
