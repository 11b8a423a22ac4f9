"""Signatures: each one of the table does what `signatures.json` records, and invalid definitions are not served."""

from __future__ import annotations

import json
import linecache
import re
import sys
import typing

import pytest

from pegboard import Toolkit
from pegboard.plugin import ToolDefinition
from tests.host.hosting import make_host
from tests.host.schemas.signatures import refused
from tests.host.schemas.signatures.beside_fastmcp import FASTMCP, name_of
from tests.host.schemas.signatures.record import CASES, RECORDED, observe
from tests.host.schemas.signatures.refused import NOWHERE, REFUSED

EXPECTED = json.loads(RECORDED.read_text("utf-8"))


@pytest.mark.requirement("TOOL-08", "TOOL-18")
@pytest.mark.parametrize("name", CASES)
async def test_signature(name: str) -> None:
    assert await observe(CASES[name]) == EXPECTED[name]


async def test_a_definition_is_rejected_with_its_place_and_its_reason_and_without_names_of_libraries() -> None:
    kit = Toolkit("kit")
    for number, (function, _) in enumerate(REFUSED):
        kit._tools.append(ToolDefinition(function, name=f"tool{number}", description="Do it."))
    async with make_host(kit) as host:
        assert host.assembly.tools == {}
        messages = [problem.message for problem in host.problems]
    for (function, reason), message in zip(REFUSED, messages, strict=True):
        if function in NOWHERE:
            assert re.fullmatch(rf"tool 'tool[0-9]+': {reason}; it is not served", message)
            continue
        match = re.fullmatch(r"tool 'tool[0-9]+' \((.*):([0-9]+)\): (.*); it is not served", message)
        assert match is not None, message
        assert (match[1], match[3]) == (refused.__file__, reason)
        assert re.search(r"def |class |lambda|@classmethod", linecache.getline(refused.__file__, int(match[2])))
        assert not re.search(r"\n|https?:|Pydantic|core_schema|validator", reason)


class Spelt(typing.TypedDict):
    x: int


def test_a_typed_dict_of_typing_needs_python_312() -> None:
    def function(a: Spelt) -> int:
        """Take it."""
        return a["x"]

    kit = Toolkit("kit")
    kit.tool(function)
    problems = [problem.message for problem in make_host(kit).load().problems]
    advice = "parameter 'a': Please use `typing_extensions.TypedDict` instead of `typing.TypedDict`"
    assert (problems == []) == (sys.version_info >= (3, 12))
    assert all(advice in message for message in problems)


def test_the_comparison_with_fastmcp_has_every_rejected_definition_and_only_calls_of_the_table() -> None:
    """`make signatures` renews the comparison. docs/types.md explains it."""
    comparison = json.loads(FASTMCP.read_text("utf-8"))
    assert list(comparison["refused"]) == [name_of(function) for function, _ in REFUSED]
    assert set(comparison["only served by pegboard"]) <= set(EXPECTED)
    for name, arguments, theirs in comparison["calls"]:
        ours = [verdict in ("takes", "bends") for sent, _, verdict in EXPECTED[name]["calls"] if sent == arguments]
        assert (theirs != "accepts") in ours
