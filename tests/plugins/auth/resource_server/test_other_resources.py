"""Profiles as resources of their own: their tokens, challenges and metadata (RFC 9728)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from multidict import CIMultiDict
from pydantic import ValidationError

from pegboard import Host
from pegboard.types import Request, Response
from pegboard_plugins.auth.resource_server.settings import WELL_KNOWN
from tests.plugins.auth.resource_server.conftest import make_config
from tests.support.http_mcp import message, mirrored, modern
from tests.support.issuer import RESOURCE, Issuer

OTHER = f"{RESOURCE}/read"


async def answered(host: Host, method: str, path: str, token: str = "") -> Response:
    request = modern(message("tools/list"))
    fields = CIMultiDict([*mirrored(request), *([("Authorization", f"Bearer {token}")] if token else [])])
    response = await host.respond(Request(method, path, {}, fields, json.dumps(request).encode()))
    assert isinstance(response, Response)
    return response


async def test_a_profile_has_its_own_tokens_and_metadata() -> None:
    async with Issuer() as issuer:
        server = {"issuer": issuer.url, "audiences": [RESOURCE]}
        sections: dict[str, Any] = {
            "mcp": {"profiles": {"read": {"read_only": True, "auth": "read"}, "both": {"read_only": True}}},
            "resource_server": {
                "resource": RESOURCE,
                "authorization_servers": [server],
                "other_resources": {"read": OTHER},
            },
        }
        async with Host({"host": {"autoload": False}, "plugins": sections}) as host:
            assert host.problems == ()
            tokens = {"/mcp": issuer.token(), "/mcp/read": issuer.token(aud=OTHER)}
            for path, url in (("/mcp", RESOURCE), ("/mcp/read", OTHER)):
                shown = json.loads((await answered(host, "GET", WELL_KNOWN + path)).body)
                assert (shown["resource"], shown["authorization_servers"]) == (url, [issuer.url])
                refused = await answered(host, "POST", path)
                assert refused.status == 401
                assert f'resource_metadata="https://tools.example.com{WELL_KNOWN}{path}"' in str(refused.headers)
                statuses = {of: (await answered(host, "POST", path, token)).status for of, token in tokens.items()}
                assert statuses == {of: 200 if of == path else 401 for of in tokens}
            assert (await answered(host, "POST", "/mcp/both", tokens["/mcp"])).status == 200
            assert (await answered(host, "POST", "/mcp/both", tokens["/mcp/read"])).status == 401


@pytest.mark.parametrize(
    ("others", "complaint"),
    [
        ({"mcp": OTHER}, "'mcp' cannot be the policy of another resource"),
        ({"public": OTHER}, "'public' cannot be the policy of another resource"),
        ({"read": "http://tools.example.com/mcp"}, "https"),
    ],
)
def test_wrong_resources_are_refused(others: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        make_config(other_resources=others)
