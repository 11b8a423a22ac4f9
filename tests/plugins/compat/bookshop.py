"""A server in the style of FastMCP, as its author would write it after changing the import."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from pydantic import BaseModel

from pegboard_plugins.compat.fastmcp import (
    AcceptedElicitation,
    AssistantMessage,
    Context,
    CurrentContext,
    Depends,
    Elicit,
    FastMCP,
    Image,
    Resolve,
    ServerSession,
    ToolError,
    ToolResult,
    UserMessage,
)
from pegboard_plugins.compat.fastmcp.types import (
    CallToolResult,
    Completion,
    PromptReference,
    SamplingMessage,
    TextContent,
    ToolAnnotations,
)


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, str]]:
    yield {"shop": server.name}


mcp = FastMCP("Book Shop", "Sells books.", lifespan=lifespan, stateless_http=True)


class Order(BaseModel):
    copies: int


class Shelf:
    row: int
    label: str | None = None

    def __init__(self, row: int) -> None:
        self.row = row


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))  # type: ignore[call-arg]
def untyped(a, b=2):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Add without annotations."""
    return a + b


@mcp.tool("cover", tags={"shop"})
def make_cover() -> Image:
    return Image(data=b"png")


@mcp.tool
def mixed() -> list[Any]:
    """Return text, an image and data."""
    return ["text", Image(data=b"jpg", format="jpg"), {"data": 1}]


@mcp.tool()
def shelf() -> Shelf:
    """Return an object with annotated attributes."""
    return Shelf(3)


@mcp.tool()
def checked() -> Annotated[CallToolResult, Order]:
    """Return a result with content, structured content and metadata."""
    members: Any = {"structuredContent": {"copies": 1}, "_meta": {"com.acme/a": 1}}
    return CallToolResult(content=[TextContent(text="one")], **members)


@mcp.tool()
def measured() -> ToolResult:
    """Return a result of FastMCP."""
    return ToolResult(content="done", structured_content=Order(copies=2))


@mcp.tool()
async def order(title: str, ctx: Context[ServerSession, Any]) -> str:
    """Ask for the number of copies."""
    await ctx.info(f"ordering {title}")
    await ctx.report_progress(1, 2)
    answer = await ctx.elicit("How many?", schema=Order)
    shop = ctx.request_context.lifespan_context["shop"]
    return f"{shop}: {answer.data.copies}" if isinstance(answer, AcceptedElicitation) else f"{shop}: {answer.action}"


@mcp.tool()
async def blurb(title: str, ctx: Context) -> str:
    """Ask the model and read a resource."""
    [part] = await ctx.read_resource("books://1")
    message = SamplingMessage(role="user", content=TextContent(text=title))
    answer = await ctx.session.create_message([message], max_tokens=5)
    return f"{part.content!s} {answer.content.text} {(await ctx.sample('again')).text}"


def in_a_thread() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


async def in_stock(title: str) -> int:
    return 0 if title == "rare" else 9


async def copies(title: str, stock: Annotated[int, Resolve(in_stock)]) -> Order | Elicit[Order]:
    return Order(copies=stock) if stock else Elicit(f"{title} is rare. How many?", Order)


@mcp.tool()
def reserve(title: str, wanted: Annotated[Order, Resolve(copies)]) -> str:
    """Reserve copies."""
    return f"{wanted.copies} of {title}"


@mcp.tool()
def stock_new(title: str, ctx: Context) -> str:
    """Add a tool while the server runs."""
    ctx.fastmcp.add_tool(lambda: title, name="newest")
    raise ToolError("added")


EVENTS: list[str] = []


@asynccontextmanager
async def open_till(ctx: Context) -> AsyncIterator[str]:
    try:
        yield f"till of {ctx.fastmcp.name}"
    finally:
        EVENTS.append("closed")


def clerk(till: str = Depends(open_till)) -> str:
    return f"clerk at the {till}"


@mcp.tool()
async def sell(
    title: str,
    clerk: str = Depends(clerk),
    till: str = Depends(open_till),
    ctx: Context = CurrentContext(),  # noqa: B008 - as in FastMCP
) -> str:
    """Sell a book."""
    sold = [*(await ctx.get_state("sold") or []), title]
    await ctx.set_state("sold", tuple(sold))  # FastMCP keeps it as a list
    if len(sold) > 1:
        await ctx.delete_state("sold")
    return f"{ctx.transport} {clerk}, {till}: {sold}"


@mcp.resource("books://{number}")
def book(number: int) -> dict[str, int]:
    return {"number": number}


@mcp.prompt(title="Review")
def review(book: str, tone: str = "kind") -> list[UserMessage | AssistantMessage]:
    """Review a book."""
    return [UserMessage(f"Review {book}"), AssistantMessage({"tone": tone})]


@mcp.completion()
async def complete(reference: Any, argument: Any, context: Any) -> Completion | None:
    is_tone = isinstance(reference, PromptReference) and argument.name == "tone"
    known = context.arguments if context else {}
    values = [f"{argument.value}ind {known}"]
    return Completion(values=values, hasMore=True) if is_tone else None  # type: ignore[call-arg]


@mcp.custom_route("/health", methods=["GET"])
async def health(request: Any) -> Any:
    from starlette.responses import PlainTextResponse  # type: ignore[import-not-found]

    return PlainTextResponse(f"{request.method} {request.query_params['q']}", headers={"X-Shop": "books"})


@mcp.custom_route("/cart", methods=["GET"])
async def cart(request: Any) -> Any:
    from starlette.responses import PlainTextResponse

    response = PlainTextResponse(",".join(request.query_params.getlist("book")))
    response.set_cookie("cart", "1")
    response.set_cookie("reader", "ada")
    return response


@mcp.custom_route("/stream", methods=["GET"])
async def stream(request: Any) -> Any:
    from starlette.responses import StreamingResponse

    return StreamingResponse(iter(["a", "b"]))


if __name__ == "__main__":
    mcp.run(transport="streamable-http", port=0)
