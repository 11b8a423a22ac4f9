"""Compares the table of signatures with FastMCP, and writes `fastmcp.json`.

`make signatures FASTMCP=/path/to/python` runs it in an environment with FastMCP. The tests only read the file. Read its
diff before you commit it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.host.schemas.signatures import cases, forms
from tests.host.schemas.signatures.refused import REFUSED

HERE = Path(__file__).parent
FASTMCP = HERE / "fastmcp.json"

Verdict: TypeAlias = Literal["accepts", "refuses"]


def name_of(function: Any) -> str:
    """Return the name of a definition in the file."""
    return str(getattr(function, "__name__", function))


async def observe(function: Callable[..., Any], calls: Iterable[Mapping[str, Any]]) -> list[Verdict] | None:
    """Return the verdict of FastMCP on each call, or None if it does not accept the function."""
    from fastmcp import Client, FastMCP  # type: ignore[import-not-found, unused-ignore]

    server = FastMCP("table")
    try:
        server.tool(function, name="tool", description="Do it.")
    except Exception:  # noqa: BLE001 - it raises errors of many classes
        return None
    verdicts: list[Verdict] = []
    async with Client(server) as client:
        for arguments in calls:
            try:
                failed = (await client.call_tool("tool", dict(arguments), raise_on_error=False)).is_error
            except Exception:  # noqa: BLE001 - its client rejects a result that does not fit the schema
                failed = True
            verdicts.append("refuses" if failed else "accepts")
    return verdicts


async def compare() -> dict[str, Any]:
    """Return the definitions on which only one of both serves, and the calls on which they differ."""
    ours = json.loads((HERE / "signatures.json").read_text("utf-8"))
    refused = {name_of(function): await observe(function, ()) is not None for function, _ in REFUSED}
    only_served, calls = [], []
    for case in (*cases.CASES, *forms.CASES):
        if (answers := await observe(case.function, case.calls)) is None:
            only_served.append(case.name)
            continue
        for (arguments, _, verdict), theirs in zip(ours[case.name]["calls"], answers, strict=True):
            if (verdict in ("takes", "bends")) is not (theirs == "accepts"):
                calls.append([case.name, arguments, theirs])
    return {"version": version("fastmcp"), "refused": refused, "only served by pegboard": only_served, "calls": calls}


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    members = []
    for name, value in asyncio.run(compare()).items():
        lines = [json.dumps(item) for item in value] if isinstance(value, list) else []
        if isinstance(value, dict):
            lines = [f"{json.dumps(key)}: {json.dumps(member)}" for key, member in value.items()]
        inside = ",\n  ".join(lines)
        brackets = "{}" if isinstance(value, dict) else "[]"
        text = f"{brackets[0]}\n  {inside}\n {brackets[1]}" if lines else json.dumps(value)
        members.append(f" {json.dumps(name)}: {text}")
    FASTMCP.write_text("{\n" + ",\n".join(members) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
