"""The sources of a tool's token, what the tool sees of it, and the error if there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard import Authorization, AuthorizationRequiredError, Context, ErrorKind, Host, ToolDefinitionError, Toolkit
from pegboard.errors import ConfigError
from pegboard.plugin import TokenSource
from pegboard.types import AuthProvider, Call, Caller, Supplied, TokenRequest, ToolAuthorization
from tests.host.hosting import Waiting, call, cancel, failure, make_host, never, plugin_of, value


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme Inc.")


class Own(ToolAuthorization):
    provider = AuthProvider(None, "Other")


class Source(TokenSource):
    """A source that returns, raises or awaits what a test says, and records its requests."""

    def __init__(self, given: Any = None) -> None:
        self.given = given
        self.requests: list[TokenRequest] = []

    async def token(self, request: TokenRequest) -> Authorization | None:
        self.requests.append(request)
        answer = self.given() if callable(self.given) else self.given
        if isinstance(answer, BaseException):
            raise answer
        authorization: Authorization | None = await answer if asyncio.iscoroutine(answer) else answer
        return authorization


PROVIDERS = plugin_of(register_auth_providers=[Acme.provider, Own.provider])


def kit_of(required: ToolAuthorization) -> Toolkit:
    kit = Toolkit("t", prefix=False)

    @kit.tool(requires_auth=required)
    def work(number: int, context: Context) -> list[Any]:
        """Work."""
        authorization = context.authorization
        return [
            authorization.token,
            context.get_auth_token_or_empty(),
            dict(authorization.user_info),
            list(authorization.scopes),
        ]

    @kit.tool
    async def outer(context: Context) -> Any:
        """Call another tool, and return what is seen here."""
        return [await context.tools.call("work", {"number": 1}), context.get_auth_token_or_empty()]

    @kit.tool
    def plain(context: Context) -> list[Any]:
        """Require nothing."""
        with pytest.raises(ToolDefinitionError, match="does not declare requires_auth"):
            _ = context.authorization
        return [context.get_auth_token_or_empty()]

    @kit.tool
    def who(context: Context) -> Any:
        """Return who calls."""
        caller = context.auth_info
        return caller and [caller.subject, sorted(caller.scopes), caller.client_id, caller.expires_at, caller.resource]

    return kit


def hosting(*sources: TokenSource, required: ToolAuthorization | None = None, **host: Any) -> Host:
    """Return a host with these sources, in plugins named a, b, c."""
    plugins = {name: plugin_of(register_token_sources=[source]) for name, source in zip("abc", sources, strict=False)}
    return make_host(kit_of(required or Acme(scopes=["read"])), plugins=plugins | {"providers": PROVIDERS}, **host)


async def token(host: Host, **fields: Any) -> str:
    return str((await value(host, "work", {"number": 1}, **fields))[0])


async def missing(host: Host, **fields: Any) -> AuthorizationRequiredError:
    error = (await failure(host, "work", {"number": 1}, **fields)).error
    assert isinstance(error, AuthorizationRequiredError), error
    return error


async def test_the_first_source_with_a_token_is_used_in_the_order_of_the_operator_then_of_names() -> None:
    empty, one, two = Source(None), Source(Authorization("one")), Source(Authorization("two"))
    async with hosting(empty, one, two) as host:
        assert await token(host) == "one"
        assert (len(empty.requests), two.requests) == (1, [])
    async with hosting(empty, one, two, token_sources=["c"]) as host:
        assert await token(host) == "two"
    with pytest.raises(ConfigError, match='"a" is named twice'):
        make_host(token_sources=["a", "a"])
    with pytest.raises(ConfigError, match="no enabled plugin provides 'unknown'"):
        await hosting(token_sources=["unknown"]).start()


async def test_the_token_of_the_request_comes_before_all() -> None:
    source = Source(Authorization("of the source"))
    async with hosting(source) as host:
        own = Authorization("of the request", {"name": "Ann"}, ("read",))
        result = await value(host, "work", {"number": 1}, supplied=Supplied(own))
        assert result == ["of the request", "of the request", {"name": "Ann"}, ["read"]]
        assert source.requests == []
        assert await token(host, supplied=Supplied(Authorization(""), user_id="bob")) == "of the source"
        assert source.requests[0].user_id == "bob"


async def test_a_source_knows_the_tool_the_requirement_and_the_user_of_each_call() -> None:
    source = Source(Authorization("t"))
    async with hosting(source, required=Own(id="mine", scopes=["a"]), user="the operator's") as host:
        await token(host)
        await token(host, caller=Caller("ann"))
    first, second = source.requests
    assert (first.tool, first.required, first.user_id) == ("work", Own(id="mine", scopes=["a"]), "the operator's")
    assert (second.user_id, second.call.caller.subject) == ("ann", "ann")


async def refused() -> Authorization:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (KeyError("canary"), "it raised KeyError"),
        (SystemExit(1), "it raised SystemExit"),
        (refused, "it raised CancelledError"),
        (never, "it did not return within 0.01 seconds"),
        ("a string", "it returned str, not an Authorization with a token"),
        (AuthorizationRequiredError("acme", authorization_id=7), "it raised AuthorizationRequiredError"),  # type: ignore[arg-type]
        (Authorization(7), "it returned Authorization, not an Authorization with a token"),  # type: ignore[arg-type]
    ],
    ids=["raises", "exits", "cancels", "hangs", "string", "invalid error", "number"],
)
async def test_a_source_that_fails_is_logged_and_the_next_one_is_used(
    answer: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosting(Source(answer), Source(Authorization("next")), token_seconds=0.01) as host:
        assert await token(host) == "next"
        assert f"the token source a failed for work: {reason}" in caplog.text
    async with hosting(Source(answer), token_seconds=0.01) as host:
        error = await missing(host)
    assert (error.status, error.can_retry) == ("failed", True)
    assert "none could be obtained just now" in error.message
    assert "canary" not in error.message


async def test_a_call_that_is_cancelled_meanwhile_ends() -> None:
    waiting = Waiting()
    async with hosting(Source(waiting), Source(Authorization("next"))) as host:
        await cancel(call(host, "work", {"number": 1}), waiting)


async def test_without_a_token_nothing_runs_not_even_the_check_of_arguments(caplog: pytest.LogCaptureFixture) -> None:
    async with hosting(Source(None), Source(Authorization("")), user="ann") as host:
        error = await missing(host)
        assert (await failure(host, "work", {"wrong": 1})).error.message == error.message
        assert isinstance((await failure(host, "outer")).error, AuthorizationRequiredError)
    assert error.message == (
        "Authorization required: this tool needs a token of Acme Inc. that allows read, and there is none for you."
    )
    assert str(error.additional_prompt_content).endswith("Tell the user that the operator of this server provides it.")
    assert (error.kind, error.can_retry) == (ErrorKind.TOOL_RUNTIME_CONTEXT_REQUIRED, False)
    assert (error.provider, error.scopes, error.url, error.status) == ("acme", ("read",), None, "not_started")
    assert "work requires a token of acme (scopes: read), and the user 'ann' has none: not_started" in caplog.text


async def test_the_first_source_with_a_url_is_heard_if_no_source_has_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "pegboard")
    wanted = AuthorizationRequiredError("acme", url="https://acme.example/go?state=1", authorization_id="1")
    later = AuthorizationRequiredError("acme", url="https://other.example/")
    async with hosting(Source(KeyError()), Source(wanted), Source(later)) as host:
        error = await missing(host)
    assert error is wanted
    assert error.status == "pending"
    assert [record.levelname for record in caplog.records if "has none: pending" in record.getMessage()] == ["INFO"]
    assert "To allow it, open https://acme.example/go?state=1" in error.message


def test_a_url_must_be_https_or_of_this_machine() -> None:
    for url in ("http://acme.example/", "javascript:alert(1)", "https://a b/", "http://localhost.acme.example/", ""):
        with pytest.raises(ValueError, match="the URL must begin with https://"):
            AuthorizationRequiredError("acme", url=url)
    for url in ("http://localhost:8000/x", "http://127.0.0.1/", "http://[::1]:1/", "https://a.example"):
        assert AuthorizationRequiredError("acme", url=url).url == url


async def test_only_tools_that_require_a_token_see_one() -> None:
    source = Source(Authorization("t"))
    async with hosting(source) as host:
        assert await value(host, "plain", supplied=Supplied(Authorization("canary"))) == [""]
        assert source.requests == []
        outer = await value(host, "outer", supplied=Supplied(Authorization("canary")))
    assert outer == [["t", "t", {}, []], ""]
    assert "canary" not in repr(Call("tools/call", supplied=Supplied(Authorization("canary"))))


async def test_a_function_sees_the_authenticated_caller() -> None:
    ann = Caller("ann", False, frozenset(("b", "a")), "client", 12.5, "https://here.example", {"email": "a@b.example"})
    async with hosting() as host:
        assert await value(host, "who", caller=ann) == ["ann", ["a", "b"], "client", 12.5, "https://here.example"]
        assert await value(host, "who", caller=Caller(trusted=True)) is None
    assert ann.identity == Caller("ann")
    assert Caller(client_id="robot", expires_at=1).identity == Caller(client_id="robot")


@pytest.mark.parametrize("field", [None, "provider", "scopes", "url", "authorization_id", "status"])
async def test_a_tool_may_refuse_its_token_and_an_error_that_cannot_be_sent_is_masked(field: str | None) -> None:
    kit = Toolkit("t", prefix=False)

    @kit.tool
    def work() -> None:
        """Work."""
        error = AuthorizationRequiredError("acme")
        if field:
            setattr(error, field, object())
        raise error

    async with make_host(kit) as host:
        outcome = await failure(host, "work")
    assert isinstance(outcome.error, AuthorizationRequiredError) is (field is None)
    assert (outcome.error_id is None) is (field is None)
