"""What the settings ask for: what adds up, who finds what, and what is told to whom (row C-15); in the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pegboard import Host, NotFoundError, Toolkit
from pegboard.catalogue import filtered_lists
from pegboard.plugin import InsufficientScopeError, Method, Plugin, hookimpl
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, Failure, Listing, MethodResult, Outcome, Supplied
from pegboard_plugins.scopes import ScopesConfig, ScopesPlugin, _rules
from tests.host.hosting import make_host, plugin_of
from tests.plugins.scopes.docs_kit import make_kit

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


class Jobs(Plugin):
    @hookimpl
    def register_methods(self) -> Iterable[Any]:
        return [Method("jobs/get", answer)]


def host_of(settings: Mapping[str, Any] = EVERYTHING, *kits: Toolkit, **more: Any) -> Host:
    plugins = {"asks": ScopesPlugin, "jobs": Jobs, **more.pop("plugins", {})}
    return make_host(
        *(kits or (make_kit(), make_kit("other"))), plugins=plugins, config={"plugins": {"asks": settings}}
    )


def ann(scopes: str = "") -> Caller:
    return Caller("ann", scopes=frozenset(scopes.split()))


def tool(name: str, **arguments: Any) -> Call:
    return Call("tools/call", {"name": name, "arguments": arguments})


def resource(uri: str) -> Call:
    return Call("resources/read", {"uri": uri})


def completion(kind: str, name: str, argument: str) -> Call:
    reference = {"type": f"ref/{kind}", ("name" if kind == "prompt" else "uri"): name}
    return Call("completion/complete", {"ref": reference, "argument": {"name": argument, "value": "a"}})


PROMPT = Call("prompts/get", {"name": "docs_ask", "arguments": {"what": "x"}})
NEEDS: dict[str, tuple[Call, str]] = {
    "tool": (tool("docs_read"), "m docs t"),
    "tool by name": (tool("docs_write"), "m docs t w1 w2 own"),
    "tool of another": (tool("other_read"), "m"),
    "own scopes alone": (tool("other_write"), "m own"),
    "resource": (resource("docs://plain"), "r docs"),
    "resource by name": (resource("docs://secret"), "r docs s"),
    "resource of another": (resource("other://plain"), "r"),
    "template": (resource("docs://of/me"), "r docs of"),
    "template by value": (resource("docs://of/xy"), "r docs of x"),
    "template by value, encoded": (resource("docs://of/%78y"), "r docs of x"),
    "prompt": (PROMPT, "docs g p"),
    "completion": (completion("prompt", "docs_ask", "what"), "docs g p typing"),
    "completion of a template": (completion("resource", "docs://of/{name}", "name"), "r docs of typing"),
    "method of a plugin": (Call("jobs/get"), "jobs"),
    "method of a plugin with a reference": (
        Call("jobs/get", {"ref": {"type": "ref/prompt", "name": "docs_ask"}}),
        "jobs",
    ),
}


async def refused(host: Host, call: Call) -> InsufficientScopeError:
    outcome = await host.dispatch(call)
    assert isinstance(outcome, Failure), outcome
    assert isinstance(outcome.error, InsufficientScopeError), outcome
    return outcome.error


@pytest.mark.parametrize(("call", "needed"), NEEDS.values(), ids=NEEDS)
async def test_what_fits_adds_up_and_the_refusal_names_it_all(call: Call, needed: str) -> None:
    scopes = needed.split()
    async with host_of() as host:
        for missing in (*scopes, None):
            given = " ".join(one for one in scopes if one != missing) + " beside"
            if missing is not None:
                error = await refused(host, call._replace(caller=ann(given)))
                assert error.scopes == tuple(sorted(scopes))
            else:
                assert not isinstance(await host.dispatch(call._replace(caller=ann(given))), Failure)
        assert (await refused(host, call._replace(caller=ann()))).scopes == tuple(sorted(scopes))


@pytest.mark.parametrize("call", [call for call, _ in NEEDS.values()], ids=list(NEEDS))
async def test_this_machines_user_and_the_worker_pass(call: Call) -> None:
    async with host_of() as host:
        for fields in ({"caller": LOCAL}, {"caller": Caller(client_id="worker"), "supplied": Supplied()}):
            assert not isinstance(await host.dispatch(call._replace(**fields)), Failure)


@pytest.mark.parametrize("call", [call for call, _ in NEEDS.values()][:-2], ids=list(NEEDS)[:-2])
async def test_for_callers_that_nobody_knows_it_is_not_there(call: Call) -> None:
    async with host_of() as host:
        outcome = await host.dispatch(call._replace(caller=ANONYMOUS))
    assert isinstance(outcome, Failure)
    expected = InsufficientScopeError if call.method == "completion/complete" else NotFoundError
    assert isinstance(outcome.error, expected)


async def test_tools_that_tools_call_need_what_they_need_of_anybody() -> None:
    """It is the failure of the tool that calls, which had begun its work."""
    cases = [
        (tool("docs_both"), "m docs t", "own w1 w2", "docs, m, own, t, w1, w2", "written"),
        (tool("other_show", uri="docs://secret"), "m r docs", "s", "docs, r, s", "hush"),
    ]
    async with host_of() as host:
        for call, scopes, more, needed, text in cases:
            outcome = await host.dispatch(call._replace(caller=ann(scopes)))
            assert isinstance(outcome, Failure)
            assert outcome.error.message == f"This needs a token that allows: {needed}."
            done: Any = await host.dispatch(call._replace(caller=ann(f"{scopes} {more}")))
            assert done.value == text


async def test_what_is_not_there_is_not_there() -> None:
    """Whatever would fit its name; and what answers nothing needs nothing."""
    async with host_of() as host:
        for call in (tool("docs_none"), resource("docs://none"), Call("prompts/get", {"name": "x_ask"})):
            outcome = await host.dispatch(call._replace(caller=ann()))
            assert isinstance(outcome, Failure)
            assert isinstance(outcome.error, NotFoundError)
        for reference in (None, 1, {"type": "ref/prompt", "name": 5}, {"type": "ref/prompt", "name": "none"}):
            error = await refused(host, Call("completion/complete", {"ref": reference}, ann()))
            assert error.scopes == ("typing",)
        for params in ({}, {"name": 5}, {"uri": None}, {"ref": 1}, {"ref": {"type": "ref/prompt"}}):
            for method in ("tools/call", "resources/read", "prompts/get", "completion/complete"):
                assert isinstance(await host.dispatch(Call(method, params, ann("typing"))), Failure)


async def test_what_comes_later_is_guarded_before_it_can_be_called() -> None:
    async with host_of({"toolkits": {"program": ["p"]}, "tools": {"late*": ["l"]}}) as host:
        for name in ("late", "later"):

            def late() -> str:
                """Come late."""
                return "late"

            late.__name__ = name
            host.catalogue.add(late)
            assert (await refused(host, tool(name)._replace(caller=ann()))).scopes == ("l", "p")
            assert await listed(host, "tools", ann("l")) == await listed(host, "tools", ann())
            assert name in await listed(host, "tools", ann("l p"))
            host.catalogue.remove("tools", name)
            outcome = await host.dispatch(tool(name)._replace(caller=ann()))
            assert isinstance(outcome, Failure)
            assert outcome.error.message == f"Unknown tool: {name}"


# --- lists

METHODS = {"tools": "tools/list", "resources": "resources/list", "templates": "resources/templates/list"}


async def listed(host: Host, kind: str, caller: Caller, **fields: Any) -> list[str]:
    listing = await host.dispatch(Call(METHODS.get(kind, "prompts/list"), caller=caller, **fields))
    assert isinstance(listing, Listing)
    assert listing.private
    return [getattr(one, "uri", None) or getattr(one, "uri_template", None) or one.name for one in listing.items]


OTHERS = "other_both other_read other_show"
FOUND: dict[str, tuple[str, dict[str, str]]] = {
    "nothing": ("", {"tools": "", "resources": "", "templates": "", "prompts": ""}),
    "methods": (
        "m r",
        {"tools": OTHERS, "resources": "other://plain other://secret", "templates": "other://of/{name}", "prompts": ""},
    ),
    "a toolkit": (
        "m r g t p docs",
        {
            "tools": "docs_both docs_read docs_show " + OTHERS,
            "resources": "docs://plain other://plain other://secret",
            "templates": "other://of/{name}",
            "prompts": "docs_ask other_ask",
        },
    ),
    "more": (
        "m r docs t own w1 w2 s of",
        {
            "tools": "docs_both docs_read docs_show docs_write other_both other_read other_show other_write",
            "resources": "docs://plain docs://secret other://plain other://secret",
            "templates": "docs://of/{name} other://of/{name}",
            "prompts": "",
        },
    ),
}


@pytest.mark.parametrize(("scopes", "found"), FOUND.values(), ids=FOUND)
async def test_what_a_caller_may_not_use_is_not_listed(scopes: str, found: dict[str, str]) -> None:
    async with host_of() as host:
        for kind, names in found.items():
            assert await listed(host, kind, ann(scopes)) == names.split()
            assert await listed(host, kind, ann(scopes + " other")) == names.split()


async def test_this_machines_user_and_the_worker_find_all() -> None:
    async with host_of() as host:
        for kind, number in {"tools": 8, "resources": 4, "templates": 2, "prompts": 2}.items():
            assert len(await listed(host, kind, LOCAL)) == number
            assert await listed(host, kind, Caller(client_id="worker")) == []
            assert len(await listed(host, kind, Caller(client_id="worker"), supplied=Supplied())) == number
            assert await listed(host, kind, ANONYMOUS) == []
        assert [host.tool("docs_write", caller) is not None for caller in (LOCAL, ann("m own docs t"))] == [True, False]


async def test_thousands_of_callers_share_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[Any] = Counter()
    make = filtered_lists.FilteredList._make

    async def counted(view: filtered_lists.FilteredList, key: Any, asked: Call) -> Any:
        made[key] += 1
        return await make(view, key, asked)

    monkeypatch.setattr(filtered_lists.FilteredList, "_make", counted)
    async with host_of() as host:
        for number in range(2000):
            caller = Caller(f"user {number}", scopes=frozenset(["m", f"own-{number}"]), extra={"jti": number})
            assert await listed(host, "tools", caller) == OTHERS.split()
    assert sum(made.values()) == 1


async def test_a_gate_beside_it_hides_what_it_hides() -> None:
    from pegboard.plugin import Gate

    class Closed(Gate):
        def allows(self, kind: Any, name: str, caller: Caller) -> bool:
            return name != "other_read"

    async with host_of(plugins={"closed": plugin_of(middleware=[Closed()])}) as host:
        assert await listed(host, "tools", ann("m")) == ["other_both", "other_show"]


# --- settings

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "two in one": ({"tools": {"a": ["a b"]}}, "'a' names 'a b', which is no scope"),
    "quoted": ({"toolkits": {"a": ['"']}}, "which is no scope"),
    "none": ({"prompts": {"a": []}}, "'a' names no scope"),
    "empty": ({"prompts": {"a": ""}}, "'a' names no scope"),
    "number": ({"resources": {"a": 5}}, "tuple"),
    "key": ({"tool": {}}, "Extra inputs"),
    "ping": ({"methods": {"ping": ["a"]}}, "ping cannot be guarded: name it under required_scopes"),
    "level": ({"methods": {"logging/setLevel": ["a"]}}, "logging/setLevel cannot be guarded"),
    "unsubscribe": ({"methods": {"resources/unsubscribe": ["a"]}}, "guard resources/read \\["),
    "lists": ({"methods": {"tools/list": ["a"]}}, "tools/list cannot be guarded: .* guard tools/call \\["),
    "templates": ({"methods": {"resources/templates/list": ["a"]}}, "guard resources/read \\["),
    "resources": ({"methods": {"resources/list": ["a"]}}, "guard resources/read \\["),
    "prompts": ({"methods": {"prompts/list": ["a"]}}, "guard prompts/get \\["),
    "listen": ({"methods": {"subscriptions/listen": ["a"]}}, "guard resources/read \\["),
    "subscribe": ({"methods": {"resources/subscribe": ["a"]}}, "guard resources/read \\["),
    "notifications": ({"methods": {"notifications/progress": ["a"]}}, "nothing answers a notification"),
}


@pytest.mark.parametrize(("settings", "told"), WRONG.values(), ids=WRONG)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ScopesConfig.model_validate(settings)


def test_several_scopes_may_be_one_text() -> None:
    assert ScopesConfig.model_validate({"tools": {"a": "b c"}}).tools == {"a": ("b", "c")}


UNFIT: dict[str, tuple[dict[str, Any], str | None]] = {
    "toolkit": ({"toolkits": {"doc": ["a"]}}, "toolkits: 'doc' is the name of no toolkit; did you mean 'docs'?"),
    "tool": (
        {"tools": {"docs_wriet": ["a"]}},
        "tools: 'docs_wriet' is the name of no tool; did you mean 'docs_write'?",
    ),
    "pattern": ({"tools": {"zzz*": ["a"]}}, "tools: 'zzz*' is the name of no tool"),
    "resource": ({"resources": {"docs://sec": ["a"]}}, "is the name of no resource; did you mean 'docs://secret'?"),
    "prompt": (
        {"prompts": {"docs_aks": ["a"]}},
        "prompts: 'docs_aks' is the name of no prompt; did you mean 'docs_ask'?",
    ),
    "method": ({"methods": {"job/get": ["a"]}}, "no such method; did you mean 'jobs/get'?"),
    "value of a template": ({"resources": {"docs://of/x*": ["a"]}}, None),
    "all that fit": (EVERYTHING, None),
}


@pytest.mark.parametrize(("settings", "told"), UNFIT.values(), ids=UNFIT)
async def test_names_that_fit_nothing_are_warned_of(settings: dict[str, Any], told: str | None) -> None:
    async with host_of(settings) as host:
        problems = [one for one in host.problems if "asks" in str(one)]
        assert [one.level for one in problems] == ([] if told is None else ["warning"])
        assert told is None or str(problems[0]).endswith(told)


def by_hand(pattern: str, name: str) -> bool:
    """Whether a pattern fits, tried in every way there is."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(by_hand(pattern[1:], name[place:]) for place in range(len(name) + 1))
    return name[:1] == pattern[0] and by_hand(pattern[1:], name[1:])


@given(st.text("ab*", max_size=8), st.text("ab?[", max_size=8))
def test_a_star_is_any_text_and_nothing_else_is_special(pattern: str, name: str) -> None:
    assert _rules({pattern: ("a",)})[0].fits(name) == by_hand(pattern, name)
