"""A server of FastMCP that uses the functions of the running request, over stdio."""

# mypy: ignore-errors

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_access_token, get_context, get_http_request

mcp = FastMCP("Requests over stdio")


@mcp.tool
def request() -> str:
    """Return the kind of the error: there is no HTTP request."""
    try:
        get_http_request()
    except RuntimeError:
        return "RuntimeError"
    return "a request"


@mcp.tool
def token() -> bool:
    """Return True if there is no token."""
    return get_access_token() is None


@mcp.tool
async def context() -> list[str]:
    """Read a resource, and report progress, without a parameter for the context."""
    current = get_context()
    await current.report_progress(1, 2)
    await current.warning("careful")
    [*contents] = (await current.read_resource("note://one")).contents
    return [content.content for content in contents]


@mcp.resource("note://one")
def note() -> str:
    """Return the name of the server's context."""
    return type(get_context()).__name__
