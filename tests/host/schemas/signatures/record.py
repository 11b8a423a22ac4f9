"""Writes `signatures.json`: `python -m tests.host.schemas.signatures.record`.

Only Python 3.12 or newer observes all cases. Older versions keep the recorded outcomes of the newer syntax.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

from pegboard import Toolkit
from pegboard_testing import connect
from tests.host.schemas.signatures import cases, forms
from tests.host.schemas.signatures.table import Case

RECORDED = Path(__file__).with_name("signatures.json")
CASES = {case.name: case for case in (*cases.CASES, *forms.CASES)}


async def observe(case: Case) -> dict[str, Any]:
    """Serve a signature, call it, and compare each outcome with an independent validator.

    The verdict of a call compares the host with the schema: both take or refuse the arguments, or the host bends (it
    converts what the schema refuses) or insists (it refuses what no schema can express).
    """
    kit = Toolkit("kit")
    kit.tool(**{"name": "tool", **case.options})(case.function)
    async with connect(kit) as client:
        (tool,) = await client.tools()
        taken, returned = tool["inputSchema"], tool.get("outputSchema")
        for schema in (taken, returned or {}):
            Draft202012Validator.check_schema(schema)
        calls = []
        for arguments in case.calls:
            result = await client.call("tool", arguments)
            if returned is not None and not result.is_error:
                Draft202012Validator(returned).validate(result.raw["structuredContent"])
            fits = Draft202012Validator(taken).is_valid(json.loads(json.dumps(arguments)))
            outcome = result.text.removeprefix("Invalid arguments:\n") if result.is_error else result.value
            calls.append([arguments, outcome, _verdict(result.is_error, fits)])
    return {"takes": taken, "gives": returned, "calls": calls}


def _verdict(refused: bool, fits: bool) -> Literal["takes", "refuses", "bends", "insists"]:
    if refused:
        return "insists" if fits else "refuses"
    return "takes" if fits else "bends"


async def record() -> None:
    """Observe every case, and write JSON with one line for each schema and each call, so that diffs are readable."""
    old = json.loads(RECORDED.read_text("utf-8"))
    blocks = []
    for name in [*CASES, *(name for name in forms.NEWER if name not in CASES)]:
        case = await observe(CASES[name]) if name in CASES else old[name]
        calls = "".join(f"\n   {json.dumps(call)}," for call in case["calls"]).rstrip(",")
        schemas = f' "takes": {json.dumps(case["takes"])},\n  "gives": {json.dumps(case["gives"])},'
        blocks.append(f'{json.dumps(name)}: {{\n {schemas}\n  "calls": [{calls}]}}')
    RECORDED.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(record())
