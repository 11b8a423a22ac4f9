"""Rules of scopes: matches, lists and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pegboard import Host, InsufficientScopeError, NotFoundError
from pegboard.plugin import Method
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, Failure, MethodResult, Outcome, Supplied
from pegboard_plugins.auth.scopes import ScopesConfig, ScopesPlugin, _rules
from tests.host.hosting import listed, make_host, pages, plugin_of
from tests.plugins.auth.scopes.docs_kit import make_kit

EVERYTHING: dict[str, Any] = {
    "methods": {
        "tools/call": ["m"],
        "resources/read": ["r"],
        "prompts/get": ["g"],
        "completion/complete": ["typing"],
        "jobs/get": ["jobs"],
    },
    "toolkits": {"docs": ["docs"]},
    "tools": {"docs_*": ["t"], "docs_write": ["w1", "w2"]},
    "resources": {"docs://secret": ["s"], "docs://of/{name}": ["of"], "docs://of/x*": ["x"]},
    "prompts": {"*_ask": ["p"]},
}


async def answer(call: Call) -> Outcome:
    return MethodResult({"done": True})


def host_of(settings: Mapping[str, Any] = EVERYTHING) -> Host:
    plugins = {"asks": ScopesPlugin, "jobs": plugin_of(register_methods=[Method("jobs/get", answer)])}
    return make_host(make_kit(), make_kit("other"), plugins=plugins, config={"plugins": {"asks": settings}})


def ann(scopes: str = "") -> Caller:
    return Caller("ann", scopes=frozenset(scopes.split()))


def tool(name: str, **arguments: Any) -> Call:
    return Call("tools/call", {"name": name, "arguments": arguments})


def resource(uri: str) -> Call:
    return Call("resources/read", {"uri": uri})


PROMPT = Call("prompts/get", {"name": "docs_ask", "arguments": {"what": "x"}})
TEMPLATE, NAME = {"type": "ref/resource", "uri": "docs://of/{name}"}, {"name": "name", "value": "a"}
NEEDS: dict[str, tuple[Call, str]] = {
    "tool by name": (tool("docs_write"), "m docs t w1 w2 own"),
    "own scopes alone": (tool("other_write"), "m own"),
    "resource by name": (resource("docs://secret"), "r docs s"),
    "template by value, encoded": (resource("docs://of/%78y"), "r docs of x"),
    "prompt": (PROMPT, "docs g p"),
    "completion": (Call("completion/complete", {"ref": TEMPLATE, "argument": NAME}), "r docs of typing"),
    "method of a plugin with a reference": (
        Call("jobs/get", {"ref": {"type": "ref/prompt", "name": "docs_ask"}}),
        "jobs",
    ),
}


async def error_of(host: Host, call: Call) -> Exception:
    outcome = await host.dispatch(call)
    assert isinstance(outcome, Failure), outcome
    return outcome.error


async def refused(host: Host, call: Call) -> InsufficientScopeError:
    error = await error_of(host, call)
    assert isinstance(error, InsufficientScopeError), error
    return error


@pytest.mark.parametrize(("call", "needed"), NEEDS.values(), ids=NEEDS)
async def test_the_scopes_of_all_matching_rules_are_required(call: Call, needed: str) -> None:
    scopes = needed.split()
    worker = {"caller": Caller(client_id="worker"), "supplied": Supplied()}
    async with host_of() as host:
        for missing in scopes:
            granted = " ".join(scope for scope in scopes if scope != missing) + " beside"
            error = await refused(host, call._replace(caller=ann(granted)))
            assert error.scopes == tuple(sorted(scopes))
        for fields in ({"caller": ann(f"{needed} beside")}, {"caller": LOCAL}, worker):
            assert not isinstance(await host.dispatch(call._replace(**fields)), Failure)
        if call.method != "jobs/get":
            expected = InsufficientScopeError if call.method == "completion/complete" else NotFoundError
            assert isinstance(await error_of(host, call._replace(caller=ANONYMOUS)), expected)


async def test_unknown_names_are_unknown_whatever_rule_matches() -> None:
    async with host_of() as host:
        for call in (tool("docs_none"), resource("docs://none"), Call("prompts/get", {"name": "x_ask"})):
            assert isinstance(await error_of(host, call._replace(caller=ann())), NotFoundError)
        for reference in (None, {"type": "ref/prompt", "name": 5}, {"type": "ref/prompt", "name": "none"}):
            error = await refused(host, Call("completion/complete", {"ref": reference}, ann()))
            assert error.scopes == ("typing",)
        for params in ({}, {"name": 5}, {"uri": None}, {"ref": {"type": "ref/prompt"}}):
            for method in ("tools/call", "resources/read", "prompts/get", "completion/complete"):
                await error_of(host, Call(method, params, ann("typing")))


async def test_tools_that_are_added_later_are_guarded_at_once() -> None:
    def late() -> str:
        """Do nothing."""
        return "late"

    async with host_of({"toolkits": {"program": ["p"]}, "tools": {"late*": ["l"]}}) as host:
        for _ in range(2):
            host.catalogue.add(late)
            assert (await refused(host, tool("late")._replace(caller=ann()))).scopes == ("l", "p")
            assert "late" not in await listed(host, ann("l"))
            assert "late" in await listed(host, ann("l p"))
            host.catalogue.remove("tools", "late")
            assert isinstance(await error_of(host, tool("late")._replace(caller=ann())), NotFoundError)


OTHERS = "other_both other_read other_show"
LISTS: dict[str, dict[str, str]] = {
    "": {"tools/list": "", "resources/list": "", "resources/templates/list": "", "prompts/list": ""},
    "m r g t p docs": {
        "tools/list": "docs_both docs_read docs_show " + OTHERS,
        "resources/list": "docs://plain other://plain other://secret",
        "prompts/list": "docs_ask other_ask",
    },
    "m r docs t own w1 w2 s of": {
        "tools/list": "docs_both docs_read docs_show docs_write other_both other_read other_show other_write",
        "resources/list": "docs://plain docs://secret other://plain other://secret",
        "resources/templates/list": "docs://of/{name} other://of/{name}",
    },
}


async def test_lists_show_what_a_caller_may_use() -> None:
    worker = Caller(client_id="worker")
    async with host_of() as host:
        for scopes, expected in LISTS.items():
            for method, names in expected.items():
                assert await listed(host, ann(scopes), method) == names.split()
                assert await listed(host, ann(scopes + " other"), method) == names.split()
        for method, number in zip(LISTS[""], (8, 4, 2, 2), strict=True):
            assert len(await listed(host, LOCAL, method)) == number
            assert len(await listed(host, worker, method, supplied=Supplied())) == number
            assert await listed(host, worker, method) == await listed(host, ANONYMOUS, method) == []
            for caller in (LOCAL, worker, ANONYMOUS, ann("m docs")):
                assert [page.private for page in await pages(host, caller, method)] == [True]
        assert host.for_protocols.tool("docs_write", LOCAL) is not None
        assert host.for_protocols.tool("docs_write", ann("m own docs t")) is None


# --- settings

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tools": {"a": ["a b"]}}, "invalid scope 'a b' of 'a'"),
    ({"prompts": {"a": []}}, "'a' has no scopes"),
    ({"methods": {"ping": ["a"]}}, "ping cannot require scopes: .*use required_scopes"),
    ({"methods": {"tools/list": ["a"]}}, r"tools/list cannot require scopes: .* guard tools/call \["),
    ({"methods": {"notifications/progress": ["a"]}}, "cannot require scopes: .*a notification has no response"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG, ids=str)
def test_invalid_settings(settings: dict[str, Any], message: str) -> None:
    assert ScopesConfig.model_validate({"tools": {"a": "b c"}}).tools == {"a": ("b", "c")}
    with pytest.raises(ValidationError, match=message):
        ScopesConfig.model_validate(settings)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"toolkits": {"doc": ["a"]}}, "toolkits: no toolkit matches 'doc'; did you mean 'docs'?"),
        ({"resources": {"docs://sec": ["a"]}}, "no resource matches 'docs://sec'; did you mean 'docs://secret'?"),
        ({"methods": {"job/get": ["a"]}}, "no such method; did you mean 'jobs/get'?"),
        (EVERYTHING, None),
    ],
)
async def test_rules_that_match_nothing_are_warned_of(settings: dict[str, Any], problem: str | None) -> None:
    async with host_of(settings) as host:
        problems = [problem for problem in host.problems if "asks" in str(problem)]
        assert [problem.level for problem in problems] == ([] if problem is None else ["warning"])
        assert problem is None or str(problems[0]).endswith(problem)


def by_hand(pattern: str, name: str) -> bool:
    """Return True if a pattern matches, by trying every way."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(by_hand(pattern[1:], name[place:]) for place in range(len(name) + 1))
    return name[:1] == pattern[0] and by_hand(pattern[1:], name[1:])


@given(st.text("ab*", max_size=8), st.text("ab?[", max_size=8))
def test_a_star_matches_any_string_and_no_other_character_is_special(pattern: str, name: str) -> None:
    assert _rules({pattern: ("a",)})[0].fits(name) == by_hand(pattern, name)
