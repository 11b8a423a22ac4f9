"""Scopes for callers on message streams that are not this machine's alone; no status there, the error says it all."""

from __future__ import annotations

import pytest

from pegboard.plugin import ProtocolError
from pegboard.testing import connect
from pegboard.types import Caller
from tests.plugins.scopes.docs_kit import docs

PLUGINS = {"scopes": {"resources": {"docs://secret": ["s"]}, "tools": {"docs_read": ["t"]}}}
ANN = Caller("ann")


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
async def test_who_lacks_a_scope_is_told_which(revision: str) -> None:
    async with connect(docs, plugins=PLUGINS, caller=ANN, revision=revision) as client:
        assert "docs_read" not in [tool["name"] for tool in await client.tools()]
        for method, params, scope in (
            ("tools/call", {"name": "docs_read", "arguments": {}}, "t"),
            ("resources/read", {"uri": "docs://secret"}, "s"),
        ):
            with pytest.raises(ProtocolError) as caught:
                await client.request(method, params)
            assert (caught.value.code, caught.value.data) == (-32602, {"requiredScopes": [scope]})


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
async def test_who_may_not_read_a_resource_may_not_hear_of_it(revision: str) -> None:
    async with connect(docs, plugins=PLUGINS, caller=ANN, revision=revision) as client:
        for uri, code, data in (
            ("docs://secret", -32602, {"requiredScopes": ["s"]}),
            ("docs://none", -32002, {"uri": "docs://none"}),
        ):
            with pytest.raises(ProtocolError) as caught:
                await client.request("resources/subscribe", {"uri": uri})
            assert (caught.value.code, caught.value.data) == (code, data)
        assert await client.request("resources/subscribe", {"uri": "docs://plain"}) == {}
    allowed = ANN._replace(scopes=frozenset("s"))
    for caller in (allowed, Caller(trusted=True)):
        async with connect(docs, plugins=PLUGINS, caller=caller, revision=revision) as client:
            assert await client.request("resources/subscribe", {"uri": "docs://secret"}) == {}
