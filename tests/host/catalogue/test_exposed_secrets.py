"""A definition that shows a declared secret to clients is not served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from pegboard import ToolDefinitionError, Toolkit
from pegboard.plugin import ToolDefinition
from tests.host.context.test_requirements import Store
from tests.host.hosting import make_host, plugin_of, value

SECRET = "tok-7f3a91\"'\\é"
DATABASE = "token-of-the-database"
STORE = {"store": plugin_of(stores=[Store({"TOKEN": SECRET, "DATABASE": DATABASE, "WORD": "string"})])}


def with_default(token: Annotated[str, Field(description="the token")] = SECRET) -> str:
    """Use it."""
    return token


def plain() -> None:
    """Do nothing."""


EXPOSING: dict[str, Callable[[Toolkit], Any]] = {
    "input_schema.properties.token.default": lambda kit: kit.tool(name="exposing")(with_default),
    "description": lambda kit: kit.tool(name="exposing", description=f"Use {SECRET}.")(plain),
    "meta.x.example/a.0": lambda kit: kit.tool(name="exposing", meta={"x.example/a": [SECRET]})(plain),
    "uri": lambda kit: kit.resource(f"db://user:{DATABASE}@host", name="exposing")(plain),
}


@pytest.mark.parametrize("where", EXPOSING)
async def test_it_is_refused_with_the_place_and_the_name_of_the_secret(where: str) -> None:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["TOKEN", "DATABASE", "WORD"])
    def works(text: str = "") -> str:
        """Say a string of text."""
        return "it works"

    EXPOSING[where](kit)
    async with make_host(kit, plugins=STORE) as host:
        (problem,) = host.problems
        assert [*host.assembly.tools, *host.assembly.resources] == ["x_works"]
        assert await value(host, "x_works", {"text": "a"}) == "it works"  # "string" is a word of every schema
        with pytest.raises(ToolDefinitionError, match="the value of the secret TOKEN"):
            host.catalogue.add(ToolDefinition(lambda: 1, name="added", description=f"Use {SECRET}."))
    name = "DATABASE" if where == "uri" else "TOKEN"
    assert f"its {where} shows the value of the secret {name} to clients" in str(problem)
    assert SECRET not in str(problem)
