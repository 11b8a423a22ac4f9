"""Tools about the token's owner: the user and their notifications."""

import re
from typing import NotRequired

from typing_extensions import TypedDict

from pegboard import Context
from toolkit_github.asking import PageNumber, PerPage, get
from toolkit_github.kit import NOTIFICATIONS, PUBLIC, reads
from toolkit_github.shapes import Page, Raw, lean, listed, object_of

__all__ = ["Account", "Notification", "list_notifications", "whoami"]

_NUMBER = re.compile(r"/(?:issues|pulls)/(\d{1,10})$")
_LARGEST_PAGE = 50


class Account(TypedDict):
    """A user."""

    login: str
    name: NotRequired[str]
    url: str


class Notification(TypedDict):
    """A notification; `number` is the number of its issue or pull request."""

    id: str
    repo: str
    title: str
    type: str
    number: NotRequired[int]
    reason: str
    unread: NotRequired[bool]
    updated_at: str


@reads("Show whose token it is", PUBLIC)
async def whoami(context: Context) -> Account:
    """Show which GitHub user the tools act as."""
    return object_of(await get(context, "The user of the token", "/user"), _account)


def _account(raw: Raw) -> Account:
    return lean(
        Account(
            login=raw["login"],
            name=raw.get("name"),
            url=raw["html_url"],
        )
    )


@reads("List notifications", NOTIFICATIONS)
async def list_notifications(
    context: Context,
    all: bool = False,
    participating: bool = False,
    per_page: PerPage = 30,
    page: PageNumber = 1,
) -> Page[Notification]:
    """List unread notifications, newest first. all: include read ones. participating: only direct ones."""
    query = {
        "all": all,
        "participating": participating,
        "per_page": min(per_page, _LARGEST_PAGE),
        "page": page,
    }
    return listed(await get(context, "The list of notifications", "/notifications", query), _notification)


def _notification(raw: Raw) -> Notification:
    subject = raw["subject"]
    number = _NUMBER.search(subject.get("url") or "")
    item = Notification(
        id=raw["id"],
        repo=raw["repository"]["full_name"],
        title=subject["title"],
        type=subject["type"],
        reason=raw["reason"],
        unread=raw["unread"],
        updated_at=raw["updated_at"],
    )
    if number:
        item["number"] = int(number[1])
    return lean(item)
