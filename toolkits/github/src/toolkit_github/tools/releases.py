"""Tools that list, read and create releases."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard import Context
from toolkit_github.asking import Chars, PageNumber, PerPage, Repo, get, page_of, repository, send
from toolkit_github.kit import adds, reads
from toolkit_github.paths import in_repository, revision, shown
from toolkit_github.shapes import Page, Raw, clip, lean, object_of, who

__all__ = ["Asset", "Release", "ReleaseLine", "create_release", "get_release", "list_releases"]


class ReleaseLine(TypedDict):
    """A release; a draft has no `published_at`."""

    tag: str
    name: NotRequired[str]
    draft: NotRequired[bool]
    prerelease: NotRequired[bool]
    author: str
    published_at: NotRequired[str]


class Asset(TypedDict):
    """A file of a release; `size` in bytes."""

    name: str
    size: int
    downloads: int
    url: str


class Release(ReleaseLine):
    """A release with its notes and files."""

    url: str
    body: NotRequired[str]
    assets: NotRequired[list[Asset]]


@reads("List releases")
async def list_releases(
    context: Context, repo: Repo, per_page: PerPage = 20, page: PageNumber = 1
) -> Page[ReleaseLine]:
    """List the releases of a repository without their notes, newest first."""
    return await page_of(context, repository(repo), in_repository(repo, "releases"), _release_line, per_page, page)


@reads("Get a release")
async def get_release(
    context: Context,
    repo: Repo,
    tag: Annotated[str, "its tag; the latest release if omitted"] = "",
    max_chars: Chars = 20_000,
) -> Release:
    """Get a release with its notes and files."""
    last = ("tags", revision(tag)) if tag else ("latest",)
    what = f"The release {shown(tag)} of {shown(repo)}" if tag else f"A release of {shown(repo)}"
    return object_of(
        await get(context, what, in_repository(repo, "releases", *last)), lambda raw: _release(raw, max_chars)
    )


@adds("Create a release")
async def create_release(
    context: Context,
    repo: Repo,
    tag: Annotated[str, "created if it does not exist", Field(min_length=1)],
    target: Annotated[str, "branch or SHA for a new tag; the default branch if omitted"] = "",
    name: str = "",
    body: Annotated[str, "Markdown"] = "",
    generate_notes: Annotated[bool, "let GitHub write the notes, after the body"] = False,
    draft: bool = False,
    prerelease: bool = False,
) -> Release:
    """Create a release of a tag. It is published at once unless draft is set."""
    members = {
        "tag_name": revision(tag),
        "target_commitish": target or None,
        "name": name or None,
        "body": body or None,
        "generate_release_notes": generate_notes or None,
        "draft": draft,
        "prerelease": prerelease,
    }
    answer = await send(context, repository(repo), in_repository(repo, "releases"), members)
    return object_of(answer, lambda raw: _release(raw, 4000), changes=True)


def _release_line(raw: Raw) -> ReleaseLine:
    item = ReleaseLine(
        tag=raw["tag_name"],
        name=raw["name"],
        draft=raw["draft"],
        prerelease=raw["prerelease"],
        author=who(raw["author"]),
        published_at=raw["published_at"],
    )
    return lean(item)


def _release(raw: Raw, limit: int) -> Release:
    item = Release(
        **_release_line(raw),
        url=raw["html_url"],
        body=clip(raw.get("body"), limit),
        assets=[_asset(asset) for asset in raw["assets"]],
    )
    return lean(item)


def _asset(raw: Raw) -> Asset:
    return Asset(name=raw["name"], size=raw["size"], downloads=raw["download_count"], url=raw["browser_download_url"])
