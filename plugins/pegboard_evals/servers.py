"""The tools of MCP servers, for suites that name their servers themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from pegboard_client import Client, Endpoint, Program
from pegboard_evals.tools import MCPToolDefinition, shown_tool
from pegboard_evals.weights import EvalError

WAIT_SECONDS = 60.0


async def load_mcp_remote_async(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float = WAIT_SECONDS,  # noqa: ASYNC109 - a name of `arcade_evals`
    use_sse: bool = False,
) -> list[MCPToolDefinition]:
    """Return the tools of the server at a URL. `/mcp` is added to a path without this part.

    Args:
        url: the URL.
        headers: headers of each request.
        timeout: how many seconds a request waits for a response.
        use_sse: only False.

    Raises:
        EvalError: `use_sse` is True.
        MCPError: the server does not respond, or responds with an error.
    """
    if use_sse:
        raise EvalError("the transport HTTP+SSE is not supported: leave out use_sse to use Streamable HTTP")
    parts = urlsplit(url)
    if "mcp" not in parts.path.split("/"):
        url = parts._replace(path=f"{parts.path.rstrip('/')}/mcp").geturl()
    return await _tools(Endpoint(url, headers or {}), timeout)


async def load_from_stdio_async(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    timeout: float = WAIT_SECONDS,  # noqa: ASYNC109 - a name of `arcade_evals`
) -> list[MCPToolDefinition]:
    """Return the tools of the server that a command starts.

    Args:
        command: the program and its arguments.
        env: its environment variables, beside those that locate programs and files, such as PATH and HOME.
        timeout: how many seconds a request waits for a response.

    Raises:
        MCPError: the program does not start, or responds with an error.
    """
    return await _tools(Program(command[0], command[1:], env or {}), timeout)


async def load_arcade_mcp_gateway_async(
    gateway_slug: str | None = None,
    *,
    arcade_api_key: str | None = None,
    arcade_user_id: str | None = None,
    base_url: str | None = None,
    timeout: float = WAIT_SECONDS,  # noqa: ASYNC109 - a name of `arcade_evals`
) -> list[MCPToolDefinition]:
    """Return the tools of a gateway of Arcade.

    Args:
        gateway_slug: the name of the gateway; None for the endpoint of the account.
        arcade_api_key: the key; by default that in ARCADE_API_KEY.
        arcade_user_id: the user; by default that in ARCADE_USER_ID.
        base_url: the URL of the API; by default that in ARCADE_API_BASE_URL, or https://api.arcade.dev.
        timeout: how many seconds a request waits for a response.

    Raises:
        MCPError: the gateway does not respond, or responds with an error.
    """
    key = (arcade_api_key or os.environ.get("ARCADE_API_KEY", "")).removeprefix("Bearer ")
    user = arcade_user_id or os.environ.get("ARCADE_USER_ID")
    base = base_url or os.environ.get("ARCADE_API_BASE_URL") or "https://api.arcade.dev"
    headers = ({"Authorization": f"Bearer {key}"} if key else {}) | ({"Arcade-User-Id": user} if user else {})
    url = f"{base.rstrip('/')}/mcp/{gateway_slug or ''}".rstrip("/")
    tools = await load_mcp_remote_async(url, headers=headers, timeout=timeout)
    first = {tool["name"]: tool for tool in reversed(tools)}
    return [tool for tool in tools if tool is first[tool["name"]]]


async def _tools(server: Endpoint | Program, seconds: float) -> list[MCPToolDefinition]:
    async with Client(server, timeout=seconds) as client:
        return [shown_tool(tool) for tool in await client.tools()]
