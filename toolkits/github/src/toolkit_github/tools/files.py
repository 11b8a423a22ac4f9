"""Tools that read the files of a repository: directories, files, code search."""

from base64 import b64decode
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context, RetryableToolError, ToolExecutionError
from toolkit_github.asking import PageNumber, PerPage, Repo, get
from toolkit_github.client import Answer
from toolkit_github.config import GithubConfig
from toolkit_github.kit import reads
from toolkit_github.paths import in_repository, repository_path, shown
from toolkit_github.shapes import Page, Raw, clip, lean, listed, object_of
from toolkit_github.texts import by_lines, by_offset, decoded

__all__ = ["CodeMatch", "Entry", "FileText", "get_file", "list_directory", "search_code"]

TEXT_MATCH = "application/vnd.github.text-match+json"

Ref = Annotated[str, "branch, tag or SHA; the default branch if omitted"]


class Entry(TypedDict):
    """An entry of a directory: file, dir, symlink or submodule; `size` in bytes for files."""

    path: str
    type: str
    size: NotRequired[int]


class FileText(TypedDict):
    """A part of a text file, or the facts about a binary one.

    Replacing or deleting the file requires `sha`. To continue reading, use `next_line` or `next_offset`.
    """

    path: str
    sha: str
    size: int
    binary: NotRequired[bool]
    encoding: NotRequired[str]
    first_line: NotRequired[int]
    last_line: NotRequired[int]
    total_lines: NotRequired[int]
    next_line: NotRequired[int]
    next_offset: NotRequired[int]
    text: NotRequired[str]


class CodeMatch(TypedDict):
    """A file found by code search, with the matching places."""

    repo: str
    path: str
    sha: str
    matches: NotRequired[list[str]]


@reads("List a directory")
async def list_directory(
    context: Context,
    repo: Repo,
    path: Annotated[str, "from the root of the repository; the root if omitted"] = "",
    ref: Ref = "",
    per_page: Annotated[int, "items per page", Field(ge=1, le=1000)] = 200,
    page: PageNumber = 1,
) -> Page[Entry]:
    """List a directory of a repository. GitHub lists at most 1000 entries."""
    answer = await _contents(context, repo, path, ref)
    if isinstance(answer.data, dict):
        raise RetryableToolError(f"{shown(path)} is not a directory: get the file instead.")
    entries = listed(answer, _entry)["items"]
    first = (page - 1) * per_page
    result = Page(items=entries[first : first + per_page], total=len(entries))
    if first + per_page < len(entries):
        result["next_page"] = page + 1
    return result


@reads("Get a file")
async def get_file(
    context: Context,
    repo: Repo,
    path: Annotated[str, "from the root of the repository, such as src/main.py"],
    ref: Ref = "",
    start_line: Annotated[int, "first line, from 1; a negative number counts from the end"] = 1,
    end_line: Annotated[int, "last line; 0 for as many as fit", Field(ge=0)] = 0,
    offset: Annotated[int | None, "begin at this character instead of a line; for very long lines", Field(ge=0)] = None,
    max_chars: Annotated[int, "maximum length of the text", Field(ge=100, le=500_000)] = 30_000,
) -> FileText:
    """Get a text file of a repository or some of its lines."""
    answer = await _contents(context, repo, path, ref)
    if isinstance(answer.data, list):
        raise RetryableToolError(f"{shown(path)} is a directory: list it instead.")
    size = object_of(answer, lambda raw: _size_of_file(raw, path))
    data = await _bytes(context, answer, repo, path, size)
    result = FileText(path=answer.data["path"], sha=answer.data["sha"], size=size)
    decoding = decoded(data)
    if decoding is None:
        result["binary"] = True
        return result
    text, encoding = decoding
    part = by_lines(text, start_line, end_line, max_chars) if offset is None else by_offset(text, offset, max_chars)
    result["encoding"] = "" if encoding == "utf-8" else encoding
    result["first_line"], result["last_line"], result["total_lines"] = part.first, part.last, part.total
    result["text"] = part.text
    if part.next_line is not None:
        result["next_line"] = part.next_line
    if part.next_offset is not None:
        result["next_offset"] = part.next_offset
    return lean(result)


async def _contents(context: Context, repo: str, path: str, ref: str) -> Answer:
    names = repository_path(path)
    place = in_repository(repo, "contents", *names) + ("" if names else "/")
    what = f"{shown(path or '/')} of {shown(repo)}" + (f" at {shown(ref)}" if ref else "")
    return await get(context, what, place, {"ref": ref})


def _size_of_file(raw: Raw, path: str) -> int:
    if raw["type"] == "symlink":
        raise RetryableToolError(f"{shown(path)} is a symbolic link to {shown(raw['target'])}: get the target instead.")
    if raw["type"] != "file":
        raise RetryableToolError(f"{shown(path)} is a submodule: another repository, at the commit {raw['sha']}.")
    _ = raw["path"], raw["sha"]
    return int(raw["size"])


async def _bytes(context: Context, answer: Answer, repo: str, path: str, size: int) -> bytes:
    """Return the content of a file. GitHub returns files above 1 MB only as blobs."""
    config: GithubConfig = context.config
    if size > config.max_file_bytes:
        raise ToolExecutionError(
            f"{shown(path)} has {size} bytes: the operator allows at most {config.max_file_bytes}."
        )
    if size and answer.data.get("encoding") != "base64":
        blob = in_repository(repo, "git", "blobs", str(answer.data["sha"]))
        limit = config.max_file_bytes * 3 // 2 + 65_536
        answer = await get(context, f"{shown(path)} of {shown(repo)}", blob, limit=limit)
    return object_of(answer, lambda raw: b64decode(raw["content"]))


def _entry(raw: Raw) -> Entry:
    kind = raw["type"]
    if kind == "file" and "/git/trees/" in (raw["git_url"] or ""):
        kind = "submodule"  # in a list GitHub calls it a file, for historical reasons
    item = Entry(path=raw["path"], type=kind)
    if kind == "file":
        item["size"] = raw["size"]
    return item


@reads("Search code")
async def search_code(
    context: Context,
    query: Annotated[
        str, "in GitHub's syntax, such as 'parse_url repo:octocat/hello-world language:python'", Field(min_length=1)
    ],
    max_chars: Annotated[int, "cut each match after this many characters", Field(ge=0, le=10_000)] = 500,
    per_page: PerPage = 20,
    page: PageNumber = 1,
) -> Page[CodeMatch]:
    """Search code on default branches. Name a repo, org or user in the query. GitHub allows ten searches a minute."""
    answer = await get(
        context, "The search", "/search/code", {"q": query, "per_page": per_page, "page": page}, accept=TEXT_MATCH
    )
    return listed(answer, lambda raw: _code_match(raw, max_chars), "items")


def _code_match(raw: Raw, limit: int) -> CodeMatch:
    places: list[Any] = raw.get("text_matches") or []
    fragments = [clip(place["fragment"], limit) for place in places if place.get("property") == "content"]
    item = CodeMatch(
        repo=raw["repository"]["full_name"],
        path=raw["path"],
        sha=raw["sha"],
        matches=[fragment for fragment in fragments if fragment],
    )
    return lean(item)
