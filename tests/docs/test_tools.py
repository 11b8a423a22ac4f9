"""What docs/tools.md shows is what happens, and its lists have every option that there is, each with a meaning and
an example that works."""

from __future__ import annotations

import re
from typing import Any

import pytest

import pegboard
from pegboard import PluginConfig, Toolkit
from pegboard.plugin import ErrorAdapter, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types import options as contracts
from pegboard_plugins.auth.auth_providers import AuthProvidersPlugin, GitHub
from tests.docs.pages import Page
from tests.host.hosting import make_host
from tools.reference import Option, options

PAGE = Page("docs/tools.md")

KINDS: dict[str, Any] = {
    "ToolOptions": ToolDefinition,
    "ResourceOptions": ResourceDefinition,
    "PromptOptions": PromptDefinition,
}
OF_PLUGINS = {"toolkit", "raw", "place", "subscribed"}
"""Attributes for the items of other servers, which docs/dynamic-tools.md describes."""

OPTIONS = [pytest.param(kind, option, id=f"{kind}-{option.name}") for kind in KINDS for option in options(kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_list_has_every_option_and_no_other(kind: str) -> None:
    """`ui` is a value for an extension. Decorators set the function and the URI, and only plugins set `OF_PLUGINS`."""
    fields = set(KINDS[kind]._fields) - {"function", "uri"} - OF_PLUGINS
    known = fields | ({"ui"} if "extensions" in fields else set())
    assert set(getattr(contracts, kind).__annotations__) == known
    if kind != "ToolOptions":
        known -= set(contracts.CommonOptions.__annotations__)
    table = PAGE.partition(f"<!-- options: {kind} -->\n")[2].partition("<!-- end -->")[0]
    assert set(re.findall(r"^- `(\w+)", table, re.M)) == known


class Settings(PluginConfig):
    write: bool = True


class DiceErrors(ErrorAdapter):
    slug = "dice"

    def from_exception(self, error: Exception) -> None:
        return None


NAMES = {name: getattr(pegboard, name) for name in pegboard.__all__} | {"DiceErrors": DiceErrors, "GitHub": GitHub}
"""What examples may speak of."""

URIS = {"ui": "ui://dice/table.html", "completions": "dice://{game}"}
"""What is decorated in the examples of resources, where it is not dice://all."""


def rolled(sides: int = 6, game: str = "go") -> list[int]:
    """Roll."""
    return []


def read() -> str:
    """Read."""
    return ""


def read_one(game: str) -> str:
    """Read one."""
    return game


@pytest.mark.parametrize(("kind", "option"), OPTIONS)
async def test_the_example_of_an_option_works(kind: str, option: Option) -> None:
    assert option.meaning.endswith(".")
    assert option.example.startswith(f"{option.name}=")
    kit = Toolkit("dice", config=Settings)
    names = NAMES | {"kit": kit}
    if kind == "ResourceOptions":
        uri = URIS.get(option.name, "dice://all")
        eval(f"kit.resource({uri!r}, {option.example})", names)(read_one if "{" in uri else read)
    else:
        eval(f"kit.{kind.removesuffix('Options').lower()}({option.example})", names)(rolled)
    registered: list[Any] = [*kit.register_tools()]
    registered += [*kit.register_resources(), *kit.register_prompts()]
    (definition,) = registered
    assert getattr(definition, "extensions" if option.name == "ui" else option.name) not in (None, (), False, {})
    plugins = {"providers": AuthProvidersPlugin}
    async with make_host(kit, plugins=plugins, config={"toolkits": {"dice": {"write": True}}}) as host:
        assert [str(problem) for problem in host.problems if problem.level == "error"] == []
        assert [*host.assembly.tools, *host.assembly.resources, *host.assembly.prompts]


@pytest.mark.parametrize(
    ("file", "tools"),
    [
        ("anywhere.py", ["shop_total"]),
        ("mail.py", ["mail_delete_message"]),
        ("grown_old.py", ["games_roll", "games_roll_dice"]),
    ],
)
def test_the_tools_of_a_file_are_served(file: str, tools: list[str]) -> None:
    kits = [member for member in vars(PAGE.module(file)).values() if isinstance(member, Toolkit)]
    host = make_host(*kits)
    assert set(tools) <= host.load().tools.keys()
    assert host.problems == ()
