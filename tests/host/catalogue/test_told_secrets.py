"""A definition that would show a declared secret to every client is not served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from pegboard import ToolDefinitionError, Toolkit
from pegboard.plugin import ToolDefinition
from pegboard.types import Call
from tests.host.context.test_context import Store
from tests.host.hosting import make_host, plugin_of, value

SECRET = "tok-7f3a91\"'\\é"
Added = Callable[[Toolkit], object]


def with_default(kit: Toolkit) -> Any:
    @kit.tool
    def told(token: str = SECRET) -> str:
        """Use it."""
        return token

    return told


def with_description(kit: Toolkit) -> Any:
    @kit.tool
    def told(token: Annotated[str, Field(description=f"such as {SECRET}.")]) -> str:
        """Use it."""
        return token

    return told


def in_the_docstring(kit: Toolkit) -> Any:
    return kit.tool(name="told", description=f"Use {SECRET}.")(lambda: 1)


def in_meta(kit: Toolkit) -> Any:
    return kit.tool(name="told", description="Use it.", meta={"x.example/a": [SECRET]})(lambda: 1)


def in_a_uri(kit: Toolkit) -> Any:
    return kit.resource("db://user:token-of-the-database@host")(lambda: "told")


TELLING = {
    with_default: "input_schema.properties.token.default",
    with_description: "input_schema.properties.token.description",
    in_the_docstring: "description",
    in_meta: "meta.x.example/a.0",
    in_a_uri: "uri",
}
STORE = {"store": plugin_of(stores=[Store({"TOKEN": SECRET, "DATABASE": "token-of-the-database", "WORD": "string"})])}


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["TOKEN", "DATABASE", "WORD"])
    def works(text: str = "") -> str:
        """Say a string of text."""
        return "it works"

    return kit


@pytest.mark.parametrize(("add", "where"), TELLING.items(), ids=lambda one: getattr(one, "__name__", None))
async def test_it_is_refused_with_the_place_and_the_name_of_the_secret(add: Added, where: str) -> None:
    kit = make_kit()
    add(kit)
    async with make_host(kit, plugins=STORE) as host:
        (problem,) = host.problems
        listed = [str((await host.dispatch(Call(method))).items) for method in ("tools/list", "resources/list")]  # type: ignore[union-attr]  # lists
        assert await value(host, "x_works") == "it works"
    name = "DATABASE" if add is in_a_uri else "TOKEN"
    assert f"its {where} holds the value of the secret {name}, which clients would see" in str(problem)
    assert SECRET not in f"{problem} {listed}"
    assert "told" not in str(listed)


async def test_it_cannot_be_added_while_the_host_runs() -> None:
    async with make_host(make_kit(), plugins=STORE) as host:
        with pytest.raises(ToolDefinitionError, match="the value of the secret TOKEN"):
            host.catalogue.add(ToolDefinition(lambda: 1, name="told", description=f"Use {SECRET}."))


async def test_a_word_of_schemas_is_not_found_by_chance() -> None:
    async with make_host(make_kit(), plugins=STORE) as host:
        assert await value(host, "x_works", {"text": "a"}) == "it works"
