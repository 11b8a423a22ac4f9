"""Tools for issues, and for comments on issues and pull requests."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, Operation, RetryableToolError
from toolkit_github.asking import Chars, Number, PageNumber, PerPage, Repo, get, numbered, page_of, repository, send
from toolkit_github.kit import adds, changes, reads
from toolkit_github.paths import Query, in_repository
from toolkit_github.shapes import Page, Raw, clip, lean, listed, names, object_of, part, who

__all__ = [
    "Comment",
    "Issue",
    "IssueLine",
    "Made",
    "add_comment",
    "create_issue",
    "get_issue",
    "list_comments",
    "list_issues",
    "made",
    "search_issues",
    "update_issue",
]


class IssueLine(TypedDict):
    """An issue, or a pull request if `pull_request` is true."""

    repo: NotRequired[str]
    number: int
    title: str
    state: str
    state_reason: NotRequired[str]
    pull_request: NotRequired[bool]
    draft: NotRequired[bool]
    author: str
    labels: NotRequired[list[str]]
    assignees: NotRequired[list[str]]
    milestone: NotRequired[str]
    comments: int
    updated_at: str


class Issue(IssueLine):
    """An issue with its text."""

    body: NotRequired[str]
    url: str
    locked: NotRequired[bool]
    created_at: str
    closed_at: NotRequired[str]
    closed_by: NotRequired[str]


class Comment(TypedDict):
    """A comment on an issue or pull request; `url` is present for new comments only."""

    id: int
    author: str
    created_at: str
    edited_at: NotRequired[str]
    body: NotRequired[str]
    url: NotRequired[str]


class Made(TypedDict):
    """A created or changed issue, with the URL for people."""

    number: int
    state: str
    url: str


@reads("List issues")
async def list_issues(
    context: Context,
    repo: Repo,
    state: Literal["open", "closed", "all"] = "open",
    labels: Annotated[str, "names separated by commas; an issue must have all of them"] = "",
    assignee: Annotated[str, "a login, none, or * for any"] = "",
    author: Annotated[str, "a login"] = "",
    since: Annotated[str, "changed since, such as 2026-01-31T00:00:00Z"] = "",
    sort: Literal["created", "updated", "comments"] = "created",
    direction: Literal["asc", "desc"] = "desc",
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[IssueLine]:
    """List a repository's issues without their text. GitHub includes pull requests, marked pull_request."""
    query: Query = {
        "state": state,
        "labels": labels,
        "assignee": assignee,
        "creator": author,
        "since": since,
        "sort": sort,
        "direction": direction,
    }
    return await page_of(context, repository(repo), in_repository(repo, "issues"), _issue_line, per_page, page, query)


@reads("Search issues and pull requests")
async def search_issues(
    context: Context,
    query: Annotated[
        str,
        "in GitHub's syntax with is:issue or is:pr, such as 'crash is:issue is:open repo:octocat/hello-world'",
        Field(min_length=1),
    ],
    sort: Literal["best", "created", "updated", "comments", "reactions"] = "best",
    direction: Literal["asc", "desc"] = "desc",
    per_page: PerPage = 20,
    page: PageNumber = 1,
) -> Page[IssueLine]:
    """Search issues and pull requests in all repositories that the token can see. At most 1000 can be listed."""
    parameters: Query = {"q": query, "sort": None if sort == "best" else sort, "order": direction}
    return await page_of(context, "The search", "/search/issues", _found_issue, per_page, page, parameters, "items")


@reads("Get an issue")
async def get_issue(context: Context, repo: Repo, number: Number, max_chars: Chars = 20_000) -> Issue:
    """Get an issue with its text. Its comments are listed by another tool."""
    path = in_repository(repo, "issues", number)
    return object_of(await get(context, numbered("Issue", number, repo), path), lambda raw: _issue(raw, max_chars))


@reads("List comments")
async def list_comments(
    context: Context,
    repo: Repo,
    number: Annotated[int, "number of the issue or pull request", Field(ge=1, le=2**31 - 1)],
    since: Annotated[str, "changed since, such as 2026-01-31T00:00:00Z"] = "",
    max_chars: Chars = 4000,
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[Comment]:
    """List the comments of an issue or the conversation of a pull request, oldest first."""
    path = in_repository(repo, "issues", number, "comments")
    answer = await get(
        context, numbered("Issue", number, repo), path, {"since": since, "per_page": per_page, "page": page}
    )
    return listed(answer, lambda raw: _comment(raw, max_chars))


@adds("Create an issue")
async def create_issue(
    context: Context,
    repo: Repo,
    title: Annotated[str, Field(min_length=1)],
    body: Annotated[str, "Markdown"] = "",
    labels: tuple[str, ...] = (),
    assignees: Annotated[tuple[str, ...], "logins"] = (),
) -> Made:
    """Create an issue."""
    members = {"title": title, "body": body or None, "labels": labels or None, "assignees": assignees or None}
    return object_of(await send(context, repository(repo), in_repository(repo, "issues"), members), made, changes=True)


@changes("Change an issue", Operation.UPDATE, idempotent=True)
async def update_issue(
    context: Context,
    repo: Repo,
    number: Annotated[int, "number of the issue or pull request", Field(ge=1, le=2**31 - 1)],
    title: str | None = None,
    body: Annotated[str | None, "Markdown to replace the text"] = None,
    state: Literal["open", "closed"] | None = None,
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None,
    labels: Annotated[tuple[str, ...] | None, "replace all its labels"] = None,
    assignees: Annotated[tuple[str, ...] | None, "logins that replace all its assignees"] = None,
) -> Made:
    """Change an issue or pull request: its state, title, text, labels or assignees."""
    members: dict[str, Any] = {
        "title": title,
        "body": body,
        "state": state,
        "state_reason": state_reason,
        "labels": labels,
        "assignees": assignees,
    }
    if all(value is None for value in members.values()):
        raise RetryableToolError("Nothing to change: set title, body, state, labels or assignees.")
    path = in_repository(repo, "issues", number)
    answer = await send(context, numbered("Issue", number, repo), path, members, method="PATCH")
    return object_of(answer, made, changes=True)


@adds("Comment")
async def add_comment(
    context: Context,
    repo: Repo,
    number: Annotated[int, "number of the issue or pull request", Field(ge=1, le=2**31 - 1)],
    body: Annotated[str, "Markdown", Field(min_length=1)],
) -> Comment:
    """Comment on an issue, or in the conversation of a pull request."""
    path = in_repository(repo, "issues", number, "comments")
    answer = await send(context, numbered("Issue", number, repo), path, {"body": body})
    return object_of(answer, lambda raw: Comment(**_comment(raw, 0), url=raw["html_url"]), changes=True)


def made(raw: Raw) -> Made:
    """Trim a created or changed issue or pull request."""
    return Made(number=raw["number"], state=raw["state"], url=raw["html_url"])


def _issue_line(raw: Raw) -> IssueLine:
    item = IssueLine(
        number=raw["number"],
        title=raw["title"],
        state=raw["state"],
        state_reason=raw.get("state_reason"),
        pull_request="pull_request" in raw,
        draft=raw.get("draft"),
        author=who(raw["user"]),
        labels=names(raw["labels"], "name"),
        assignees=names(raw.get("assignees"), "login"),
        milestone=part(raw, "milestone", "title"),
        comments=raw["comments"],
        updated_at=raw["updated_at"],
    )
    return lean(item)


def _found_issue(raw: Raw) -> IssueLine:
    owner, name = raw["repository_url"].split("/")[-2:]
    return IssueLine(repo=f"{owner}/{name}", **_issue_line(raw))


def _issue(raw: Raw, limit: int) -> Issue:
    closed_by = raw.get("closed_by")
    item = Issue(
        **_issue_line(raw),
        body=clip(raw.get("body"), limit),
        url=raw["html_url"],
        locked=raw["locked"],
        created_at=raw["created_at"],
        closed_at=raw["closed_at"],
        closed_by=who(closed_by) if closed_by else "",
    )
    return lean(item)


def _comment(raw: Raw, limit: int) -> Comment:
    edited = raw["updated_at"] if raw["updated_at"] != raw["created_at"] else ""
    item = Comment(
        id=raw["id"],
        author=who(raw["user"]),
        created_at=raw["created_at"],
        edited_at=edited,
        body=clip(raw.get("body"), limit),
    )
    return lean(item)
