"""Parameters that tools share, with their descriptions, and requests to GitHub in one line."""

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
PageNumber = Annotated[int, "next_page of the last answer, to go on", Field(ge=1, le=10_000)]
PerPage = Annotated[int, "how many a page", Field(ge=1, le=100)]
Chars = Annotated[int, "cut each long text after this many characters", Field(ge=0, le=100_000)]

_NOTHING: Query = {}


async def get(
    context: Context, what: str, path: str, query: Query = _NOTHING, *, accept: str = JSON, limit: int = 0
) -> Answer:
    """Send a request. `what` is the beginning of the message if the item is not found."""
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
    """Ask for one page of a list, each of its items trimmed; `key` is where the list stands in the answer."""
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
    """Change something; members of `body` that are None are left out."""
    given = None if body is None else {key: value for key, value in body.items() if value is not None}
    return await _ask(context, Ask(what, path, method=method, body=given))


async def _ask(context: Context, ask: Ask) -> Answer:
    return await client(context).ask(ask, context.get_auth_token_or_empty())


def repository(repo: str) -> str:
    """Name a repository for a sentence."""
    return f"The repository {shown(repo)}"


def numbered(kind: str, number: int, repo: str) -> str:
    """Name an issue or the like for a sentence."""
    return f"{kind} {number} of {shown(repo)}"


def client(context: Context) -> Client:
    """Return the client for GitHub."""
    state: Client = context.state
    return state
