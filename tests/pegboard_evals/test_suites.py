"""Suites: cases, the functions and names of tools, and mistakes of authors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pegboard_evals import (
    BinaryCritic,
    Critic,
    EvalError,
    EvalSuite,
    ExpectedMCPToolCall,
    ExpectedToolCall,
    FuzzyWeight,
    MCPToolDefinition,
    NumericCritic,
    SimilarityCritic,
    ToolCatalog,
    WeightError,
    tool_eval,
)


def add(a: int, b: int = 2) -> int:
    return a + b


def other(a: int) -> int:
    return a


SCHEMA = {"type": "object", "properties": {"a": {}, "c": {"default": 3}}}
SERVED: list[MCPToolDefinition] = [{"name": "kit_add", "inputSchema": SCHEMA}, {"name": "kit_other"}]
FUNCTIONS: dict[str, Callable[..., Any]] = {"kit_add": add, "kit_other": other}


def suite(**options: Any) -> EvalSuite:
    return EvalSuite("suite", "system", **options)


def test_expected_calls_get_the_names_and_defaults_of_their_tools() -> None:
    mixed = suite()
    mixed.add_case("a", "add", [ExpectedToolCall(add, {"a": 1}), (add, {"a": 4}), ExpectedMCPToolCall("Kit.Add")])
    assert mixed.bind(SERVED, FUNCTIONS) == {"": SERVED}
    assert [(call.name, call.args) for call in mixed.cases[0].expected_tool_calls] == [
        ("kit_add", {"a": 1, "b": 2, "c": 3}),
        ("kit_add", {"a": 4, "b": 2, "c": 3}),
        ("kit_add", {"c": 3}),
    ]
    assert [critic.critic_field for critic in mixed.cases[0].critics or ()] == ["a", "b", "c"]


def test_a_case_extends_the_last_one() -> None:
    talk = suite()
    talk.add_case(
        "a", "first", [ExpectedToolCall(add, {"a": 1})], [BinaryCritic("a", 1)], "own", None, [{"role": "user"}]
    )
    talk.extend_case("b", "second", additional_messages=[{"role": "assistant"}])
    talk.extend_case("c", "third", expected_tool_calls=[ExpectedToolCall(add, {"a": 9})])
    last = talk.cases[-1]
    assert [message["role"] for message in last.additional_messages] == ["user", "assistant"]
    assert (last.system_message, last.user_message) == ("own", "third")
    scores = [case.evaluate([("add", {"a": 1, "b": 2})]).score for case in talk.cases]
    assert scores == [1, 1, 0.5]


@pytest.mark.parametrize("by_module", [True, False])
def test_a_catalogue_limits_the_tools(by_module: bool) -> None:
    catalog = ToolCatalog()
    if by_module:
        catalog.add_module(sys.modules[__name__])
    else:
        catalog.add_tool(add, "kit")
    limited = suite(catalog=catalog)
    limited.add_case("a", "add")
    names = [tool["name"] for tool in limited.bind([*SERVED, {"name": "far"}], FUNCTIONS)[""]]
    assert names == (["kit_add", "kit_other"] if by_module else ["kit_add"])


def test_a_case_for_tracks_has_the_tools_and_expectations_of_each() -> None:
    catalog = ToolCatalog()
    catalog.add_tool(add)
    compared = suite().add_tool_definitions([{"name": "far"}], track="A").add_tool_catalog(catalog, track="B")
    expected = [ExpectedMCPToolCall("far")], [ExpectedToolCall(add, {"a": 1})]
    compared.add_comparative_case("sum", "add").for_track("A", expected[0]).for_track("B", expected[1])
    compared.extend_case("more", "add again")
    offered = compared.bind(SERVED, FUNCTIONS)
    assert [(case.name, [tool["name"] for tool in offered[case.track]]) for case in compared.cases] == [
        ("sum [A]", ["far"]),
        ("sum [B]", ["kit_add"]),
        ("more", ["kit_add"]),
    ]
    assert [case.expected_tool_calls[0].name for case in compared.cases] == ["far", "kit_add", "kit_add"]
    assert compared.get_tracks() == ["A", "B"]


def test_a_critic_of_an_author_scores() -> None:
    @dataclass
    class Even(Critic):
        def evaluate(self, expected: Any, actual: Any) -> dict[str, Any]:
            return self.verdict(actual % 2 == 0)

    own = suite()
    own.add_case("a", "add", [ExpectedToolCall(add, {"a": 1})], [Even("a", FuzzyWeight.HIGH), BinaryCritic("b", 0)])
    (case,) = own.cases
    assert [case.evaluate([("add", {"a": value, "b": 2})]).score for value in (4, 3, "x")] == [1, 0.5, 1]


async def no_suite() -> Any:
    return "suite"


def ambiguous() -> None:
    suite().add_case("a", "add", [], [BinaryCritic("a", 1), BinaryCritic("a", 1)])


def of_an_unknown_track() -> None:
    own = suite()
    own.add_case("a", "add", track="A")
    own.bind(SERVED, FUNCTIONS)


def without_tools(*tracks: str) -> None:
    own = suite().add_tool_definitions([{"name": "far"}], track="A")
    case = own.add_comparative_case("sum", "add")
    for track in tracks:
        case.for_track(track, [])
    own.add_case("a", "add")
    own.bind([], {})


@pytest.mark.parametrize(
    ("mistake", "kind", "message"),
    [
        (lambda: BinaryCritic("a", -1), WeightError, "the weight -1 is below 0"),
        (lambda: NumericCritic("a", 1, (2, 2)), ValueError, "is empty"),
        (lambda: SimilarityCritic("a", 1, metric="jaccard"), ValueError, "use 'cosine'"),
        (ambiguous, ValueError, "several critics of a"),
        (lambda: suite().extend_case("a", "b"), ValueError, "no case to extend"),
        (lambda: suite().add_tool_definitions([{"name": "a"}, {"name": "a"}]), ValueError, "not 'a'"),
        (lambda: without_tools("A"), EvalError, "the suite 'suite' has no tools"),
        (of_an_unknown_track, EvalError, "the track 'A' has no tools"),
        (without_tools, EvalError, "'sum' has no track"),
        (lambda: without_tools("B"), ValueError, "the track 'B' has no tools; the tracks are A"),
        (lambda: without_tools("A", "A"), ValueError, "the track 'A' has the case 'sum'"),
    ],
)
def test_a_mistake_is_refused(mistake: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        mistake()


async def test_a_function_that_returns_no_suite_is_refused() -> None:
    with pytest.raises(EvalError, match="it returns str"):
        await tool_eval()(no_suite).suite()
