"""A peer of the official SDK or FastMCP: `library_peer.py NAME [PORT sessions|stateless]`; over stdio without a port.

It runs in an environment with one of the libraries. `server(name)` makes the server for programs that mount it.
"""

# mypy: ignore-errors
from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Annotated

from pydantic import BaseModel

FASTMCP = find_spec("fastmcp") is not None
NEW_SDK = find_spec("mcp.server.mcpserver") is not None
if NEW_SDK:
    from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Image, MCPServer, Resolve, Sample
    from mcp.types import InputRequiredResult
else:
    from mcp.server.fastmcp import Context, FastMCP, Image
from mcp import types

PIXEL = bytes.fromhex("89504e470d0a1a0a")


class Person(BaseModel):
    """The form of the question."""

    name: str


class Sum(BaseModel):
    """A structured result."""

    total: int
    terms: list[int]


def new_server(name, is_fastmcp):
    if is_fastmcp:
        from fastmcp import FastMCP as Server
    else:
        Server = MCPServer if NEW_SDK else FastMCP
    return Server(name, instructions="Shared by all peers.")


def message(text):
    return types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))


def server(name, library=None):
    """Return the server. `library="sdk"` prefers the official SDK where both libraries are installed."""
    is_fastmcp = FASTMCP and library != "sdk"
    made, scheme = new_server(name, is_fastmcp), name.replace("_", "-")
    context, image = Context, Image
    if is_fastmcp:
        from fastmcp import Context as context
        from fastmcp.utilities.types import Image as image

    def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        return Sum(total=a + b, terms=[a, b])

    def picture() -> image:
        """Return a picture."""
        return image(data=PIXEL, format="png")

    async def count(ctx: context, steps: int) -> str:
        """Count aloud."""
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await ctx.info("counted")
        return f"{steps} steps"

    def fail() -> str:
        """Fail."""
        raise ValueError("on purpose")

    async def grow(ctx: context) -> str:
        """Add a tool."""

        def grown() -> str:
            """Grown."""
            return "grown"

        made.tool(grown) if is_fastmcp else made.add_tool(grown)
        if hasattr(ctx, "notify_tools_changed"):
            await ctx.notify_tools_changed()
        if is_fastmcp:
            await ctx.send_notification(types.ToolListChangedNotification())
        else:
            await ctx.session.send_tool_list_changed()
        return "grown"

    for function in (add, picture, count, fail, grow, *questions(context, is_fastmcp)):
        function.__annotations__.update(resolved(function, locals()))
        made.tool(function) if is_fastmcp else made.add_tool(function)

    @made.resource(f"{scheme}://note", mime_type="text/plain")
    def note() -> str:
        """A note."""
        return "tea"

    @made.resource(f"{scheme}://picture", mime_type="image/png")
    def pixel() -> bytes:
        """A picture."""
        return PIXEL

    @made.resource(f"{scheme}://notes/{{number}}")
    def numbered(number: str) -> str:
        """A note by its number."""
        return f"note {number}"

    if is_fastmcp:
        made.prompt(greet)
        made.completion(complete)
    else:
        made.prompt()(greet)
        made.completion()(complete)
    return made


def resolved(function, names):
    """Return the annotations of a function that names of another function define."""
    scope = {**globals(), **names}
    return {
        key: eval(value, scope) if isinstance(value, str) else value for key, value in function.__annotations__.items()
    }


def greet(name: str) -> str:
    """Greet by name."""
    return f"Greet {name}."


async def complete(ref, argument, context):
    if isinstance(ref, types.PromptReference):
        return types.Completion(
            values=[person for person in ("Ann", "Anton", "Bea") if person.startswith(argument.value)]
        )
    return None


def questions(context, is_fastmcp):
    """Return the tools that ask: resolvers of the new SDK ask in both eras, results of FastMCP only in the new era."""
    if is_fastmcp:
        return fastmcp_questions(context)
    return new_questions() if NEW_SDK else old_questions(context)


def old_questions(context):
    async def ask(ctx: context) -> str:
        """Ask the person."""
        answer = await ctx.elicit("What is your name?", Person)
        return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"

    async def sample(ctx: context) -> str:
        """Ask the model."""
        answer = await ctx.session.create_message(
            [message("A word?")], max_tokens=10, related_request_id=ctx.request_id
        )
        return answer.content.text

    for function in (ask, sample):
        function.__annotations__["ctx"] = context
    return ask, sample


def new_questions():
    def who() -> Elicit[Person]:
        return Elicit("What is your name?", Person)

    def word() -> Sample:
        return Sample([message("A word?")], max_tokens=10)

    async def ask(answer) -> str:
        """Ask the person."""
        return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"

    async def sample(answer) -> str:
        """Ask the model."""
        return answer.content.text

    ask.__annotations__["answer"] = Annotated[ElicitationResult[Person], Resolve(who)]
    sample.__annotations__["answer"] = Annotated[types.CreateMessageResult, Resolve(word)]
    return ask, sample


def fastmcp_questions(context):
    schema = Person.model_json_schema()
    form = types.ElicitRequest(
        params=types.ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
    )
    word = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message("A word?")], max_tokens=10)
    )

    async def ask(ctx: context) -> str:
        """Ask the person."""
        if ctx.request_context.protocol_version < "2026":
            answer = await ctx.elicit("What is your name?", Person)
            return f"{answer.action}: {answer.data.name if answer.action == 'accept' else ''}"
        if not ctx.input_responses:
            return InputRequiredResult(input_requests={"who": form})
        answer = ctx.input_responses["who"]
        return f"{answer.action}: {answer.content['name'] if answer.action == 'accept' else ''}"

    async def sample(ctx: context) -> str:
        """Ask the model."""
        if ctx.request_context.protocol_version < "2026":
            answer = await ctx.session.create_message(
                [message("A word?")], max_tokens=10, related_request_id=ctx.request_id
            )
        elif not ctx.input_responses:
            return InputRequiredResult(input_requests={"word": word})
        else:
            answer = ctx.input_responses["word"]
        return answer.content.text

    for function in (ask, sample):
        function.__annotations__["ctx"] = context
    return ask, sample


def main(name, port="0", kind="stdio"):
    made = server(name)
    if kind == "stdio":
        made.run("stdio", **({"show_banner": False} if FASTMCP else {}))
    elif FASTMCP:
        made.run("http", show_banner=False, port=int(port), stateless_http=kind == "stateless", log_level="error")
    elif NEW_SDK:
        made.run("streamable-http", port=int(port), stateless_http=kind == "stateless")
    else:
        made.settings.port, made.settings.stateless_http = int(port), kind == "stateless"
        made.run("streamable-http")


if __name__ == "__main__":
    main(*sys.argv[1:])
