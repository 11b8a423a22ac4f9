"""A server of FastMCP that uses the functions of the running request, over HTTP."""

# mypy: ignore-errors

from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_access_token, get_context, get_http_request

mcp = FastMCP("Requests")


@mcp.tool
def header() -> str:
    """Return a header that the client sends."""
    return get_http_request().headers["X-Shop"]


@mcp.tool
def no_header() -> list[bool | str | None]:
    """Return what a missing header is."""
    headers = get_http_request().headers
    return [headers.get("x-none"), headers.get("x-none", "default"), "x-none" in headers, "x-shop" in headers]


@mcp.tool
async def header_later() -> str:
    """Return a header in an async function."""
    return get_http_request().headers.get("x-shop", "")


@mcp.tool
def token() -> bool:
    """Return True if there is no token."""
    return get_access_token() is None


@mcp.tool
async def context(ctx: Context) -> list[bool]:
    """Return whether both contexts are of the same request."""
    current = get_context()
    await current.info("logged")
    return [current.request_id == ctx.request_id, current.session_id == ctx.session_id, current.client_id is None]


@mcp.tool
async def state() -> str | None:
    """Return what an earlier function of the same request has kept."""
    await get_context().set_state("color", "red")
    return await get_context().get_state("color")


@mcp.resource("header://shop")
def shop() -> str:
    """Return a header while a resource is read."""
    return get_http_request().headers["x-shop"]


@mcp.prompt
def hello() -> str:
    """Return a header in a prompt."""
    return f"Hello {get_http_request().headers['x-shop']}"
