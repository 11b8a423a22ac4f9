"""The client that a request of 2026-07-28 describes."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard_plugins.mcp.stateless import read_client
from tests.support.peer import META, modern_meta


@pytest.mark.requirement("ERA-10")
@pytest.mark.parametrize(
    ("info", "name", "version"),
    [({}, "", ""), ({f"{META}clientInfo": {"name": "c", "version": "9", "title": "C"}}, "c", "9")],
)
def test_a_request_describes_its_client(info: dict[str, Any], name: str, version: str) -> None:
    client = read_client({**modern_meta(capabilities={"roots": {}}), **info})
    assert (client.name, client.version) == (name, version)
    assert (client.revision, client.capabilities) == ("2026-07-28", {"roots": {}})
