"""Settings of the plugin, those of the existing system, and profiles as resources of their own (RFC 9728)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict
from pydantic import ValidationError

from pegboard import Host
from pegboard.types import Request, Response
from pegboard_plugins.auth.resource_server import metadata
from pegboard_plugins.auth.resource_server.documents import _may_point_to
from pegboard_plugins.auth.resource_server.settings import WELL_KNOWN
from tests.plugins.auth.resource_server.conftest import listed, make_config
from tests.support.http import Served, http_config
from tests.support.http_mcp import message, mirrored, modern
from tests.support.issuer import RESOURCE, Issuer

SERVER = {"issuer": "https://auth.example"}
UNSAFE = (
    "http://tools.example.com/mcp",
    "https://tools.example.com/mcp#part",
    "https://tools.example.com/mcp?x=1",
    "https://me:pw@tools.example.com/mcp",
    "https:///mcp",
    "",
)


@pytest.mark.parametrize(
    ("issuer", "url", "allowed"),
    [
        ("https://auth.example", "https://keys.example/jwks?x=1", True),
        ("http://127.0.0.1:1", "http://127.0.0.1:2/keys", True),
        ("https://auth.example", "http://127.0.0.1:2/keys", False),
        ("https://auth.example", "https://localhost/keys", False),
        ("https://auth.example", "http://keys.example/jwks", False),
    ],
)
def test_a_remote_server_may_not_point_to_this_machine(issuer: str, url: str, allowed: bool) -> None:
    assert _may_point_to(issuer, url) is allowed


def test_scopes_must_be_scopes() -> None:
    for key in ("scopes_supported", "challenge_scopes", "required_scopes"):
        with pytest.raises(ValidationError, match="invalid scope 'a b'"):
            make_config(**{key: ["a", "a b"]})
    implied: Any
    for implied in ({"a b": ["c"]}, {"a": ["b", "c d"]}, {"": ["a"]}):
        with pytest.raises(ValidationError, match="invalid scope"):
            make_config(implied_scopes=implied)


@pytest.mark.parametrize(
    "changes",
    [
        *({"resource": url} for url in UNSAFE),
        *({"authorization_servers": [SERVER | {key: url}]} for key in ("issuer", "url", "jwks_uri") for url in UNSAFE),
        {"authorization_servers": []},
        {"authorization_servers": [SERVER, SERVER]},
        {"authorization_servers": "nonsense"},
        {"authorization_servers": [SERVER | {"algorithms": []}]},
        {"authorization_servers": [SERVER | {"algorithms": ["HS256"]}]},
        {"authorization_servers": [SERVER | {"algorithms": ["RS256", "none"]}]},
        *(
            {"authorization_servers": [SERVER | {"validation_options": {check: False}}]}
            for check in ("verify_exp", "verify_iat", "verify_iss", "verify_nbf")
        ),
        {"authorization_servers": [SERVER | {"leeway_seconds": -1}]},
        {"leeway_seconds": 301},
    ],
)
def test_unsafe_settings_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make_config(**changes)


@pytest.mark.requirement("AUTH-08")
def test_settings_of_the_existing_system() -> None:
    existing = {
        "authorization_server_url": "https://login.example",
        "issuer": "https://auth.example",
        "jwks_uri": "https://auth.example/jwks",
        "algorithm": "Ed25519",
        "expected_audiences": ["tools"],
        "validation_options": {"verify_exp": True, "leeway": 5},
    }
    made = make_config(authorization_servers=json.dumps([existing]), challenge_scopes="a b")
    (server,) = made.authorization_servers
    assert (server.url, server.algorithms, server.audiences) == ("https://login.example", ("EdDSA",), ("tools",))
    assert (server.leeway_seconds, made.challenge_scopes) == (5, ("a", "b"))
    assert metadata(made, "x")["authorization_servers"] == ["https://login.example"]
    none = make_config(authorization_servers=[{**existing, "expected_audiences": None}])
    assert none.authorization_servers[0].audiences == ()


@pytest.mark.asyncio(loop_scope="session")
async def test_the_variables_enable_the_plugin_and_allow_the_host_of_the_resource(site: Path) -> None:
    name, resource = "[2001:db8::1]", "https://[2001:db8::1]:8443/mcp"
    async with Issuer() as issuer:
        servers = [{"issuer": issuer.url, "jwks_uri": f"{issuer.origin}/keys", "algorithm": "RS256"}]
        env = {
            "MCP_RESOURCE_SERVER_CANONICAL_URL": resource,
            "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": json.dumps(servers),
            "MCP_RESOURCE_SERVER_SCOPES_SUPPORTED": "a b",
            "MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES": "a",
        }
        async with Served(site, http_config(), env=env) as served:
            refused = await listed(served, None)
            assert refused.status == 401
            assert (refused.get("WWW-Authenticate") or "").endswith('scope="a"')
            assert (await served.request("GET", WELL_KNOWN)).json["scopes_supported"] == ["a", "b"]
            token = issuer.token(aud=resource)
            for host in (name, f"{name}:8443", name.upper()):
                assert (await listed(served, token, Host=host)).status == 200
            assert (await listed(served, token, Host=name, Origin=f"https://{name}")).status == 200
            for host in ("evil.example", f"sub.{name}", f"{name}.evil.example"):
                assert (await listed(served, token, Host=host)).status == 421
        del env["MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS"]
        await Served(site, http_config(), env=env).assert_refuses(3, "authorization_servers")


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
