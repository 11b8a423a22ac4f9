"""The schemas of each signature and the outcome of each call, as clients see them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

from pegboard import Toolkit
from pegboard.testing import connect
from tests.host.schemas.signatures import containers, forms, newer, objects, results, scalars, special
from tests.host.schemas.signatures.table import Case

RECORDED = Path(__file__).with_name("signatures.json")
Verdict = Literal["takes", "refuses", "bends", "insists"]


def cases() -> dict[str, Case]:
    """Return every case by its name. Repeated names get a number."""
    seen: Counter[str] = Counter()
    found = {}
    for module in (scalars, containers, special, objects, forms, results, newer):
        for case in module.CASES:
            seen[case.name] += 1
            found[case.name if seen[case.name] == 1 else f"{case.name} {seen[case.name]}"] = case
    return found


async def observe(case: Case) -> dict[str, Any]:
    """Serve a signature, call it, and compare each outcome with an independent validator.

    The verdict of a call compares the host with the schema: both take or refuse the arguments, or the host bends (it
    converts what the schema refuses) or insists (it refuses what no schema can express).
    """
    kit = Toolkit("kit")
    kit.tool(**{"name": "tool", **case.options})(case.function)
    async with connect(kit) as client:
        (tool,) = await client.tools()
        taken, given = tool["inputSchema"], tool.get("outputSchema")
        for schema in (taken, given or {}):
            Draft202012Validator.check_schema(schema)
        calls = []
        for arguments in case.calls:
            found = await client.call("tool", arguments)
            if given is not None and not found.is_error:
                Draft202012Validator(given).validate(found.raw["structuredContent"])
            fits = Draft202012Validator(taken).is_valid(json.loads(json.dumps(arguments)))
            outcome = found.text.removeprefix("Invalid arguments:\n") if found.is_error else found.value
            calls.append([arguments, outcome, _verdict(found.is_error, fits)])
    return {"takes": taken, "gives": given, "calls": calls}


def _verdict(refused: bool, fits: bool) -> Verdict:
    if refused:
        return "insists" if fits else "refuses"
    return "takes" if fits else "bends"
