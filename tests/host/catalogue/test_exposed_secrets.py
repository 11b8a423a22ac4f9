"""A definition that shows a declared secret to clients is not served."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated

import pytest
from pydantic import Field

from pegboard import ToolDefinitionError, Toolkit
from pegboard.plugin import ToolDefinition
from pegboard.secrets.leaks import may_show
from pegboard.types import Tool
from tests.host.context.test_requirements import Store
from tests.host.hosting import make_host, plugin_of, value, work

SECRET = "tok-7f3a91\"'\\é"
DATABASE = "token-of-the-database"
PIN = "7305519"
STORE = {"store": plugin_of(stores=[Store({"TOKEN": SECRET, "DATABASE": DATABASE, "PIN": PIN, "WORD": "string"})])}


def with_default(token: Annotated[str, Field(description="the token")] = SECRET) -> str:
    """Use it."""
    return token


def any_token(token: str = "", **others: str) -> None:
    """Use any."""


async def test_it_is_refused_with_the_place_and_the_name_of_the_secret() -> None:
    kit = Toolkit("x")

    @kit.tool(requires_secrets=["TOKEN", "DATABASE", "PIN", "WORD"])
    def works(string: str = "") -> str:
        """Say a string of text."""
        return "it works"

    kit.tool(name="a")(with_default)
    kit.tool(name="b", description=f"Use {SECRET}.")(work)
    kit.tool(name="c", meta={"x.example/a": [SECRET]})(work)
    kit.tool(name="e", meta={"x.example/b": int(PIN)})(work)
    kit.tool(name="f", meta={"x.example/c": {DATABASE: SECRET}})(work)
    kit.tool(name="g", input_schema={"type": "object", "properties": {DATABASE: {}, "token": {}}})(any_token)
    kit.resource(f"db://user:{DATABASE}@host", name="d")(work)
    shown = [("input_schema.properties.token.default", "TOKEN"), ("description", "TOKEN")]
    shown += [("meta.x.example/a.0", "TOKEN"), ("meta.x.example/b", "PIN"), ("uri", "DATABASE")]
    shown += [("meta", "TOKEN"), ("input_schema.properties", "DATABASE")]
    async with make_host(kit, plugins=STORE) as host:
        assert [*host.assembly.tools, *host.assembly.resources] == ["x_works"]
        assert await value(host, "x_works", {"string": "a"}) == "it works"  # "string" is a word of every schema
        with pytest.raises(ToolDefinitionError, match="the value of the secret TOKEN"):
            host.catalogue.add(ToolDefinition(lambda: 1, name="added", description=f"Use {SECRET}."))
        text = "\n".join(map(str, host.problems))
    for place, name in shown:
        assert f"its {place} shows the value of the secret {name} to clients" in text
    assert SECRET not in text
    assert DATABASE not in text


@pytest.mark.parametrize(
    ("text", "secret", "expected"),
    [
        ("the cup", "the token", False),
        ("the \\ token\n", "\\ token\n", True),
        ("the tok", "tok", False),  # too short to search for
        ("the cup", "token\udcff", True),  # JSON cannot express it, so each definition is searched
    ],
)
def test_all_definitions_are_searched_at_once(text: str, secret: str, *, expected: bool) -> None:
    meta = {"a": MappingProxyType({"b": [text]})}
    shown = [Tool("cup", "Find a cup.", {}, owner="shop", meta=meta, definition=ToolDefinition(work))]
    assert may_show(shown, {"TOKEN": secret}) is expected
