"""Where the token of a tool comes from, what the tool sees of it, and what is said where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import Authorization, Context, ErrorKind, Host, ToolDefinitionError, Toolkit
from pegboard.plugin import AuthorizationRequiredError, ConfigError, Plugin, TokenSource, hookimpl
from pegboard.types import AuthProvider, Call, Caller, Failure, Supplied, TokenRequest, ToolAuthorization
from tests.host.hosting import call, failure, make_host, value


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme Inc.")


class Own(ToolAuthorization):
    provider = AuthProvider(None, "Whoever")


class Source:
    """Gives what it is told to, and writes down what it is asked."""

    def __init__(self, given: Any = None, asked: list[str] | None = None) -> None:
        self.given = given
        self.asked = asked
        self.requests: list[TokenRequest] = []

    async def token(self, request: TokenRequest) -> Authorization | None:
        self.requests.append(request)
        given = self.given() if callable(self.given) else self.given
        if isinstance(given, BaseException):
            raise given
        found: Authorization | None = await given if asyncio.iscoroutine(given) else given
        return found


def plugin(*sources: TokenSource) -> type[Plugin]:
    class Giving(Plugin):
        @hookimpl
        def register_token_sources(self) -> Iterable[TokenSource]:
            return sources

        @hookimpl
        def register_auth_providers(self) -> Iterable[AuthProvider]:
            return [Acme.provider, Own.provider] if sources and sources[0] is MARK else []

    return Giving


MARK = Source()
BASE = {"zz_base": plugin(MARK)}
"""Describes the providers, and is asked last."""


def kit_of(required: ToolAuthorization, ran: list[int] | None = None) -> Toolkit:
    kit = Toolkit("t", prefix=False)

    @kit.tool(requires_auth=required)
    def work(number: int, context: Context) -> list[Any]:
        """Work."""
        if ran is not None:
            ran.append(number)
        found = context.authorization
        return [found.token, context.get_auth_token_or_empty(), dict(found.user_info), list(found.scopes)]

    @kit.tool
    async def outer(context: Context) -> Any:
        """Have another work, and say what is seen here."""
        return [await context.tools.call("work", {"number": 1}), context.get_auth_token_or_empty()]

    @kit.tool
    def plain(context: Context) -> list[Any]:
        """Require nothing."""
        with pytest.raises(ToolDefinitionError, match="does not declare requires_auth"):
            _ = context.authorization
        return [context.get_auth_token_or_empty()]

    return kit


def hosting(*sources: TokenSource, required: ToolAuthorization | None = None, **host: Any) -> Host:
    """A host with these sources, in plugins named a, b, c."""
    named = {name: plugin(one) for name, one in zip("abcdef", sources, strict=False)}
    ran = host.pop("ran", None)
    return make_host(kit_of(required or Acme(scopes=["read"]), ran), plugins={**named, **BASE}, **host)


async def token(host: Host, **fields: Any) -> str:
    return str((await value(host, "work", {"number": 1}, **fields))[0])


async def missing(host: Host, **fields: Any) -> AuthorizationRequiredError:
    error = (await failure(host, "work", {"number": 1}, **fields)).error
    assert isinstance(error, AuthorizationRequiredError), error
    return error


# --- which source


async def test_the_first_that_has_one_gives_it_in_the_order_of_the_operator_then_of_names() -> None:
    empty, one, two = Source(None), Source(Authorization("one")), Source(Authorization("two"))
    async with hosting(empty, one, two) as host:
        assert await token(host) == "one"
        assert len(empty.requests) == 1
        assert two.requests == []
    async with hosting(empty, one, two, token_sources=["c"]) as host:
        assert await token(host) == "two"
        assert len(empty.requests) == 1


async def test_the_requests_own_comes_before_all() -> None:
    source = Source(Authorization("of the source"))
    async with hosting(source) as host:
        own = Authorization("of the request", {"name": "Ann"}, ("read",))
        found = await value(host, "work", {"number": 1}, supplied=Supplied(own))
        assert found == ["of the request", "of the request", {"name": "Ann"}, ["read"]]
        assert source.requests == []
        assert await token(host, supplied=Supplied(Authorization(""), user_id="bob")) == "of the source"
        assert source.requests[0].user_id == "bob"


async def test_a_source_is_asked_at_each_call_and_told_what_for() -> None:
    source = Source(Authorization("t"))
    async with hosting(source, required=Own(id="mine", scopes=["a"]), user="the operator's") as host:
        await token(host)
        await token(host, caller=Caller("ann"))
    first, second = source.requests
    assert (first.tool, first.required, first.user_id) == ("work", Own(id="mine", scopes=["a"]), "the operator's")
    assert first.required.name == "mine"
    assert (second.user_id, second.call.caller.subject) == ("ann", "ann")


def test_an_order_names_each_once() -> None:
    with pytest.raises(ConfigError, match='"a" is named twice'):
        make_host(token_sources=["a", "a"])


async def test_an_order_of_plugins_that_bring_none_keeps_the_host_from_starting() -> None:
    with pytest.raises(ConfigError, match="no enabled plugin provides 'nobody'"):
        async with hosting(token_sources=["nobody"]):
            pass


# --- sources that fail


async def never() -> Authorization:
    await asyncio.Event().wait()
    raise AssertionError


async def refused() -> Authorization:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (KeyError("canary"), "it raised KeyError"),
        (SystemExit(1), "it raised SystemExit"),
        (TimeoutError(), "it raised TimeoutError"),
        (refused, "it raised CancelledError"),
        (never, "it did not return within 0.01 seconds"),
        ("a string", "it returned str, not an Authorization with a token"),
        (AuthorizationRequiredError("acme", authorization_id=7), "it raised AuthorizationRequiredError"),  # type: ignore[arg-type]
        (Authorization(7), "it returned Authorization, not an Authorization with a token"),  # type: ignore[arg-type]
    ],
    ids=["raises", "exits", "times out", "cancels", "hangs", "text", "asks wrongly", "number"],
)
async def test_one_that_fails_is_logged_and_passed_over(
    given: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Source(given)
    async with hosting(broken, Source(Authorization("next")), token_seconds=0.01) as host:
        assert await token(host) == "next"
        assert f"the token source a failed for work: {told}" in caplog.text
    async with hosting(broken, token_seconds=0.01) as host:
        error = await missing(host)
    assert (error.status, error.can_retry) == ("failed", True)
    assert "none could be had just now" in error.message
    assert "canary" not in error.message


async def test_one_that_is_no_coroutine_fails_like_others(caplog: pytest.LogCaptureFixture) -> None:
    class Sync:
        def token(self, request: TokenRequest) -> Authorization:
            return Authorization("canary")

    async with hosting(Sync()) as host:  # type: ignore[arg-type]
        assert (await missing(host)).status == "failed"
    assert "it raised TypeError" in caplog.text
    assert "canary" not in caplog.text


async def test_a_call_that_is_cancelled_meanwhile_ends() -> None:
    reached = asyncio.Event()

    async def wait() -> Authorization:
        reached.set()
        return await never()

    async with hosting(Source(wait), Source(Authorization("next"))) as host:
        running = asyncio.ensure_future(call(host, "work", {"number": 1}))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


# --- no token


async def test_without_a_token_nothing_runs_not_even_the_check_of_arguments(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[int] = []
    async with hosting(Source(None), Source(Authorization("")), ran=ran, user="ann") as host:
        error = await missing(host)
        assert (await failure(host, "work", {"wrong": 1})).error.message == error.message
    assert ran == []
    assert error.message == (
        "Authorization required: this tool needs a token of Acme Inc. that allows read, and there is none for you."
    )
    assert str(error.additional_prompt_content).endswith(
        "Tell the person that the operator of this server provides it."
    )
    assert (error.kind, error.can_retry) == (ErrorKind.TOOL_RUNTIME_CONTEXT_REQUIRED, False)
    assert (error.provider, error.scopes, error.url, error.status) == ("acme", ("read",), None, "not_started")
    assert "work requires a token of acme (scopes: read), and user 'ann' has none: not_started" in caplog.text


async def test_a_source_that_knows_where_to_authorize_is_heard_when_no_other_has_a_token() -> None:
    wanted = AuthorizationRequiredError("acme", url="https://acme.example/go?state=1", authorization_id="1")
    later = AuthorizationRequiredError("acme", url="https://other.example/")
    async with hosting(Source(KeyError()), Source(wanted), Source(later)) as host:
        error = await missing(host)
    assert error is wanted
    assert error.status == "pending"
    assert "To allow it, open https://acme.example/go?state=1" in error.message
    async with hosting(Source(wanted), Source(Authorization("t"))) as host:
        assert await token(host) == "t"


async def test_one_that_an_operator_named_is_called_so() -> None:
    async with hosting(required=Own(id="intranet")) as host:
        error = await missing(host)
    assert error.provider == "intranet"
    assert "a token of intranet, and there is none" in error.message


@pytest.mark.parametrize(
    "url",
    [
        "http://acme.example/",
        "javascript:alert(1)",
        "https://a b/",
        "https://a\n/",
        "http://localhost.acme.example/",
        "",
    ],
)
def test_a_url_that_nobody_should_open_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="the URL must begin with https://"):
        AuthorizationRequiredError("acme", url=url)


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/x", "http://127.0.0.1/", "http://[::1]:1/", "https://a.example"]
)
def test_a_url_of_this_machine_may_be_plain(url: str) -> None:
    assert AuthorizationRequiredError("acme", url=url).url == url


def test_it_says_all_that_its_source_knows() -> None:
    error = AuthorizationRequiredError(
        "acme", scopes=["a"], url="https://a.example", authorization_id="7", title="Acme"
    )
    found = (error.provider, error.scopes, error.url, error.authorization_id, error.status)
    assert found == ("acme", ("a",), "https://a.example", "7", "pending")
    assert "a token of Acme that allows a. To allow it, open https://a.example" in error.message


# --- what functions see


async def test_a_token_is_for_those_who_require_one() -> None:
    source = Source(Authorization("t"))
    async with hosting(source) as host:
        assert await value(host, "plain", supplied=Supplied(Authorization("canary"))) == [""]
        assert source.requests == []
        outer = await value(host, "outer", supplied=Supplied(Authorization("canary")))
    assert outer == [["t", "t", {}, []], ""]


async def test_a_token_that_a_nested_call_lacks_fails_the_outer_call() -> None:
    async with hosting() as host:
        error = (await failure(host, "outer")).error
    assert isinstance(error, AuthorizationRequiredError)


def test_no_token_is_printed() -> None:
    shown = repr(Call("tools/call", supplied=Supplied(Authorization("canary"))))
    assert "canary" not in shown


# --- the caller's own


def scoped() -> Toolkit:
    kit = Toolkit("t", prefix=False)

    @kit.tool(scopes=["work", "read"])
    def guarded() -> str:
        """Work."""
        return "done"

    @kit.tool
    def who(context: Context) -> Any:
        """Say who asks."""
        found = context.auth_info
        return found and [found.subject, sorted(found.scopes), found.client_id, found.expires_at, found.resource]

    return kit


async def test_the_callers_token_must_allow_what_the_tool_says() -> None:
    async with make_host(scoped()) as host:
        for scopes in ((), ("read",), ("work", "other")):
            outcome = await failure(host, "guarded", caller=Caller("ann", scopes=frozenset(scopes)))
            assert outcome.error.message == "This needs a token that allows: read, work."
        assert await value(host, "guarded", caller=Caller("ann", scopes=frozenset(("work", "read", "x")))) == "done"
        assert await value(host, "guarded", caller=Caller(trusted=True)) == "done"
        stranger = await failure(host, "guarded", caller=Caller())
        assert stranger.error.message == "Unknown tool: guarded"


async def test_a_function_sees_who_is_authenticated() -> None:
    ann = Caller("ann", False, frozenset(("b", "a")), "client", 12.5, "https://here.example", {"email": "a@b.example"})
    async with make_host(scoped()) as host:
        assert await value(host, "who", caller=ann) == ["ann", ["a", "b"], "client", 12.5, "https://here.example"]
        assert await value(host, "who", caller=Caller(trusted=True)) is None
    assert ann.identity == Caller("ann")
    assert Caller(client_id="robot", expires_at=1).identity == Caller(client_id="robot")
    assert Caller(trusted=True).identity == Caller(trusted=True)


async def test_a_tool_may_say_itself_that_its_token_is_no_good() -> None:
    kit = Toolkit("t", prefix=False)

    @kit.tool
    def work() -> None:
        """Work."""
        raise AuthorizationRequiredError("acme")

    async with make_host(kit) as host:
        outcome: Failure = await failure(host, "work")
    assert isinstance(outcome.error, AuthorizationRequiredError)
    assert outcome.error_id is None


@pytest.mark.parametrize("field", ["provider", "scopes", "url", "authorization_id", "status"])
async def test_one_that_cannot_be_sent_is_masked(field: str) -> None:
    kit = Toolkit("t", prefix=False)

    @kit.tool
    def work() -> None:
        """Work."""
        error = AuthorizationRequiredError("acme")
        setattr(error, field, object())
        raise error

    async with make_host(kit) as host:
        outcome = await failure(host, "work")
    assert not isinstance(outcome.error, AuthorizationRequiredError)
    assert outcome.error_id is not None
