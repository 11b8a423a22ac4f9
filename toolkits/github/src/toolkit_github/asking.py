"""Shared parameters of tools with their descriptions, and helpers for requests to GitHub."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field

from pegboard import Context
from toolkit_github.client import JSON, Answer, Ask, Client
from toolkit_github.paths import Query, in_repository, shown
from toolkit_github.shapes import Page, Raw, listed

__all__ = [
    "Chars",
    "Number",
    "PageNumber",
    "PerPage",
    "Repo",
    "client",
    "get",
    "numbered",
    "page_of",
    "page_of_pull",
    "repository",
    "send",
]

T = TypeVar("T")

Repo = Annotated[str, "owner/name, such as octocat/hello-world"]
Number = Annotated[int, "its number in the repository", Field(ge=1, le=2**31 - 1)]
PageNumber = Annotated[int, "next_page of the previous result, to continue", Field(ge=1, le=10_000)]
PerPage = Annotated[int, "items per page", Field(ge=1, le=100)]
Chars = Annotated[int, "cut each long text after this many characters", Field(ge=0, le=100_000)]

_NOTHING: Query = {}


async def get(
    context: Context, what: str, path: str, query: Query = _NOTHING, *, accept: str = JSON, limit: int = 0
) -> Answer:
    """Send a request. `what` names the item in error messages."""
    return await _ask(context, Ask(what, path, query, accept=accept, limit=limit))


async def page_of(
    context: Context,
    what: str,
    path: str,
    trim: Callable[[Raw], T],
    per_page: int,
    page: int,
    query: Query = _NOTHING,
    key: str = "",
) -> Page[T]:
    """Request one page of a list and trim its items. `key` is the member of the response that holds the list."""
    return listed(await get(context, what, path, {**query, "per_page": per_page, "page": page}), trim, key)


async def page_of_pull(
    context: Context, repo: str, number: int, last: str, trim: Callable[[Raw], T], per_page: int, page: int
) -> Page[T]:
    """Request one page of items of a pull request."""
    path = in_repository(repo, "pulls", number, last)
    return await page_of(context, numbered("Pull request", number, repo), path, trim, per_page, page)


async def send(
    context: Context, what: str, path: str, body: Mapping[str, Any] | None = None, *, method: str = "POST"
) -> Answer:
    """Send a request that changes something. Members of `body` that are None are omitted."""
    members = None if body is None else {key: value for key, value in body.items() if value is not None}
    return await _ask(context, Ask(what, path, method=method, body=members))


async def _ask(context: Context, ask: Ask) -> Answer:
    return await client(context).ask(ask, context.get_auth_token_or_empty())


def repository(repo: str) -> str:
    """Return the name of a repository for messages."""
    return f"The repository {shown(repo)}"


def numbered(kind: str, number: int, repo: str) -> str:
    """Return the name of an issue or similar item for messages."""
    return f"{kind} {number} of {shown(repo)}"


def client(context: Context) -> Client:
    """Return the client for GitHub."""
    state: Client = context.state
    return state
