"""Shared helpers that shorten GitHub's responses for models.

A response that does not match GitHub's description is an error, never a partial result.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from toolkit_github.client import Answer
from toolkit_github.problems import not_understood

__all__ = ["Page", "Raw", "clip", "first_line", "lean", "listed", "names", "object_of", "part", "who"]

T = TypeVar("T")

Raw = Any
"""An object as GitHub sends it."""


class Page(TypedDict, Generic[T]):
    """One page. `next_page` is present if more pages follow. `total` is GitHub's number of all items, if known.

    `incomplete` means that GitHub stopped the search early, so more items may exist.
    """

    items: list[T]
    next_page: NotRequired[int]
    total: NotRequired[int]
    incomplete: NotRequired[bool]


def object_of(answer: Answer, trim: Callable[[Raw], T], *, changes: bool = False) -> T:
    """Trim a response that is one object.

    Raises:
        UpstreamError: it has another form.
    """
    if isinstance(answer.data, dict):
        try:
            return trim(answer.data)
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # the error below does not contain the response
    raise not_understood(answer.label, changes=changes)


def listed(answer: Answer, trim: Callable[[Raw], T], key: str = "") -> Page[T]:
    """Trim a response that is a list, or an object with the list in `key`.

    Raises:
        UpstreamError: it has another form.
    """
    try:
        raw = answer.data[key] if key else answer.data
        result = Page(items=[trim(item) for item in _list(raw)])
        if key and "total_count" in answer.data:
            result["total"] = int(answer.data["total_count"])
        if key and answer.data.get("incomplete_results"):
            result["incomplete"] = True
    except (KeyError, TypeError, ValueError, AttributeError):
        raise not_understood(answer.label) from None
    if answer.next_page is not None:
        result["next_page"] = answer.next_page
    return result


def _list(raw: object) -> Sequence[Any]:
    if not isinstance(raw, list):
        raise TypeError
    return raw


def lean(item: T) -> T:
    """Remove None, False, and empty strings and lists to save tokens. Keep numbers."""
    kept = {key: value for key, value in cast(dict[str, Any], item).items() if value or isinstance(value, int | float)}
    return cast(T, {key: value for key, value in kept.items() if value is not False})


def who(user: Raw | None) -> str:
    """Return the login of a user. GitHub calls a deleted user `ghost`."""
    return str(user["login"]) if user else "ghost"


def part(raw: Raw, key: str, inner: str) -> Any:
    """Return a member of an object. Return None if the object is None or the member is missing."""
    return (raw.get(key) or {}).get(inner)


def names(items: Sequence[Any] | None, key: str) -> list[str]:
    """Return one member of each object, such as the names of labels. Return plain strings unchanged."""
    return [item if isinstance(item, str) else str(item[key]) for item in items or ()]


def clip(text: str | None, limit: int) -> str:
    """Cut a string after `limit` characters and mark the cut."""
    if not text or len(text) <= limit:
        return text or ""
    return text[:limit] + f"\n[cut: {limit} of {len(text)} characters]" if limit else ""


def first_line(text: str, limit: int = 200) -> str:
    """Return the first line of a text, shortened."""
    line = text.partition("\n")[0].rstrip("\r")
    return line if len(line) <= limit else line[:limit] + "..."
