"""Tools that change files of a repository by commits, and create branches."""

from base64 import b64encode
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, Operation, RetryableToolError
from toolkit_github.asking import Repo, get, repository, send
from toolkit_github.kit import WORKFLOWS, adds, changes
from toolkit_github.paths import in_repository, repository_path, revision, shown
from toolkit_github.shapes import Raw, lean, object_of, part
from toolkit_github.tools.repositories import Branch

__all__ = ["Written", "create_branch", "delete_file", "write_file"]

Path = Annotated[str, "from the root of the repository, such as src/main.py", Field(min_length=1)]
Message = Annotated[str, "message of the commit", Field(min_length=1)]
BranchName = Annotated[str, "the default branch if omitted"]


class Written(TypedDict):
    """The new commit; `sha` is the SHA of the changed file."""

    path: str
    sha: NotRequired[str]
    commit: str
    url: NotRequired[str]


@changes("Write a file", Operation.CREATE, Operation.UPDATE, scopes=WORKFLOWS)
async def write_file(
    context: Context,
    repo: Repo,
    path: Path,
    content: Annotated[str, "the complete new text"],
    message: Message,
    branch: BranchName = "",
    sha: Annotated[str, "sha of the current file, to replace it; omit it for a new file"] = "",
) -> Written:
    """Create or replace a file by a commit on a branch."""
    try:
        encoded = b64encode(content.encode()).decode()
    except UnicodeEncodeError:
        raise RetryableToolError("The content contains an unpaired surrogate: use valid Unicode.") from None
    body = {"message": message, "content": encoded, "branch": branch or None, "sha": sha or None}
    answer = await send(context, _what(repo, path, branch), _place(repo, path), body, method="PUT")
    return object_of(answer, lambda raw: _written(raw, path), changes=True)


@changes("Delete a file", Operation.DELETE, scopes=WORKFLOWS)
async def delete_file(
    context: Context,
    repo: Repo,
    path: Path,
    sha: Annotated[str, "sha of the current file", Field(min_length=1)],
    message: Message,
    branch: BranchName = "",
) -> Written:
    """Delete a file by a commit on a branch."""
    body = {"message": message, "sha": sha, "branch": branch or None}
    answer = await send(context, _what(repo, path, branch), _place(repo, path), body, method="DELETE")
    return object_of(answer, lambda raw: _written(raw, path), changes=True)


@adds("Create a branch")
async def create_branch(
    context: Context,
    repo: Repo,
    name: Annotated[str, "such as fix/typo", Field(min_length=1)],
    source: Annotated[str, "branch, tag or SHA to begin at; the default branch if omitted"] = "",
) -> Branch:
    """Create a branch."""
    begin = in_repository(repo, "commits", revision(source or "HEAD"))
    what = f"{shown(source)} of {shown(repo)}" if source else repository(repo)
    sha = object_of(await get(context, what, begin, {"per_page": 1}), lambda raw: str(raw["sha"]))
    body = {"ref": f"refs/heads/{revision(name)}", "sha": sha}
    answer = await send(context, repository(repo), in_repository(repo, "git", "refs"), body)
    return object_of(answer, lambda raw: Branch(name=name, sha=raw["object"]["sha"]), changes=True)


def _place(repo: str, path: str) -> str:
    names = repository_path(path)
    if not names:
        raise RetryableToolError("The path is empty: use the path of a file.")
    return in_repository(repo, "contents", *names)


def _what(repo: str, path: str, branch: str) -> str:
    return f"{shown(path)} or the branch in {shown(repo)}" if branch else f"{shown(path)} of {shown(repo)}"


def _written(raw: Raw, path: str) -> Written:
    item = Written(
        path=part(raw, "content", "path") or path,
        sha=part(raw, "content", "sha"),
        commit=raw["commit"]["sha"],
        url=raw["commit"].get("html_url"),
    )
    return lean(item)
