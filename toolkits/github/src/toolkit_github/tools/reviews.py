"""Tools that list, create and request reviews of pull requests."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, Operation, RetryableToolError
from toolkit_github.asking import Chars, Number, PageNumber, PerPage, Repo, numbered, page_of_pull, send
from toolkit_github.kit import adds, reads
from toolkit_github.paths import in_repository
from toolkit_github.shapes import Page, Raw, clip, lean, object_of, who
from toolkit_github.tools.issues import Made, made

__all__ = [
    "LineComment",
    "Review",
    "ReviewComment",
    "list_review_comments",
    "list_reviews",
    "request_reviewers",
    "review_pull_request",
]


class Review(TypedDict):
    """A review; its comments on lines are listed separately."""

    id: int
    author: str
    state: str
    body: NotRequired[str]
    commit: NotRequired[str]
    submitted_at: NotRequired[str]


class ReviewComment(TypedDict):
    """A comment on lines of a file; `line` is missing if later commits changed it."""

    id: int
    author: str
    path: str
    line: NotRequired[int]
    start_line: NotRequired[int]
    side: NotRequired[str]
    reply_to: NotRequired[int]
    created_at: str
    body: NotRequired[str]


class LineComment(TypedDict):
    """A comment on a line of the diff, or from `start_line` to `line`."""

    path: str
    line: Annotated[int, Field(ge=1)]
    start_line: NotRequired[Annotated[int, Field(ge=1)]]
    side: NotRequired[Annotated[Literal["LEFT", "RIGHT"], Field(description="LEFT for a deleted line")]]
    body: Annotated[str, Field(min_length=1)]


@reads("List reviews")
async def list_reviews(
    context: Context,
    repo: Repo,
    number: Number,
    max_chars: Chars = 4000,
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[Review]:
    """List the reviews of a pull request, oldest first: who approved or requested changes."""
    return await page_of_pull(context, repo, number, "reviews", lambda raw: _review(raw, max_chars), per_page, page)


@reads("List review comments")
async def list_review_comments(
    context: Context,
    repo: Repo,
    number: Number,
    max_chars: Chars = 4000,
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[ReviewComment]:
    """List the line comments of a pull request, oldest first."""
    return await page_of_pull(
        context, repo, number, "comments", lambda raw: _review_comment(raw, max_chars), per_page, page
    )


@adds("Review a pull request")
async def review_pull_request(
    context: Context,
    repo: Repo,
    number: Number,
    event: Annotated[
        Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"], "the verdict; all except APPROVE require a body"
    ],
    body: Annotated[str, "Markdown"] = "",
    comments: Annotated[tuple[LineComment, ...], "comments on lines of the diff"] = (),
    commit: Annotated[str, "SHA of the reviewed commit; the last commit if omitted"] = "",
) -> Review:
    """Submit a review of a pull request, with comments on lines. It is visible to others at once."""
    if event != "APPROVE" and not body:
        raise RetryableToolError(f"A review with the event {event} requires a body.")
    members = {
        "event": event,
        "body": body or None,
        "comments": [_checked(comment) for comment in comments] or None,
        "commit_id": commit or None,
    }
    path = in_repository(repo, "pulls", number, "reviews")
    answer = await send(context, numbered("Pull request", number, repo), path, members)
    return object_of(answer, lambda raw: _review(raw, 0), changes=True)


@adds("Ask for a review", Operation.UPDATE)
async def request_reviewers(
    context: Context,
    repo: Repo,
    number: Number,
    reviewers: Annotated[tuple[str, ...], "logins"] = (),
    teams: Annotated[tuple[str, ...], "slugs of teams"] = (),
) -> Made:
    """Ask people or teams to review a pull request."""
    if not reviewers and not teams:
        raise RetryableToolError("Name at least one reviewer or team.")
    path = in_repository(repo, "pulls", number, "requested_reviewers")
    members = {"reviewers": reviewers or None, "team_reviewers": teams or None}
    return object_of(await send(context, numbered("Pull request", number, repo), path, members), made, changes=True)


def _checked(comment: LineComment) -> LineComment:
    """Check that the range of a comment begins above its end."""
    start = comment.get("start_line")
    if start is None:
        return comment
    if start >= comment["line"]:
        raise RetryableToolError("start_line of a comment must be above its line: omit it for a single line.")
    return LineComment(**comment, start_side=comment.get("side", "RIGHT"))  # type: ignore[typeddict-unknown-key]


def _review(raw: Raw, limit: int) -> Review:
    item = Review(
        id=raw["id"],
        author=who(raw["user"]),
        state=raw["state"],
        body=clip(raw["body"], limit),
        commit=raw["commit_id"],
        submitted_at=raw.get("submitted_at"),
    )
    return lean(item)


def _review_comment(raw: Raw, limit: int) -> ReviewComment:
    item = ReviewComment(
        id=raw["id"],
        author=who(raw["user"]),
        path=raw["path"],
        line=raw.get("line"),
        start_line=raw.get("start_line"),
        side=raw.get("side"),
        reply_to=raw.get("in_reply_to_id"),
        created_at=raw["created_at"],
        body=clip(raw["body"], limit),
    )
    return lean(item)
