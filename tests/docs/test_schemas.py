"""What docs/schemas.md shows is what happens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pegboard import Toolkit
from pegboard.types import Failure
from tests.host.hosting import call, make_host, value
from tools.install import ROOT

DOCUMENT = (ROOT / "docs" / "schemas.md").read_text("utf-8")
FILES = dict(re.findall(r"^```python file=(\S+)\n(.*?)^```$", DOCUMENT, re.M | re.S))


def kit_of(name: str) -> Toolkit:
    names: dict[str, Any] = {"__name__": name}
    exec(compile(FILES[name], name, "exec", dont_inherit=True), names)
    kit = names["kit"]
    assert isinstance(kit, Toolkit)
    return kit


@pytest.mark.requirement("SCHEMA-02")
async def test_a_schema_of_ones_own() -> None:
    async with make_host(kit_of("places.py")) as host:
        assert host.problems == ()
        assert await value(host, "places_nearby", {"city": "Porto"}) == ["a café near Porto"]
        refused = await call(host, "places_nearby", {"latitude": 91, "longitude": "west"})
        assert isinstance(refused, Failure)
        assert refused.error.message == (
            "Invalid arguments:\nlatitude: must be at most 90\nlongitude: must be a number"
        )
        both = await call(host, "places_nearby", {"city": "Porto", "latitude": 1, "longitude": 1})
        assert isinstance(both, Failure)


async def test_arguments_in_headers() -> None:
    async with make_host(kit_of("regions.py")) as host:
        assert host.problems == ()
        schema = host.assembly.tools["regions_query"].tool.input_schema
        assert schema["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize("limit", ["256 KiB", "100 levels", "5,000 subschemas", "10,000 of them"])
def test_limits(limit: str) -> None:
    from pegboard.catalogue.tool_compiler import MAX_SCHEMA_BYTES
    from pegboard.schemas import json_schema

    limits = {
        f"{MAX_SCHEMA_BYTES // 1024} KiB",
        f"{json_schema.MAX_SCHEMA_DEPTH} levels",
        f"{json_schema.MAX_SUBSCHEMAS:,} subschemas",
        f"{json_schema.MAX_SUBSCHEMA_VISITS:,} of them",
    }
    assert limit in limits
    assert limit in DOCUMENT
