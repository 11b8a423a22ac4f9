"""Tools that list, read, create and merge pull requests."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, Operation
from toolkit_github.asking import (
    Chars,
    Number,
    PageNumber,
    PerPage,
    Repo,
    get,
    numbered,
    page_of,
    page_of_pull,
    repository,
    send,
)
from toolkit_github.kit import adds, changes, reads
from toolkit_github.paths import Query, in_repository, revision, shown
from toolkit_github.shapes import Page, Raw, clip, lean, listed, names, object_of, part, who
from toolkit_github.tools.issues import Made, made
from toolkit_github.tools.repositories import ChangedFile, changed_file

__all__ = [
    "Check",
    "Merged",
    "Pull",
    "PullLine",
    "create_pull_request",
    "get_pull_request",
    "list_checks",
    "list_pull_request_files",
    "list_pull_requests",
    "merge_pull_request",
]

_MERGEABLE: dict[Any, Any] = {True: "yes", False: "no", None: None}


class PullLine(TypedDict):
    """A pull request to merge `head` into `base`; a head in another repository is owner:branch."""

    number: int
    title: str
    state: str
    draft: NotRequired[bool]
    author: str
    head: str
    base: str
    labels: NotRequired[list[str]]
    reviewers: NotRequired[list[str]]
    updated_at: str


class Pull(PullLine):
    """A pull request with its text; `mergeable` is missing until GitHub has computed it."""

    body: NotRequired[str]
    url: str
    head_sha: str
    merged: NotRequired[bool]
    mergeable: NotRequired[Literal["yes", "no"]]
    mergeable_state: NotRequired[str]
    commits: int
    changed_files: int
    additions: int
    deletions: int
    comments: int
    review_comments: int
    created_at: str
    merged_at: NotRequired[str]
    merged_by: NotRequired[str]


class Merged(TypedDict):
    """The result of a merge: the new commit."""

    merged: bool
    sha: str


class Check(TypedDict):
    """A check of a commit; `conclusion` is present once `status` is completed."""

    name: str
    status: str
    conclusion: NotRequired[str]
    title: NotRequired[str]
    app: NotRequired[str]
    url: NotRequired[str]


@reads("List pull requests")
async def list_pull_requests(
    context: Context,
    repo: Repo,
    state: Literal["open", "closed", "all"] = "open",
    head: Annotated[str, "only from this branch, as owner:branch"] = "",
    base: Annotated[str, "only into this branch"] = "",
    sort: Literal["created", "updated", "popularity", "long-running"] = "created",
    direction: Literal["asc", "desc"] = "desc",
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[PullLine]:
    """List a repository's pull requests without their text."""
    query: Query = {"state": state, "head": head, "base": base, "sort": sort, "direction": direction}
    return await page_of(context, repository(repo), in_repository(repo, "pulls"), _pull_line, per_page, page, query)


@reads("Get a pull request")
async def get_pull_request(context: Context, repo: Repo, number: Number, max_chars: Chars = 20_000) -> Pull:
    """Get a pull request: text, branches, size, mergeability. Other tools list its files and reviews."""
    answer = await get(context, numbered("Pull request", number, repo), in_repository(repo, "pulls", number))
    return object_of(answer, lambda raw: _pull(raw, max_chars))


@reads("List the files of a pull request")
async def list_pull_request_files(
    context: Context,
    repo: Repo,
    number: Number,
    max_chars: Chars = 4000,
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[ChangedFile]:
    """List the files that a pull request changes, each with its diff as patch. max_chars=0 omits the diffs."""
    return await page_of_pull(context, repo, number, "files", lambda raw: changed_file(raw, max_chars), per_page, page)


@reads("List checks")
async def list_checks(
    context: Context,
    repo: Repo,
    ref: Annotated[str, "branch, tag or SHA, such as head_sha of a pull request"],
    status: Literal["queued", "in_progress", "completed"] | None = None,
    per_page: PerPage = 50,
    page: PageNumber = 1,
) -> Page[Check]:
    """List the checks (CI) of a commit: which passed, failed or still run."""
    path = in_repository(repo, "commits", revision(ref), "check-runs")
    answer = await get(
        context, f"{shown(ref)} of {shown(repo)}", path, {"status": status, "per_page": per_page, "page": page}
    )
    return listed(answer, _check, "check_runs")


@adds("Create a pull request")
async def create_pull_request(
    context: Context,
    repo: Repo,
    title: Annotated[str, Field(min_length=1)],
    head: Annotated[str, "branch with the changes; owner:branch for a fork", Field(min_length=1)],
    base: Annotated[str, "branch to merge into", Field(min_length=1)],
    body: Annotated[str, "Markdown"] = "",
    draft: bool = False,
    maintainer_can_modify: bool = True,
) -> Made:
    """Create a pull request from a branch on GitHub."""
    members = {
        "title": title,
        "head": head,
        "base": base,
        "body": body or None,
        "draft": draft,
        "maintainer_can_modify": maintainer_can_modify,
    }
    answer = await send(context, repository(repo), in_repository(repo, "pulls"), members)
    return object_of(answer, made, changes=True)


@changes("Merge a pull request", Operation.UPDATE)
async def merge_pull_request(
    context: Context,
    repo: Repo,
    number: Number,
    method: Literal["merge", "squash", "rebase"] = "merge",
    head_sha: Annotated[str, "the commit that you reviewed; GitHub refuses the merge if the head has changed"] = "",
    commit_title: str = "",
    commit_message: str = "",
) -> Merged:
    """Merge a pull request into its base branch. This cannot be undone."""
    members = {
        "merge_method": method,
        "sha": head_sha or None,
        "commit_title": commit_title or None,
        "commit_message": commit_message or None,
    }
    path = in_repository(repo, "pulls", number, "merge")
    answer = await send(context, numbered("Pull request", number, repo), path, members, method="PUT")
    return object_of(answer, lambda raw: Merged(merged=raw["merged"], sha=raw["sha"]), changes=True)


def _pull_line(raw: Raw) -> PullLine:
    head, base = raw["head"], raw["base"]
    same = (head["repo"] or {}).get("full_name") == base["repo"]["full_name"]
    item = PullLine(
        number=raw["number"],
        title=raw["title"],
        state=raw["state"],
        draft=raw.get("draft"),
        author=who(raw["user"]),
        head=head["ref"] if same else head["label"] or head["ref"],
        base=base["ref"],
        labels=names(raw["labels"], "name"),
        reviewers=names(raw.get("requested_reviewers"), "login") + names(raw.get("requested_teams"), "slug"),
        updated_at=raw["updated_at"],
    )
    return lean(item)


def _pull(raw: Raw, limit: int) -> Pull:
    item = Pull(
        **_pull_line(raw),
        body=clip(raw["body"], limit),
        url=raw["html_url"],
        head_sha=raw["head"]["sha"],
        merged=raw["merged"],
        mergeable=_MERGEABLE[raw["mergeable"]],
        mergeable_state=raw["mergeable_state"],
        commits=raw["commits"],
        changed_files=raw["changed_files"],
        additions=raw["additions"],
        deletions=raw["deletions"],
        comments=raw["comments"],
        review_comments=raw["review_comments"],
        created_at=raw["created_at"],
        merged_at=raw["merged_at"],
        merged_by=who(raw["merged_by"]) if raw["merged_by"] else "",
    )
    return lean(item)


def _check(raw: Raw) -> Check:
    item = Check(
        name=raw["name"],
        status=raw["status"],
        conclusion=raw["conclusion"],
        title=part(raw, "output", "title"),
        app=part(raw, "app", "slug"),
        url=raw.get("html_url"),
    )
    return lean(item)
