"""A server in the style of Arcade, as its author would write it after changing the import."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import BaseModel

from pegboard_plugins.compat.arcade import Context, MCPApp, resource, tool
from pegboard_plugins.compat.arcade.auth import GitHub
from pegboard_plugins.compat.arcade.errors import RetryableToolError
from pegboard_plugins.compat.arcade.metadata import Behavior, Operation, ToolMetadata
from pegboard_plugins.compat.arcade.types import (
    Annotations,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextResourceContents,
    ToolExecution,
)

app = MCPApp(name="tool_shed", version="v1.2", title="Tool Shed", instructions="Lends tools.", log_level="DEBUG")


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Saw(TypedDict):
    teeth: int
    """The number of teeth."""
    owner: NotRequired[str]


class Loan(BaseModel):
    days: int


@app.tool
def add(a: Annotated[int, "first"], b: Annotated[int, "second"] = 0) -> Annotated[int, "The sum"]:
    """Add two numbers."""
    return a + b


@app.tool(name="Greeting", desc="Greets.", meta={"com.acme/team": "shed"})
async def greet(name: Annotated[str, "whom"]) -> Annotated[str, "The greeting"]:
    return f"Hello {name}"


@app.tool(execution=ToolExecution(taskSupport="optional"))  # type: ignore[call-arg]
def sweep(times: Annotated[int, "how often"] = 1):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Sweep the shed."""


@app.tool(metadata=ToolMetadata(behavior=Behavior(operations=[Operation.CREATE], read_only=False)))
def lend(
    loan: Annotated[Loan, "the loan"],
    saws: Annotated[list[Saw], "the saws"],
    sizes: Annotated[list[Size] | None, "sizes"],
    context: Context,
) -> Annotated[dict[str, Any], "The record"]:
    """Lend a saw."""
    as_dict: Any = loan
    return {"days": as_dict["days"], "teeth": saws[0]["teeth"], "sizes": [size.value for size in sizes or ()]}


@app.tool(requires_secrets=["SHED_KEY"], requires_metadata=["user_id"], requires_auth=GitHub(scopes=["repo"]))
def unlock(context: Context) -> list[str]:
    """Read the values of the call."""
    try:
        undeclared = context.get_secret("OTHER")
    except ValueError:
        undeclared = "none"
    token = context.authorization.token if context.authorization else ""
    [(name, value)] = context.secrets
    known = [context.get_secret("shed_key"), context.get_auth_token_or_empty(), context.get_metadata("user_id")]
    return [*known, token, str(context.user_id), undeclared, name, value, *context.metadata[0]]


@app.tool
async def chain(context: Context) -> dict[str, Any]:
    """Call other parts of the host."""
    await context.log.info("chaining", extra={"step": 1})
    await context.progress.report(1, 2, "half")
    added = await context.tools.call_raw("ToolShed_Add", {"a": 1, "b": 2})
    swept = await context.tools.call_raw("ToolShed.Sweep", {})
    wrong = await context.tools.call_raw("ToolShed_Fail", {})
    prompt = await context.prompts.get("review", {"topic": "saws"})
    return {
        "added": [added.isError, added.structuredContent, added.content[0].text],
        "swept": [swept.isError, swept.structuredContent, swept.content[0].text],
        "wrong": [wrong.isError, wrong.structuredContent, wrong.content[0].text],
        "tools": {listed.name for listed in await context.tools.list() if listed.inputSchema["properties"] == {}},
        "resources": [listed.uri for listed in await context.resources.list()],
        "templates": [template.uriTemplate for template in await context.resources.list_templates()],
        "read": (await context.resources.get("shed://saws/3")).text,
        "blob": (await context.resources.read("shed://blob"))[0].blob,
        "prompts": [listed.arguments[0].required for listed in await context.prompts.list() if listed.arguments],
        "prompt": prompt.messages[0].content.text,
    }


@app.tool
async def ask(context: Context) -> list[str]:
    """Ask the person, the model and the client."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = await context.ui.elicit("Name?", schema=form)
    page = await context.ui.elicit("Open", mode="url", url="https://acme.example")
    block = await context.sampling.create_message("Hi", system_prompt="Be brief.", model_preferences="small")
    roots = await context.resources.list_roots()
    return [answer.action, (answer.content or {}).get("name", ""), page.action, block.text, roots[0].uri]


@app.tool
def fail() -> int:
    """Fail."""
    raise RetryableToolError("Try again", additional_prompt_content="later", retry_after_ms=5)


@resource(path="saw.html", meta={"ui": {"csp": {"connectDomains": ["https://acme.example"]}}})
def saw_page() -> str:
    """Show a saw."""
    return "<p>saw</p>"


@tool(ui=saw_page)
def show() -> str:
    """Show a saw in an interface."""
    return "shown"


@tool
@tool.deprecated("use Add")
def old(a: Annotated[int, "first"]) -> int:
    """Return it."""
    return a


@tool
def later() -> str:
    """Answer later."""
    return "later"


app.add_tool(show)
app.add_tool(old)


@app.resource("shed://saws/{number}", mime_type="text/plain", annotations=Annotations(priority=0.5))
async def saws(uri: str, number: str) -> str:
    return f"{uri} has {number} saws"


@app.resource("shed://files/{path*}")
def files(uri: str, path: str) -> list[TextResourceContents]:
    return [TextResourceContents(uri=uri, text=path, mime_type="text/x-path")]


app.add_text_resource("shed://text", text="hello", name="greeting")
app.add_file_resource("shed://file", path=Path(__file__).with_name("bookshop.py"), mime_type="text/x-python")
app.add_resource("shed://blob", handler=lambda uri: {"blob": "AP8="})


def review(context: Context, arguments: dict[str, str]) -> list[PromptMessage]:
    content: Any = {"type": "text", "text": f"{sorted(arguments.items())} {context.user_id}"}
    return [PromptMessage(role="user", content=content)]


app.add_prompt(
    Prompt(
        name="review",
        description="Review a topic.",
        arguments=[PromptArgument(name="topic", required=True), PromptArgument(name="tone", description="mood")],
    ),
    review,
)

if __name__ == "__main__":
    app.run(transport="stdio", port=8000)
