"""Each signature of the table: its exact schema, and calls through a client, held against an independent validator."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from pegboard import Toolkit
from pegboard.testing import connect
from tests.host.schemas.signatures import containers, forms, newer, objects, results, scalars, special
from tests.host.schemas.signatures.table import Case, Sent

MODULES = (scalars, containers, special, objects, forms, results, newer)
CASES: list[Case] = [case for module in MODULES for case in module.CASES]


def name_of(case: Case, seen: dict[str, int] = {}) -> str:  # noqa: B006 - numbers names that come again
    seen[case.name] = seen.get(case.name, 0) + 1
    return case.name if seen[case.name] == 1 else f"{case.name} {seen[case.name]}"


def says(schema: Any, sent: Sent) -> bool:
    """Whether the schema takes what is sent."""
    try:
        Draft202012Validator(schema).validate(json.loads(json.dumps(sent.arguments)))
    except ValidationError:
        return False
    return True


def test_there_are_two_hundred_signatures() -> None:
    assert len(CASES) >= 200


@pytest.mark.filterwarnings("ignore:Item 'extra' on TypedDict class 'More' is using the `ReadOnly` qualifier")
@pytest.mark.requirement("TOOL-08", "TOOL-18")
@pytest.mark.parametrize("case", CASES, ids=name_of)
async def test_signature(case: Case) -> None:
    kit = Toolkit("kit")
    kit.tool(**{"name": "tool", **case.options})(case.function)
    async with connect(kit) as client:
        (tool,) = await client.tools()
        schema, promised = tool["inputSchema"], tool.get("outputSchema")
        Draft202012Validator.check_schema(schema)
        assert schema.pop("properties") == case.properties
        assert schema.pop("$defs", {}) == case.definitions
        assert tuple(schema.pop("required", ())) == case.required
        assert schema == {"type": "object", "additionalProperties": False}
        assert promised == case.result
        whole = {**schema, "properties": case.properties, "required": case.required, "$defs": case.definitions}
        for sent in case.calls:
            found = await client.call("tool", sent.arguments)
            outcome = found.text.removeprefix("Invalid arguments:\n") if found.is_error else found.value
            assert outcome == sent.outcome
            assert found.is_error == (sent.verdict in ("refuses", "insists"))
            assert says(whole, sent) == (sent.verdict in ("takes", "insists")), sent
            if promised is not None and not found.is_error:
                Draft202012Validator.check_schema(promised)
                Draft202012Validator(promised).validate(found.raw["structuredContent"])
