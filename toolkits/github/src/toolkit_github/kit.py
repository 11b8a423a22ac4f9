"""The toolkit itself, and how its tools are declared: all need the token, those that change things a setting too."""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from pegboard import ToolAnnotations, Toolkit
from toolkit_github.client import Client
from toolkit_github.config import GithubConfig

__all__ = ["TOKEN", "adds", "changes", "kit", "reads"]

F = TypeVar("F", bound=Callable[..., Any])

TOKEN = "GITHUB_TOKEN"  # noqa: S105 - the secret's name
"""The name of the secret that every tool needs."""

kit = Toolkit(
    "github",
    config=GithubConfig,
    title="GitHub",
    description="Repositories, issues, pull requests, files, workflow runs and releases of GitHub; "
    "changes are made once that is allowed.",
)


@kit.lifespan
async def _client(config: GithubConfig) -> AsyncIterator[Client]:
    client = Client(config)
    try:
        yield client
    finally:
        await client.close()


def reads(title: str) -> Callable[[F], F]:
    """Make a tool of a function that only looks."""
    annotations = ToolAnnotations(read_only=True, open_world=True)
    return kit.tool(title=title, annotations=annotations, requires_secrets=[TOKEN])


def adds(title: str) -> Callable[[F], F]:
    """Make a tool of a function that adds something and replaces nothing; offered once writing is allowed."""
    annotations = ToolAnnotations(read_only=False, destructive=False, idempotent=False, open_world=True)
    return kit.tool(title=title, annotations=annotations, requires_secrets=[TOKEN], enabled=_may_write)


def changes(title: str, *, idempotent: bool = False) -> Callable[[F], F]:
    """Make a tool of a function that replaces, merges or deletes something; offered once writing is allowed."""
    annotations = ToolAnnotations(read_only=False, destructive=True, idempotent=idempotent, open_world=True)
    return kit.tool(title=title, annotations=annotations, requires_secrets=[TOKEN], enabled=_may_write)


def _may_write(config: GithubConfig) -> bool:
    return config.write
