"""The check of `pegboard doctor` for authorization servers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.command_line import Command
from tests.support.issuer import RESOURCE, Issuer, made_key, public

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.needs("doctor")]

INTROSPECTION = 'introspection = { client_id = "desk", client_secret = "0123456789abcdef0123456789abcdef" }'
OTHER_KEY = public(made_key("ES384"), "other", "ES384")


async def line_of(command: Command, issuer: str, server: str = "", *options: str) -> tuple[int, str]:
    """Return the exit code of `pegboard doctor`, and its lines about the issuer as one line."""
    table = f'[[plugins.resource_server.authorization_servers]]\nissuer = "{issuer}"\n{server}'
    command.configure(sections=f'[plugins.resource_server]\nresource = "{RESOURCE}"\nfetch_seconds = 20\n{table}')
    done = await asyncio.to_thread(command, "doctor", *options)
    words = " ".join(done.out.split())
    return done.code, words.partition(" issuers: ")[0].split()[-1] + " " + words.partition(" issuers: ")[2]


@pytest.mark.parametrize("server", ["", "jwks_uri = 'ORIGIN/keys'"])
async def test_the_number_of_usable_keys_is_told(server: str, bare: Command) -> None:
    async with Issuer() as issuer:
        issuer.keys += [OTHER_KEY]
        code, line = await line_of(bare, issuer.url, server.replace("ORIGIN", issuer.origin))
    assert (code, line.startswith(f"ok {issuer.url}: 1 usable key ")) == (0, True), line


@pytest.mark.parametrize(
    ("changes", "problem", "fix"),
    [
        ({"where": "/none"}, "/oauth-authorization-server returned status 404", "or set jwks_uri"),
        ({"metadata": {"issuer": "https://b.example"}}, "another issuer: 'https://b.example'", "set issuer exactly"),
        ({"metadata": {"issuer": "OWN"}}, "has no jwks_uri that is safe", "set jwks_uri"),
        ({"keys": []}, "has no signature key", "check that jwks_uri"),
        ({"keys": [OTHER_KEY]}, "no key of the key set fits", "add one of these to algorithms: ES384"),
    ],
)
async def test_an_issuer_without_usable_keys_is_an_error(
    changes: Mapping[str, Any], problem: str, fix: str, bare: Command
) -> None:
    async with Issuer() as issuer:
        for name, value in changes.items():
            setattr(issuer, name, value)
        if issuer.metadata["issuer"] == "OWN":
            issuer.metadata = {"issuer": issuer.url}
        code, line = await line_of(bare, issuer.url)
    assert (code, line.startswith(f"error {issuer.url}: "), problem in line, fix in line) == (3, True, True, True), line


async def test_an_issuer_that_cannot_be_reached_is_an_error_unless_it_is_not_asked(bare: Command) -> None:
    async with Issuer() as issuer:
        pass
    code, line = await line_of(bare, issuer.url)
    assert (code, "cannot be reached: ClientConnectorError" in line) == (3, True), line
    code, line = await line_of(bare, issuer.url, "", "--no-wait")
    assert (code, line.startswith("ok not asked")) == (0, True), line


async def test_an_introspecting_server_is_asked_about_an_unknown_token(bare: Command) -> None:
    async with Issuer() as issuer:
        code, line = await line_of(bare, issuer.url, INTROSPECTION)
        assert (code, "it answers introspection requests" in line) == (0, True), line
        assert issuer.asked["/keys"] == 0
        issuer.metadata = {"issuer": issuer.url}
        code, line = await line_of(bare, issuer.url, INTROSPECTION)
    assert (code, "set introspection.url" in line) == (3, True), line
