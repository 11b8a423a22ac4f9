"""The toolkit and its decorators. All tools require a token. Tools that change something also require a setting."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from pegboard import Behavior, Classification, Operation, ServiceDomain, Toolkit, ToolMetadata
from pegboard_plugins.auth.auth_providers import GitHub
from toolkit_github.client import Client
from toolkit_github.config import GithubConfig

__all__ = ["NOTIFICATIONS", "PUBLIC", "REPOSITORIES", "WORKFLOWS", "adds", "changes", "kit", "reads"]

F = TypeVar("F", bound=Callable[..., Any])

PUBLIC: Sequence[str] = ()
"""The scopes for public items."""
NOTIFICATIONS = ("notifications",)
REPOSITORIES = ("repo",)
"""The smallest scope of GitHub that allows reading private repositories."""
WORKFLOWS = ("repo", "workflow")
"""The scopes for changing files. GitHub requires a separate scope for files in .github/workflows."""

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


def reads(title: str, scopes: Sequence[str] = REPOSITORIES) -> Callable[[F], F]:
    """Register a function as a read-only tool."""
    behavior = Behavior([Operation.READ], read_only=True, open_world=True)
    return kit.tool(title=title, metadata=_metadata(behavior), requires_auth=GitHub(scopes=scopes))


def adds(title: str, operation: Operation = Operation.CREATE) -> Callable[[F], F]:
    """Register a function as a tool that only adds. The tool requires that writing is allowed."""
    return _writes(title, Behavior([operation], destructive=False, idempotent=False), REPOSITORIES)


def changes(
    title: str, *operations: Operation, scopes: Sequence[str] = REPOSITORIES, idempotent: bool = False
) -> Callable[[F], F]:
    """Register a function as a tool that replaces, merges or deletes. The tool requires that writing is allowed."""
    return _writes(title, Behavior(operations, destructive=True, idempotent=idempotent), scopes)


def _writes(title: str, behavior: Behavior, scopes: Sequence[str]) -> Callable[[F], F]:
    metadata = _metadata(behavior._replace(read_only=False, open_world=True))
    return kit.tool(title=title, metadata=metadata, requires_auth=GitHub(scopes=scopes), enabled=_may_write)


def _metadata(behavior: Behavior) -> ToolMetadata:
    return ToolMetadata(Classification([ServiceDomain.SOURCE_CODE]), behavior)


def _may_write(config: GithubConfig) -> bool:
    return config.write
