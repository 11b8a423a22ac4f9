"""A peer of arcade-mcp-server: `arcade_peer.py NAME [PORT sessions]`; over stdio without a port."""

# mypy: ignore-errors
import sys
from typing import Annotated, TypedDict

from arcade_mcp_server import Context, MCPApp

NAME, PORT = sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 0
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
app = MCPApp(name=NAME, version="1.0.0", instructions="Shared by all peers.")


class Sum(TypedDict):
    """A structured result."""

    total: int
    terms: list[int]


@app.tool
def add(a: Annotated[int, "a term"], b: Annotated[int, "a term"]) -> Annotated[Sum, "the sum"]:
    """Add two numbers."""
    return {"total": a + b, "terms": [a, b]}


@app.tool
async def count(context: Context, steps: Annotated[int, "how far"]) -> str:
    """Count aloud."""
    for step in range(steps):
        await context.progress.report(step + 1, steps, f"step {step + 1}")
    await context.log.info("counted")
    return f"{steps} steps"


@app.tool
def fail() -> str:
    """Fail."""
    raise ValueError("on purpose")


@app.tool
async def ask(context: Context) -> str:
    """Ask the person."""
    answer = await context.ui.elicit("What is your name?", FORM)
    return f"{answer.action}: {(answer.content or {}).get('name', '')}"


@app.tool
async def sample(context: Context) -> str:
    """Ask the model."""
    answer = await context.sampling.create_message("A word?", max_tokens=10)
    return getattr(answer, "text", str(answer))


@app.resource(f"{NAME.replace('_', '-')}://note", mime_type="text/plain")
def note(uri: str) -> str:
    """A note."""
    return "tea"


if __name__ == "__main__":
    app.run(transport="http" if PORT else "stdio", port=PORT or 8000)
