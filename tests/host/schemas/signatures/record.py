"""Writes `signatures.json`: `python -m tests.host.schemas.signatures.record`, on Python 3.12 or newer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.host.schemas.signatures.observed import RECORDED, cases, observe


def written(seen: dict[str, dict[str, Any]]) -> str:
    """Return JSON with one line for each schema and each call, so that diffs are readable."""
    blocks = []
    for name, one in seen.items():
        calls = "".join(f"\n   {json.dumps(call)}," for call in one["calls"]).rstrip(",")
        schemas = f' "takes": {json.dumps(one["takes"])},\n  "gives": {json.dumps(one["gives"])},'
        blocks.append(f'{json.dumps(name)}: {{\n {schemas}\n  "calls": [{calls}]}}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


async def record() -> None:
    """Observe every case and write the file."""
    RECORDED.write_text(written({name: await observe(case) for name, case in cases().items()}), "utf-8")


if __name__ == "__main__":
    asyncio.run(record())
