"""Changes of an app's tools, prompts and resources while the server runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard_plugins.compat.arcade.types import MCPTool, Prompt, Resource

if TYPE_CHECKING:
    from pegboard_plugins.compat.arcade.app import MCPApp


class AppView:
    """A part of an app.

    Args:
        app: the app.
    """

    def __init__(self, app: MCPApp) -> None:
        self._app = app


class ToolsAPI(AppView):
    """The tools of an app."""

    async def add(self, tool: Callable[..., Any]) -> None:
        """Add a function or a result of `@tool`, or replace the tool of the same name."""
        self._app.add_tool(tool)

    update = add

    async def remove(self, name: str) -> None:
        """Remove a tool by its name on the wire.

        Raises:
            NotFoundError: the app has no such tool.
        """
        self._app.take("tools", name)

    async def list(self) -> list[MCPTool]:
        """Return the names and descriptions of the tools."""
        return [
            MCPTool(name=tool.name or "", title=tool.title, description=tool.description or tool.function.__doc__)
            for tool in self._app._tools
        ]


class PromptsAPI(AppView):
    """The prompts of an app."""

    async def add(self, prompt: Prompt, handler: Callable[..., Any] | None = None) -> None:
        """Add a prompt, or replace the prompt of the same name."""
        self._app.add_prompt(prompt, handler)

    async def remove(self, name: str) -> Prompt:
        """Remove a prompt and return it.

        Raises:
            NotFoundError: the app has no such prompt.
        """
        self._app.take("prompts", name)
        return self._app.known_prompts.pop(name)

    async def list(self) -> list[Prompt]:
        """Return the prompts."""
        return list(self._app.known_prompts.values())


class ResourcesAPI(AppView):
    """The resources of an app."""

    async def add(self, resource: Resource, handler: Callable[..., Any] | None = None) -> None:
        """Add a resource, or replace the resource of the same URI."""
        options = {name: getattr(resource, name) for name in ("name", "title", "description", "mime_type")}
        self._app.add_resource(resource.uri, handler=handler, annotations=resource.annotations, **options)

    async def remove(self, uri: str) -> None:
        """Remove a resource.

        Raises:
            NotFoundError: the app has no such resource.
        """
        self._app.take("resources", uri)

    async def list(self) -> list[Resource]:
        """Return the resources."""
        return [
            Resource(
                uri=resource.uri,
                name=resource.name or resource.uri,
                title=resource.title,
                description=resource.description,
                mime_type=resource.mime_type,
            )
            for resource in self._app._resources
        ]
