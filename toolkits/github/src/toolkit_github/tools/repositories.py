"""Tools for repositories, branches and commits."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context
from toolkit_github.asking import Chars, PageNumber, PerPage, Repo, get, page_of, repository
from toolkit_github.kit import reads
from toolkit_github.paths import Query, below, in_repository, login, revision, shown
from toolkit_github.shapes import Page, Raw, clip, first_line, lean, names, object_of, part, who

__all__ = [
    "Branch",
    "ChangedFile",
    "Commit",
    "CommitLine",
    "Repository",
    "RepositoryLine",
    "changed_file",
    "get_commit",
    "get_repository",
    "list_branches",
    "list_commits",
    "list_repositories",
    "search_repositories",
]


class RepositoryLine(TypedDict):
    """A repository; `pushed_at` is the time of its last push."""

    repo: str
    description: NotRequired[str]
    private: NotRequired[bool]
    fork: NotRequired[bool]
    archived: NotRequired[bool]
    language: NotRequired[str]
    stars: int
    pushed_at: NotRequired[str]


class Repository(RepositoryLine):
    """A repository with all fields; `parent` is the repository that it was forked from."""

    url: str
    default_branch: str
    homepage: NotRequired[str]
    topics: NotRequired[list[str]]
    license: NotRequired[str]
    forks: int
    open_issues: int
    parent: NotRequired[str]
    permissions: NotRequired[list[str]]
    has_issues: NotRequired[bool]


class Branch(TypedDict):
    """A branch and its last commit."""

    name: str
    sha: str
    protected: NotRequired[bool]


class CommitLine(TypedDict):
    """A commit; `title` is the first line of its message."""

    sha: str
    title: str
    author: str
    date: NotRequired[str]


class ChangedFile(TypedDict):
    """A changed file; GitHub returns no `patch` for binary and very large files."""

    path: str
    previous_path: NotRequired[str]
    status: str
    additions: int
    deletions: int
    patch: NotRequired[str]


class Commit(TypedDict):
    """A commit with its files; `next_page` is present if more files follow."""

    sha: str
    message: str
    author: str
    date: NotRequired[str]
    url: str
    parents: NotRequired[list[str]]
    additions: NotRequired[int]
    deletions: NotRequired[int]
    files: NotRequired[list[ChangedFile]]
    next_page: NotRequired[int]


@reads("Search repositories")
async def search_repositories(
    context: Context,
    query: Annotated[str, "in GitHub's syntax, such as 'http client language:python stars:>100'", Field(min_length=1)],
    sort: Literal["best", "stars", "forks", "updated"] = "best",
    per_page: PerPage = 20,
    page: PageNumber = 1,
) -> Page[RepositoryLine]:
    """Search repositories on all of GitHub. At most 1000 results can be listed."""
    parameters: Query = {"q": query, "sort": None if sort == "best" else sort}
    return await page_of(
        context, "The search", "/search/repositories", _repository_line, per_page, page, parameters, "items"
    )


@reads("List repositories")
async def list_repositories(
    context: Context,
    owner: Annotated[str, "list its public repositories; if omitted, list all that the token can see"] = "",
    sort: Literal["pushed", "updated", "created", "full_name"] = "pushed",
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[RepositoryLine]:
    """List repositories, most recently pushed first."""
    path = below("users", login(owner), "repos") if owner else "/user/repos"
    direction = "asc" if sort == "full_name" else "desc"
    query: Query = {"sort": sort, "direction": direction}
    return await page_of(
        context, f"The user or organization {shown(owner)}", path, _repository_line, per_page, page, query
    )


@reads("Get a repository")
async def get_repository(context: Context, repo: Repo) -> Repository:
    """Describe a repository: default branch, topics, license, counts, and the rights of the token."""
    return object_of(await get(context, repository(repo), in_repository(repo)), _repository)


def _repository_line(raw: Raw) -> RepositoryLine:
    return lean(
        RepositoryLine(
            repo=raw["full_name"],
            description=raw["description"],
            private=raw["private"],
            fork=raw["fork"],
            archived=raw.get("archived"),
            language=raw.get("language"),
            stars=raw.get("stargazers_count", 0),
            pushed_at=raw.get("pushed_at"),
        )
    )


def _repository(raw: Raw) -> Repository:
    permissions = raw.get("permissions") or {}
    return lean(
        Repository(
            **_repository_line(raw),
            url=raw["html_url"],
            default_branch=raw["default_branch"],
            homepage=raw.get("homepage"),
            topics=raw.get("topics"),
            license=part(raw, "license", "spdx_id"),
            forks=raw["forks_count"],
            open_issues=raw["open_issues_count"],
            parent=part(raw, "parent", "full_name"),
            permissions=[name for name, held in permissions.items() if held],
            has_issues=raw["has_issues"],
        )
    )


@reads("List branches")
async def list_branches(
    context: Context,
    repo: Repo,
    protected: Annotated[bool, "only protected branches"] = False,
    per_page: PerPage = 50,
    page: PageNumber = 1,
) -> Page[Branch]:
    """List the branches of a repository, each with its last commit."""
    query: Query = {"protected": protected or None}
    return await page_of(context, repository(repo), in_repository(repo, "branches"), _branch, per_page, page, query)


def _branch(raw: Raw) -> Branch:
    return lean(Branch(name=raw["name"], sha=raw["commit"]["sha"], protected=raw["protected"]))


@reads("List commits")
async def list_commits(
    context: Context,
    repo: Repo,
    ref: Annotated[str, "branch, tag or SHA to begin at; the default branch if omitted"] = "",
    path: Annotated[str, "only commits that changed this file or directory"] = "",
    author: Annotated[str, "login or e-mail address"] = "",
    since: Annotated[str, "time such as 2026-01-31T00:00:00Z"] = "",
    until: Annotated[str, "time such as 2026-01-31T00:00:00Z"] = "",
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[CommitLine]:
    """List commits, newest first."""
    what = f"{shown(ref)} of {shown(repo)}" if ref else repository(repo)
    query: Query = {"sha": ref, "path": path, "author": author, "since": since, "until": until}
    return await page_of(context, what, in_repository(repo, "commits"), _commit_line, per_page, page, query)


def _commit_line(raw: Raw) -> CommitLine:
    item = CommitLine(
        sha=raw["sha"],
        title=first_line(raw["commit"]["message"]) or "(no message)",
        author=_author(raw),
        date=part(raw["commit"], "author", "date"),
    )
    return lean(item)


def _author(raw: Raw) -> str:
    """Return the login of a commit's author, or the name in the commit if GitHub does not know the user."""
    name = part(raw["commit"], "author", "name") or "unknown"
    return who(raw["author"]) if raw["author"] else str(name)


@reads("Get a commit")
async def get_commit(
    context: Context,
    repo: Repo,
    commit: Annotated[str, "SHA, or a branch or tag for its last commit"],
    max_chars: Chars = 4000,
    per_page: PerPage = 50,
    page: PageNumber = 1,
) -> Commit:
    """Get a commit with its changed files and their patches. max_chars=0 omits the patches."""
    path = in_repository(repo, "commits", revision(commit))
    answer = await get(context, f"{shown(commit)} of {shown(repo)}", path, {"per_page": per_page, "page": page})
    result = object_of(answer, lambda raw: _commit(raw, max_chars))
    if answer.next_page is not None:
        result["next_page"] = answer.next_page
    return result


def _commit(raw: Raw, limit: int) -> Commit:
    item = Commit(
        sha=raw["sha"],
        message=raw["commit"]["message"] or "(no message)",
        author=_author(raw),
        date=part(raw["commit"], "author", "date"),
        url=raw["html_url"],
        parents=names(raw["parents"], "sha"),
        additions=part(raw, "stats", "additions"),
        deletions=part(raw, "stats", "deletions"),
        files=[changed_file(file, limit) for file in raw.get("files") or ()],
    )
    return lean(item)


def changed_file(raw: Raw, limit: int) -> ChangedFile:
    """Trim a file of a commit or pull request. Cut its patch to `limit` characters."""
    return lean(
        ChangedFile(
            path=raw["filename"],
            previous_path=raw.get("previous_filename"),
            status=raw["status"],
            additions=raw["additions"],
            deletions=raw["deletions"],
            patch=clip(raw.get("patch"), limit),
        )
    )
