"""Settings of the plugin, and those of the existing system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard_plugins.resource_server import WELL_KNOWN, ResourceServerConfig, metadata
from pegboard_plugins.resource_server.documents import _may_point_to
from pegboard_plugins.resource_server.settings import canonical_url
from tests.plugins.resource_server.conftest import listed
from tests.support.http import Served, http_config
from tests.support.issuer import RESOURCE, Issuer

SERVER = {"issuer": "https://auth.example"}


def config(**changes: Any) -> ResourceServerConfig:
    given = {"resource": RESOURCE, "authorization_servers": [SERVER], **changes}
    return ResourceServerConfig.model_validate(given)


URLS = ("issuer", "url", "jwks_uri")
BAD_URLS = [
    "http://tools.example.com/mcp",
    "tools.example.com/mcp",
    "https://tools.example.com/mcp#part",
    "https://tools.example.com/mcp?x=1",
    "https://me:pw@tools.example.com/mcp",
    "https://tools.example.com/a b",
    'https://tools.example.com/"',
    "https:///mcp",
    "https://tools.example.com:port/",
    "ftp://127.0.0.1/",
    "",
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_urls_must_be_https_or_loopback(url: str) -> None:
    changes: Any
    for changes in ({"resource": url}, *({"authorization_servers": [SERVER | {key: url}]} for key in URLS)):
        with pytest.raises(ValidationError):
            config(**changes)


def test_scopes_must_be_scopes() -> None:
    for key in ("scopes_supported", "challenge_scopes", "required_scopes"):
        for scope in ("a b", "", "ä"):
            with pytest.raises(ValidationError, match=f"invalid scope {scope!r}"):
                config(**{key: ["a", scope]})
    implied: Any
    for implied in ({"a b": ["c"]}, {"a": ["b", "c d"]}, {"": ["a"]}, {"a": ['"']}):
        with pytest.raises(ValidationError, match="invalid scope"):
            config(implied_scopes=implied)


@pytest.mark.parametrize(
    ("resource", "told"),
    [
        ("https://a.example/mcp", f"https://a.example{WELL_KNOWN}/mcp"),
        ("https://a.example:8443/x/mcp", f"https://a.example:8443{WELL_KNOWN}/x/mcp"),
        ("https://a.example", f"https://a.example{WELL_KNOWN}"),
        ("https://a.example/", f"https://a.example{WELL_KNOWN}"),
        *(
            (f"http://{host}/mcp", f"http://{host}{WELL_KNOWN}/mcp")
            for host in ("127.0.0.1:8000", "localhost", "[::1]:1")
        ),
    ],
)
def test_the_url_of_the_metadata(resource: str, told: str) -> None:
    assert config(resource=resource).metadata_url == told


@pytest.mark.parametrize(
    "changes",
    [
        {"resource": "https://a.example/mcp?key=1"},
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
        config(**changes)


@pytest.mark.requirement("AUTH-08")
def test_settings_of_the_existing_system() -> None:
    theirs = {
        "authorization_server_url": "https://login.example",
        "issuer": "https://auth.example",
        "jwks_uri": "https://auth.example/jwks",
        "algorithm": "Ed25519",
        "expected_audiences": ["tools"],
        "validation_options": {"verify_exp": True, "leeway": 5},
    }
    made = config(authorization_servers=json.dumps([theirs]), challenge_scopes="a b")
    (server,) = made.authorization_servers
    assert config(authorization_servers=[server]).authorization_servers == (server,)  # as programs may give it
    assert (server.url, server.algorithms, server.audiences) == ("https://login.example", ("EdDSA",), ("tools",))
    assert (server.leeway_seconds, made.challenge_scopes) == (5, ("a", "b"))
    assert metadata(made, "x")["authorization_servers"] == ["https://login.example"]
    assert metadata(made, "x")["scopes_supported"] == ["a", "b"]
    both = config(authorization_servers=json.dumps([theirs]), challenge_scopes="a b", required_scopes="c a")
    assert metadata(both, "x")["scopes_supported"] == ["a", "b", "c"]
    few = config(authorization_servers=json.dumps([theirs]), challenge_scopes="a b", scopes_supported="a")
    assert metadata(few, "x")["scopes_supported"] == ["a"]
    none = config(authorization_servers=[{**theirs, "expected_audiences": None}])
    assert "scopes_supported" not in metadata(none, "x")
    assert none.authorization_servers[0].audiences == ()


def test_a_remote_server_may_not_point_to_this_machine() -> None:
    assert _may_point_to("https://auth.example", "https://keys.example/jwks?x=1")
    assert _may_point_to("http://127.0.0.1:1", "http://127.0.0.1:2/keys")
    assert not _may_point_to("https://auth.example", "http://127.0.0.1:2/keys")
    assert not _may_point_to("https://auth.example", "https://localhost/keys")
    assert not _may_point_to("https://auth.example", "http://keys.example/jwks")


@pytest.mark.asyncio(loop_scope="session")
async def test_the_variables_enable_the_plugin(site: Path) -> None:
    async with Issuer() as issuer:
        servers = [{"issuer": issuer.url, "jwks_uri": f"{issuer.origin}/keys", "algorithm": "RS256"}]
        env = {
            "MCP_RESOURCE_SERVER_CANONICAL_URL": RESOURCE,
            "MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS": json.dumps(servers),
            "MCP_RESOURCE_SERVER_SCOPES_SUPPORTED": "a b",
            "MCP_RESOURCE_SERVER_DEFAULT_CHALLENGE_SCOPES": "a",
        }
        async with Served(site, http_config(), env=env) as served:
            refused = await listed(served, None)
            assert refused.status == 401
            assert (refused.get("WWW-Authenticate") or "").endswith('scope="a"')
            assert (await listed(served, issuer.token())).status == 200
            assert (await served.request("GET", WELL_KNOWN)).json["scopes_supported"] == ["a", "b"]
        del env["MCP_RESOURCE_SERVER_AUTHORIZATION_SERVERS"]
        async with Served(site, http_config(), env=env, ready=False) as stopped:
            assert await stopped.wait() == 3
            assert "authorization_servers" in stopped.stderr


def test_scheme_and_host_are_compared_in_small_letters() -> None:
    assert canonical_url("HTTPS://A.Example:8443/MCP/Tools") == "https://a.example:8443/MCP/Tools"
    assert canonical_url("HTTPS://A.Example") == "https://a.example"
    assert canonical_url("Tools") == "Tools"
