"""The closest tool in the error for an unknown tool."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from pegboard import Toolkit
from pegboard.catalogue import similar_tools
from pegboard.middleware.gate import Gate
from pegboard.names import words
from pegboard.types import ANONYMOUS, Call, Caller, CallNext, ItemKind, Outcome
from tests.host.hosting import failure, make_host, plugin_of

NAMES = ("github_list_issues", "github_create_issue", "github_list_repos", "github_delete_repo", "math_add")


class Hiding(Gate):
    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return name != "github_list_repos"


class Broken(Gate):
    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        raise RuntimeError


def kit() -> Toolkit:
    kit = Toolkit("kit", prefix=False)
    for name in NAMES:
        scopes = ["delete"] if "delete" in name else []
        kit.tool(name=name, description="x", scopes=scopes)(lambda: "x")
    return kit


async def suggestion(name: str, page_size: int = 50, **plugins: Any) -> str:
    async with make_host(kit(), plugins=plugins, page_size=page_size) as host:
        failed = await failure(host, name, caller=ANONYMOUS)
    head, _, hint = failed.error.message.partition("; did you mean ")
    assert head == f"Unknown tool: {name}"
    return hint.strip("'?")


@pytest.mark.parametrize("page_size", [1, 50])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("github_lst_isues", "github_list_issues"),
        ("GitHub.ListIssues", "github_list_issues"),
        ("github_create_issues", "github_create_issue"),
        ("add", "math_add"),
        ("mcp__calculator__math_add", "math_add"),
        # another verb is another tool
        ("github_delete_issue", ""),
        ("github_update_repo", ""),
        # tools that the caller may not list
        ("github_delete_repo", ""),
        ("github_delete_rep", ""),
        ("", ""),
        ("x" * 10_000, ""),
    ],
)
async def test_the_closest_tool_is_named(name: str, expected: str, page_size: int) -> None:
    assert await suggestion(name, page_size) == expected


async def test_the_error_for_a_hidden_tool_is_the_error_for_a_missing_one() -> None:
    hiding = plugin_of(middleware=(Hiding(),))
    assert await suggestion("github_list_repo") == "github_list_repos"
    for name in ("github_list_repo", "github_list_repos"):
        assert await suggestion(name, hiding=hiding) == ""
    # the name of a hidden tool is close to another tool too
    assert await suggestion("github_list_issue", hiding=hiding) == "github_list_issues"


async def test_a_list_that_fails_does_not_replace_the_error() -> None:
    assert await suggestion("add", broken=plugin_of(middleware=(Broken(),))) == ""


def test_few_names_of_a_large_catalogue_are_compared_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = Mock(side_effect=words)
    monkeypatch.setattr(similar_tools, "words", compare)
    names = [f"shop_{'item' * 10}{number:04}" for number in range(2_000)]
    assert similar_tools.closest_tool(f"shop_{'item' * 9}iten1234", names) == names[1234]
    assert compare.call_count <= similar_tools.MAX_SIMILAR_TOOLS + 1
