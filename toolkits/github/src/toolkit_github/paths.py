"""URLs below the API's base. A caller's values cannot change other parts of a URL."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from pegboard import RetryableToolError

__all__ = ["Query", "below", "in_repository", "login", "query_string", "repository_path", "revision", "shown"]

Query = Mapping[str, str | int | bool | None]
"""Parameters of a query. Values that are None or "" are omitted."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")


def in_repository(repo: str, *segments: str | int) -> str:
    """Return a path below `/repos/owner/name`; each segment becomes exactly one segment of the path.

    Raises:
        RetryableToolError: `repo` is not `owner/name`, or a segment is not allowed in a path.
    """
    owner, slash, name = repo.partition("/")
    if not slash or not _LOGIN.fullmatch(owner) or not _NAME.fullmatch(name) or name in (".", ".."):
        raise RetryableToolError(f"{shown(repo)} is not a repository: use owner/name, such as octocat/hello-world.")
    return below("repos", owner, name, *segments)


def below(*segments: str | int) -> str:
    """Return a path of percent-encoded segments.

    Raises:
        RetryableToolError: a segment is not allowed in a path.
    """
    return "".join("/" + _encoded(str(segment)) for segment in segments)


def repository_path(path: str) -> tuple[str, ...]:
    """Return the segments of a path in a repository, an empty list for the repository's root.

    Raises:
        RetryableToolError: the path is invalid or leaves the repository.
    """
    names = path.removesuffix("/").split("/") if path not in ("", ".", "/") else []
    if any(name in ("", ".", "..") for name in names):
        raise RetryableToolError(
            f"{shown(path)} is not a path in a repository: use a path from its root, without a leading /, "
            "such as src/main.py."
        )
    return tuple(names)


def revision(name: str) -> str:
    """Validate a branch name, tag name or commit SHA for a path.

    Raises:
        RetryableToolError: git does not allow the name.
    """
    if ".." in name or "." in name.split("/") or "" in name.split("/"):
        raise RetryableToolError(f"{shown(name)} is not a valid name of a branch, tag or commit.")
    return name


def login(name: str) -> str:
    """Validate the name of a user or an organization.

    Raises:
        RetryableToolError: GitHub does not allow the name.
    """
    if not _LOGIN.fullmatch(name):
        raise RetryableToolError(f"{shown(name)} is not a valid name of a user or organization.")
    return name


def query_string(query: Query) -> str:
    """Return the query of a URL including `?`, or "" for no parameters.

    Raises:
        RetryableToolError: a value is not valid Unicode.
    """
    parts = []
    for key, value in query.items():
        if value is None or value == "":
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        parts.append(f"{key}={_quoted(text)}")
    return "?" + "&".join(parts) if parts else ""


def shown(text: str, limit: int = 100) -> str:
    """Return a string in quotes for messages: shortened, without control characters."""
    if len(text) > limit:
        text = text[:limit] + "..."
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) + "'"


def _encoded(segment: str) -> str:
    if segment in ("", ".", "..") or any(c < " " or c == "\x7f" for c in segment):
        raise RetryableToolError(f"{shown(segment)} cannot be part of a name on GitHub.")
    return _quoted(segment)


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise RetryableToolError(f"{shown(text)} contains an unpaired surrogate: use valid Unicode.") from None
