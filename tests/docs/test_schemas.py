"""What docs/schemas.md shows is what happens."""

from __future__ import annotations

import pytest

from pegboard.types import Failure
from tests.docs.pages import Page
from tests.host.hosting import call, make_host, value

PAGE = Page("docs/schemas.md")


@pytest.mark.requirement("SCHEMA-02")
async def test_a_schema_of_ones_own() -> None:
    async with make_host(PAGE.module("places.py").kit) as host:
        assert host.problems == ()
        assert await value(host, "places_nearby", {"city": "Porto"}) == ["a café near Porto"]
        refused = await call(host, "places_nearby", {"latitude": 91, "longitude": "west"})
        assert isinstance(refused, Failure)
        assert refused.error.message == (
            "Invalid arguments:\nlatitude: must be at most 90\nlongitude: must be a number, got a string"
        )
        both = await call(host, "places_nearby", {"city": "Porto", "latitude": 1, "longitude": 1})
        assert isinstance(both, Failure)


async def test_arguments_in_headers() -> None:
    async with make_host(PAGE.module("regions.py").kit) as host:
        schema = host.assembly.tools["regions_query"].tool.input_schema
    assert schema["properties"]["region"]["x-mcp-header"] == "Region"
