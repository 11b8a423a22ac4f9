"""The client that the official conformance suite starts: `python -m tests.conformance.login_client URL`.

The suite names the scenario in MCP_CONFORMANCE_SCENARIO, the revision in MCP_CONFORMANCE_PROTOCOL_VERSION, and the
credentials of a scenario in MCP_CONFORMANCE_CONTEXT.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from pegboard_client import Client, ClientCredentials, Endpoint, HttpAuth, OAuth, OAuthClient
from tests.support.login_server import Browser

METADATA_URL = "https://conformance-test.local/client-metadata.json"


def auth_of(scenario: str, context: dict[str, str]) -> HttpAuth:
    """Return the authentication for a scenario."""
    secret, key = context.get("client_secret"), context.get("private_key_pem")
    client = OAuthClient(context["client_id"], secret, private_key=key) if "client_id" in context else None
    if client is not None and "client-credentials" in scenario:
        return ClientCredentials(client)
    return OAuth(Browser(), client=client, client_metadata_url=METADATA_URL)


async def main(url: str) -> None:
    """Connect, list the tools and call the one of the suite."""
    auth = auth_of(os.environ["MCP_CONFORMANCE_SCENARIO"], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")))
    revision = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION")
    async with Client(Endpoint(url, auth=auth), revision=revision) as client:
        await client.tools()
        await client.call("test-tool")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
