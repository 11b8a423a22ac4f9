"""Authorization that a tool may require, and its description for clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.plugin import Plugin, hookimpl
from pegboard.types import ANONYMOUS, AuthProvider, Call, Caller, Listing, ToolAuthorization
from tests.host.hosting import make_host


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


class Nameless(ToolAuthorization):
    provider = AuthProvider(None, "Whoever")


def describing(*providers: AuthProvider) -> type[Plugin]:
    class Describing(Plugin):
        @hookimpl
        def register_auth_providers(self) -> Iterable[AuthProvider]:
            return providers

    return Describing


KNOWN = {"known": describing(Acme.provider, Nameless.provider)}


def kit_of(**options: Any) -> Toolkit:
    """A tool with these options, and one beside it without."""
    kit = Toolkit("t", prefix=False)

    def work() -> None:
        """Work."""

    kit.tool(name="guarded", **options)(work)
    kit.tool(name="open")(work)
    return kit


async def told(plugins: Any = None, **options: Any) -> str:
    """The problem with a tool, which costs that tool alone."""
    async with make_host(kit_of(**options), plugins=KNOWN if plugins is None else plugins) as host:
        assert set(host.assembly.tools) == {"open"}
        (problem,) = host.assembly.problems
    return str(problem)


# --- objects of a provider's class


def test_requirements_are_frozen_and_comparable() -> None:
    one = Acme(scopes=["a", "b"])
    assert (one.provider_id, one.provider_type, one.id, one.scopes) == ("acme", "oauth2", None, ("a", "b"))
    assert one == Acme(scopes=("a", "b"))
    assert len({one, Acme(scopes=["a", "b"]), Acme(scopes=["a"]), Acme(id="x", scopes=["a", "b"])}) == 3
    assert one != Nameless(scopes=["a", "b"])
    assert one != "acme"
    assert repr(one) == "Acme(id=None, scopes=['a', 'b'])"
    for name in ("scopes", "more"):
        with pytest.raises(AttributeError, match="Acme is frozen"):
            setattr(one, name, ())
    with pytest.raises(AttributeError, match="Acme is frozen"):
        del one.id


def test_one_text_is_one_scope() -> None:
    assert Acme(scopes="repo").scopes == ("repo",)
    assert Acme().scopes == ()


# --- definitions


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"requires_auth": Acme}, "its requires_auth is the class Acme: use an object, such as Acme()"),
        ({"requires_auth": "acme"}, "its requires_auth is 'acme', not an object of a provider's class"),
        ({"requires_auth": ToolAuthorization()}, "not an object of a provider's class"),
        ({"requires_auth": Acme.provider}, "not an object of a provider's class"),
        ({"requires_auth": Nameless()}, "its requires_auth, Nameless, has no id"),
        ({"requires_auth": Nameless(id=" ")}, "its requires_auth, Nameless, has no id"),
        ({"requires_auth": Acme(scopes=["", "a"])}, "Acme, has the invalid scope ''"),
        ({"requires_auth": Acme(scopes="a b")}, "the invalid scope 'a b': list scopes separately (RFC 6749)"),
        ({"requires_auth": Acme(scopes=[1])}, "the invalid scope 1"),  # type: ignore[list-item]
        ({"scopes": ["a", "with\nbreak"]}, "it has the invalid scope 'with\\nbreak'"),
        ({"scopes": [""]}, "it has the invalid scope ''"),
    ],
)
async def test_an_invalid_requirement_disables_only_its_tool(options: Any, reason: str) -> None:
    assert reason in await told(**options)


async def test_a_provider_that_nobody_describes_costs_the_tool() -> None:
    class Acne(ToolAuthorization):
        provider = AuthProvider("acne", "Acne")

    text = await told(requires_auth=Acne())
    assert "it requires authorization by 'acne', which no running plugin describes; did you mean 'acme'?" in text
    assert "'Whoever', which no running plugin" in await told(plugins={}, requires_auth=Nameless(id="x"))


async def test_a_provider_that_two_describe_holds_for_neither() -> None:
    plugins = {"one": describing(Acme.provider), "two": describing(Acme.provider._replace(title="Other"))}
    async with make_host(kit_of(requires_auth=Acme()), plugins=plugins) as host:
        assert set(host.assembly.tools) == {"open"}
        texts = [str(problem) for problem in host.assembly.problems]
    assert any("'acme' is described by plugin 'one' and plugin 'two': disable all but one" in text for text in texts)


async def test_a_tool_that_is_added_later_is_held_to_the_same() -> None:
    kit = kit_of(requires_auth=Acme())
    async with make_host(plugins=KNOWN) as host:
        host.catalogue.add(*kit.register_tools())
        assert set(host.assembly.tools) == {"guarded", "open"}
    async with make_host() as host:
        with pytest.raises(Exception, match="which no running plugin describes"):
            host.catalogue.add(*kit.register_tools())


# --- what clients see


async def listed(caller: Caller, **options: Any) -> dict[str, Any]:
    async with make_host(kit_of(**options), plugins=KNOWN) as host:
        outcome = await host.dispatch(Call("tools/list", caller=caller))
    assert isinstance(outcome, Listing)
    return {tool.name: tool.meta for tool in outcome.items}


async def test_clients_are_told_what_is_required_but_for_secrets() -> None:
    options = {"requires_auth": Acme(id="mine", scopes=["a"]), "scopes": ["work"], "requires_secrets": ["KEY"]}
    told = {
        "authorization": {"provider": "acme", "type": "oauth2", "id": "mine", "scopes": ["a"]},
        "scopes": ["work"],
    }
    ann = Caller("ann", scopes=frozenset(["work"]))
    found = await listed(ann, meta={"com.example/team": "x"}, **options)
    assert found == {"guarded": {"com.example/team": "x", "pegboard/requirements": told}, "open": None}


@pytest.mark.parametrize(
    ("options", "seen"),
    [({"requires_auth": Acme()}, ["guarded", "open"]), ({"scopes": ["work"]}, ["open"])],
    ids=["token", "scopes"],
)
async def test_strangers_see_no_tool_that_requires_scopes(options: Any, seen: list[str]) -> None:
    assert list(await listed(ANONYMOUS, **options)) == seen
    assert list(await listed(Caller(trusted=True), **options)) == ["guarded", "open"]
    assert list(await listed(Caller("ann", scopes=frozenset(["work"])), **options)) == ["guarded", "open"]


async def test_the_hosts_own_keys_are_not_for_authors() -> None:
    assert "the key 'pegboard/requirements' is reserved" in await told(meta={"pegboard/requirements": {}})
