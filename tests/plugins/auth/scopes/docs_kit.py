"""Two toolkits with tools, resources, prompts and completions. A process under test finds them in a folder."""

from __future__ import annotations

from typing import Any

from pegboard import Context, Toolkit


def make_kit(name: str = "docs") -> Toolkit:
    kit = Toolkit(name)

    @kit.tool(scopes=["own"])
    def write() -> str:
        """Write."""
        return "written"

    @kit.tool
    def read() -> str:
        """Read."""
        return "read"

    @kit.tool
    async def both(context: Context) -> Any:
        """Call another tool."""
        return await context.tools.call(f"{name}_write")

    @kit.tool
    async def show(context: Context, uri: str) -> Any:
        """Show a resource."""
        result = await context.resources.read(uri)
        return result.contents[0].content

    kit.resource(f"{name}://secret", name="secret")(lambda: "hush")
    kit.resource(f"{name}://plain", name="plain")(lambda: "plain")

    @kit.resource(f"{name}://of/{{name}}", name="of")
    def of(name: str) -> str:
        return name

    @kit.prompt
    def ask(what: str) -> str:
        """Ask."""
        return what

    @kit.completion(ask, "what")
    def whats(typed: str) -> list[str]:
        return [typed + "!"]

    @kit.completion(of, "name")
    def names(typed: str) -> list[str]:
        return [typed + "?"]

    return kit


docs = make_kit("docs")
other = make_kit("other")
