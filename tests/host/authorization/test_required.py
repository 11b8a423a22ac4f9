"""Authorization that a tool may require, and its description for clients."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.types import AuthProvider, Caller, ToolAuthorization
from tests.host.hosting import make_host, pages, plugin_of, work


class Acme(ToolAuthorization):
    provider = AuthProvider("acme", "Acme")


class Nameless(ToolAuthorization):
    provider = AuthProvider(None, "Other")


KNOWN = {"known": plugin_of(register_auth_providers=[Acme.provider, Nameless.provider])}
ANN = Caller("ann", scopes=frozenset(["work"]))


def kit_of(**options: Any) -> Toolkit:
    """Return a toolkit with a tool with these options, and one without."""
    kit = Toolkit("t", prefix=False)
    kit.tool(name="guarded", **options)(work)
    kit.tool(name="open")(work)
    return kit


async def problems_of(plugins: Any, **options: Any) -> str:
    """Return the problems with a tool, which is not served."""
    async with make_host(kit_of(**options), plugins=plugins) as host:
        assert set(host.assembly.tools) == {"open"}
        return "\n".join(str(problem) for problem in host.assembly.problems)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"requires_auth": Acme}, "its requires_auth is the class Acme: use an object, such as Acme()"),
        ({"requires_auth": "acme"}, "its requires_auth is 'acme', not an object of a provider's class"),
        ({"requires_auth": ToolAuthorization()}, "not an object of a provider's class"),
        ({"requires_auth": Nameless(id=" ")}, "its requires_auth, Nameless, has no id"),
        ({"requires_auth": Acme(scopes="a b")}, "the invalid scope 'a b': list scopes separately (RFC 6749)"),
        ({"requires_auth": Acme(scopes=[1])}, "the invalid scope 1"),  # type: ignore[list-item]
        ({"scopes": ["a", "with\nbreak"]}, "it has the invalid scope 'with\\nbreak'"),
        ({"scopes": [""]}, "it has the invalid scope ''"),
        ({"meta": {"pegboard/requirements": {}}}, "the key 'pegboard/requirements' is reserved"),
    ],
)
async def test_an_invalid_requirement_disables_only_its_tool(options: Any, reason: str) -> None:
    assert reason in await problems_of(KNOWN, **options)


async def test_a_provider_must_be_described_by_exactly_one_plugin() -> None:
    class Acne(ToolAuthorization):
        provider = AuthProvider("acne", "Acne")

    problem = await problems_of(KNOWN, requires_auth=Acne())
    assert "it requires authorization by 'acne', which no running plugin describes; did you mean 'acme'?" in problem
    titles = {"one": "Acme", "two": "Other"}
    both = {
        name: plugin_of(register_auth_providers=[Acme.provider._replace(title=title)]) for name, title in titles.items()
    }
    problem = await problems_of(both, requires_auth=Acme())
    assert "'acme' is described by plugin 'one' and plugin 'two': disable all but one" in problem


async def metas_of(caller: Caller, **options: Any) -> dict[str, Any]:
    async with make_host(kit_of(**options), plugins=KNOWN) as host:
        (page,) = await pages(host, caller)
    return {tool.name: tool.meta for tool in page.items}


async def test_clients_see_what_a_tool_requires_except_secrets() -> None:
    options = {"requires_auth": Acme(id="mine", scopes=["a"]), "scopes": ["work"], "requires_secrets": ["KEY"]}
    shown = {"authorization": {"provider": "acme", "type": "oauth2", "id": "mine", "scopes": ["a"]}, "scopes": ["work"]}
    metas = await metas_of(ANN, meta={"com.example/team": "x"}, **options)
    assert metas == {"guarded": {"com.example/team": "x", "pegboard/requirements": shown}, "open": None}
