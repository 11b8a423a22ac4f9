"""A server of FastMCP whose middleware records, changes, hides and refuses."""

# mypy: ignore-errors

from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import PromptError, ResourceError, ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp.types import TextContent


class Recording(Middleware):
    """Records each message."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def on_message(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        self.lines.append(f"{context.source} {context.type} {context.method}")
        try:
            return await call_next(context)
        except ToolError as error:
            self.lines.append(f"failed: {error}")
            raise

    async def on_request(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        self.lines.append("request")
        return await call_next(context)

    async def on_call_tool(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        self.lines.append(f"{context.message.name} {context.message.arguments}")
        result = await call_next(context)
        texts = [block.text for block in result.content]
        self.lines.append(f"{type(result).__name__} {texts} {result.structured_content} {result.is_error}")
        return result


class Changing(Middleware):
    """Changes arguments, results and lists."""

    async def on_call_tool(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        message = context.message
        if message.name == "refused":
            raise ToolError("not today")
        if message.name == "doubled":
            number = 2 * (message.arguments or {}).get("number", 0)
            message = message.model_copy(update={"arguments": {"number": number}})
        result = await call_next(context.copy(message=message))
        if message.name == "stamped":
            return ToolResult(content="stamped", structured_content={"result": "stamped"})
        if message.name == "replaced":
            return ToolResult(content=result.content, structured_content=result.structured_content)
        if message.name == "counted":
            thanks = TextContent(type="text", text="thanks")
            number = result.structured_content["result"] + 1
            return ToolResult(content=[*result.content, thanks], structured_content={"result": number})
        return result

    async def on_read_resource(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        if str(context.message.uri) == "shop://closed":
            raise ResourceError("closed")
        return await call_next(context)

    async def on_get_prompt(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        if context.message.name == "secret":
            raise PromptError("secret")
        message = context.message.model_copy(update={"arguments": {"name": "Ada"}})
        return await call_next(context.copy(message=message))

    async def on_list_tools(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return [tool for tool in await call_next(context) if tool.name != "hidden"]

    async def on_list_resources(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return [item for item in await call_next(context) if str(item.uri) != "shop://hidden"]

    async def on_list_resource_templates(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return [item for item in await call_next(context) if item.uri_template != "hidden://{name}"]

    async def on_list_prompts(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return sorted(await call_next(context), key=lambda prompt: prompt.name)[:2]


class Wrapping(Middleware):
    """Overrides the whole dispatch."""

    async def __call__(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        if context.method == "tools/call" and context.message.name == "short":
            return ToolResult(content="answered before the tool", structured_content={"result": "short"})
        return await call_next(context)


recording = Recording()
mcp = FastMCP("Middleware", middleware=[recording, Changing()])
mcp.add_middleware(Wrapping())


@mcp.tool
def counted() -> int:
    """Return a number, to which middleware adds."""
    return 3


@mcp.tool
def doubled(number: int) -> int:
    """Return the number, which middleware has doubled."""
    return number


@mcp.tool
def failing() -> str:
    """Fail."""
    raise ToolError("it fails")


@mcp.tool
def hidden() -> str:
    """Is not listed."""
    return "hidden"


@mcp.tool
def refused() -> str:
    """Is refused."""
    return "refused"


@mcp.tool
def replaced() -> dict[str, int]:
    """Has a result that middleware makes again."""
    return {"a": 1}


@mcp.tool
def short() -> str:
    """Is answered by middleware."""
    return "long"


@mcp.tool
def stamped() -> str:
    """Has a result that middleware changes."""
    return "plain"


@mcp.tool
def what_was_seen() -> list[str]:
    """Return what the middleware has recorded of calls."""
    calls = [line for line in recording.lines if "initialize" not in line]
    return calls[calls.index("client request tools/call") :]


@mcp.resource("shop://open")
def open_shop() -> str:
    """Can be read."""
    return "open"


@mcp.resource("shop://closed")
def closed() -> str:
    """Is refused."""
    return "closed"


@mcp.resource("shop://hidden")
def hidden_shop() -> str:
    """Is not listed."""
    return "hidden"


@mcp.resource("hidden://{name}")
def hidden_template(name: str) -> str:
    """Is not listed."""
    return name


@mcp.resource("shown://{name}")
def shown_template(name: str) -> str:
    """Is listed."""
    return name


@mcp.prompt
def greet(name: str) -> str:
    """Greet the person whom middleware names."""
    return f"Greet {name}"


@mcp.prompt
def secret() -> str:
    """Is refused."""
    return "secret"


@mcp.prompt
def unlisted() -> str:
    """Is not listed."""
    return "unlisted"
