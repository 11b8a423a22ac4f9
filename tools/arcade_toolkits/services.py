"""The answers of the services, with the members that the documentation of their vendors gives them.

GitHub: https://docs.github.com/en/rest; Slack: https://docs.slack.dev/reference/methods; Gmail and Calendar:
https://developers.google.com/workspace; Notion: https://developers.notion.com/reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Answer: TypeAlias = "Callable[[Any, Mapping[str, str], Any], Any] | Any"
Routes: TypeAlias = Sequence[tuple[str, Answer]]

DATE = "2026-03-01T09:00:00Z"

# GitHub

_REPO = r"/repos/octo-org/octo-repo"


def _github_user(login: str = "ada") -> dict[str, Any]:
    return {"login": login, "id": 1, "node_id": "U_1", "html_url": f"https://github.com/{login}", "type": "User"}


_LABEL = {"id": 3, "name": "bug", "color": "f29513", "description": "Something fails", "default": True}
_REPOSITORY = {
    "id": 1296269, "name": "octo-repo", "full_name": "octo-org/octo-repo", "private": False, "description": "A test",
    "html_url": "https://github.com/octo-org/octo-repo", "url": "https://api.github.com/repos/octo-org/octo-repo",
    "clone_url": "https://github.com/octo-org/octo-repo.git", "owner": _github_user("octo-org"), "fork": False,
    "stargazers_count": 80, "watchers_count": 80, "forks_count": 9, "open_issues_count": 2, "default_branch": "main",
    "language": "Python", "created_at": DATE, "updated_at": DATE, "pushed_at": DATE, "topics": ["tea"],
    "visibility": "public", "archived": False, "permissions": {"admin": False, "push": True, "pull": True},
}  # fmt: skip
_COMMENT = {
    "id": 5, "body": "Me too", "user": _github_user(), "created_at": DATE, "updated_at": DATE,
    "html_url": "https://github.com/octo-org/octo-repo/issues/7#issuecomment-5",
    "url": "https://api.github.com/repos/octo-org/octo-repo/issues/comments/5",
}  # fmt: skip
_REVIEW_COMMENT = {
    **_COMMENT, "path": "tea.py", "line": 3, "side": "RIGHT", "commit_id": "6dcb09b", "diff_hunk": "@@ -1 +1 @@",
    "pull_request_url": "https://api.github.com/repos/octo-org/octo-repo/pulls/8",
}  # fmt: skip


def _issue(body: Any = None) -> dict[str, Any]:
    stated = body if isinstance(body, dict) else {}
    return {
        "id": 2, "number": 7, "title": stated.get("title", "Found a bug"), "body": stated.get("body", "It fails."),
        "state": "open", "user": _github_user(), "labels": [_LABEL], "assignees": [_github_user("bob")],
        "assignee": _github_user("bob"), "milestone": None, "comments": 1, "created_at": DATE, "updated_at": DATE,
        "closed_at": None, "html_url": "https://github.com/octo-org/octo-repo/issues/7", "locked": False,
        "url": "https://api.github.com/repos/octo-org/octo-repo/issues/7",
    }  # fmt: skip


_EVENT = {
    "id": "22249084947", "type": "WatchEvent", "actor": _github_user(), "created_at": DATE, "public": True,
    "repo": {"id": 1296269, "name": "octo-org/octo-repo", "url": "https://api.github.com/repos/octo-org/octo-repo"},
    "payload": {"action": "started"},
}  # fmt: skip
GITHUB: Routes = (
    (rf"(PUT|DELETE) /user/starred{_REPO.removeprefix('/repos')}", (204, None)),
    (rf"GET {_REPO}", _REPOSITORY),
    (r"GET /repos/octo-org/busy", (429, {"message": "API rate limit exceeded"}, {"Retry-After": "2"})),
    (r"GET /repos/octo-org/gone", (404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})),
    (rf"GET {_REPO}/stargazers", [{"starred_at": DATE, "user": _github_user()}, _github_user("bob")]),
    (r"GET /orgs/octo-org/repos", [_REPOSITORY]),
    (rf"GET {_REPO}/(events|activity)", [_EVENT]),
    (rf"GET {_REPO}/pulls/comments", [_REVIEW_COMMENT]),
    (rf"GET {_REPO}/labels", [_LABEL, {**_LABEL, "id": 4, "name": "tea", "description": None}]),
    (rf"POST {_REPO}/issues", lambda match, query, body: (201, _issue(body))),
    (rf"GET {_REPO}/issues", [_issue()]),
    (rf"GET {_REPO}/issues/7", _issue()),
    (rf"POST {_REPO}/issues/7/comments", (201, _COMMENT)),
    (r"GET /user", {**_github_user(), "name": "Ada", "email": "ada@acme.example", "bio": None, "company": "Acme",
                    "location": "Kiel", "public_repos": 2, "followers": 3, "following": 4, "created_at": DATE}),
    (r"GET /user/orgs", [{"login": "octo-org", "id": 9, "description": "An org", "url": "https://api.github.com/orgs/o"}]),
    (r"GET /user/teams", []),
)  # fmt: skip

# Slack: each method answers with the status 200 and `ok`


def _slack_user(id: str, name: str) -> dict[str, Any]:
    profile = {
        "real_name": name.title(),
        "display_name": name,
        "email": f"{name}@acme.example",
        "image_72": "https://i",
    }
    return {"id": id, "team_id": "T1", "name": name, "deleted": False, "is_bot": False, "tz": "Europe/Berlin",
            "real_name": name.title(), "profile": profile, "updated": 1700000000}  # fmt: skip


_SLACK_USERS = {"U0ADA": _slack_user("U0ADA", "ada"), "U0BOB": _slack_user("U0BOB", "bob")}
_CHANNEL = {
    "id": "C0GENERAL", "name": "general", "is_channel": True, "is_group": False, "is_im": False, "is_mpim": False,
    "is_private": False, "is_archived": False, "is_member": True, "created": 1700000000, "creator": "U0ADA",
    "num_members": 2, "topic": {"value": "Tea"}, "purpose": {"value": "All"}, "context_team_id": "T1",
}  # fmt: skip
_MESSAGE = {"type": "message", "user": "U0ADA", "text": "Hello <@U0BOB>", "ts": "1700000000.000100"}
_END = {"response_metadata": {"next_cursor": ""}}


def _user_info(match: Any, query: Mapping[str, str], body: Any) -> Any:
    user = next((user for id, user in _SLACK_USERS.items() if id in f"{dict(query)}{body}"), None)
    return {"ok": True, "user": user} if user else {"ok": False, "error": "user_not_found"}


SLACK: Routes = (
    (r"\w+ /api/auth\.test", {"ok": True, "url": "https://acme.slack.com/", "team": "Acme", "user": "ada",
                              "team_id": "T1", "user_id": "U0ADA"}),
    (r"\w+ /api/users\.info", _user_info),
    (r"\w+ /api/users\.list", {"ok": True, "members": [*_SLACK_USERS.values()], **_END}),
    (r"\w+ /api/chat\.postMessage", {"ok": True, "channel": "C0GENERAL", "ts": "1700000001.000100",
                                     "message": {**_MESSAGE, "text": "Hello"}}),
    (r"\w+ /api/conversations\.members", {"ok": True, "members": [*_SLACK_USERS], **_END}),
    (r"\w+ /api/conversations\.history", {"ok": True, "messages": [_MESSAGE], "has_more": False, **_END}),
    (r"\w+ /api/conversations\.replies", {"ok": True, "messages": [_MESSAGE], "has_more": False, **_END}),
    (r"\w+ /api/conversations\.info", {"ok": True, "channel": _CHANNEL}),
    (r"\w+ /api/conversations\.list", {"ok": True, "channels": [_CHANNEL], **_END}),
    (r"\w+ /api/conversations\.(invite|open)", {"ok": True, "channel": _CHANNEL}),
)  # fmt: skip

# Gmail

_HEADERS = {"From": "bob@acme.example", "To": "ada@acme.example", "Subject": "Tea", "Message-ID": "<1@acme.example>",
            "Date": "Sun, 01 Mar 2026 09:00:00 +0000"}  # fmt: skip
_MAIL = {
    "id": "18a", "threadId": "t1", "labelIds": ["INBOX"], "snippet": "Tea at four?", "internalDate": "1772355600000",
    "payload": {"mimeType": "text/plain", "headers": [{"name": name, "value": text} for name, text in _HEADERS.items()],
                "body": {"size": 12, "data": "VGVhIGF0IGZvdXI_"}},
}  # fmt: skip
_DRAFT = {"id": "r1", "message": _MAIL}
_LABELS = [{"id": "INBOX", "name": "INBOX", "type": "system"}, {"id": "Label_1", "name": "Tea", "type": "user"}]
_GONE = (404, {"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}})
_ME = "/gmail/v1/users/me"
GMAIL: Routes = (
    (rf"GET {_ME}/profile", {"emailAddress": "ada@acme.example", "messagesTotal": 1, "threadsTotal": 1}),
    (rf"POST {_ME}/messages/send", {"id": "18b", "threadId": "t2", "labelIds": ["SENT"]}),
    (rf"GET {_ME}/messages", {"messages": [{"id": "18a", "threadId": "t1"}], "resultSizeEstimate": 1}),
    (rf"GET {_ME}/messages/18a", _MAIL),
    (rf"POST {_ME}/messages/18a/trash", {**_MAIL, "labelIds": ["TRASH"]}),
    (rf"\w+ {_ME}/messages/gone(/trash)?", _GONE),
    (rf"GET {_ME}/drafts", {"drafts": [{"id": "r1", "message": {"id": "18a", "threadId": "t1"}}]}),
    (rf"(POST|PUT|GET) {_ME}/drafts(/r1)?", _DRAFT),
    (rf"DELETE {_ME}/drafts/r1", (204, None)),
    (rf"POST {_ME}/drafts/send", {"id": "18b", "threadId": "t2", "labelIds": ["SENT"]}),
    (rf"GET {_ME}/threads", {"threads": [{"id": "t1", "snippet": "Tea at four?", "historyId": "9"}]}),
    (rf"GET {_ME}/threads/t1", {"id": "t1", "historyId": "9", "messages": [_MAIL]}),
    (rf"GET {_ME}/labels", {"labels": _LABELS}),
    (rf"POST {_ME}/labels", lambda match, query, body: {"id": "Label_2", "name": body["name"], "type": "user"}),
)

# Google Calendar

_CALENDAR = "/calendar/v3"
_EVENTS = f"{_CALENDAR}/calendars/(primary|ada@acme.example)/events"
_PRIMARY = {"id": "ada@acme.example", "summary": "ada@acme.example", "timeZone": "Europe/Berlin", "primary": True,
            "accessRole": "owner", "selected": True}  # fmt: skip


def _event(body: Any = None) -> dict[str, Any]:
    stated = body if isinstance(body, dict) else {}
    return {
        "id": "e1", "status": "confirmed", "htmlLink": "https://www.google.com/calendar/event?eid=e1",
        "summary": stated.get("summary", "Tea"), "created": DATE, "updated": DATE, "eventType": "default",
        "start": stated.get("start", {"dateTime": "2026-07-01T15:00:00+02:00"}),
        "end": stated.get("end", {"dateTime": "2026-07-01T16:00:00+02:00"}),
        "creator": {"email": "ada@acme.example"}, "organizer": {"email": "ada@acme.example", "self": True},
    }  # fmt: skip


CALENDAR: Routes = (
    (rf"GET {_CALENDAR}/users/me/calendarList", {"kind": "calendar#calendarList", "items": [_PRIMARY]}),
    (rf"GET {_CALENDAR}/calendars/(primary|ada@acme.example)", _PRIMARY),
    (rf"GET {_CALENDAR}/users/me/settings/timezone", {"id": "timezone", "value": "Europe/Berlin"}),
    (rf"POST {_EVENTS}", lambda match, query, body: _event(body)),
    (rf"GET {_EVENTS}", {"items": [_event()], "timeZone": "Europe/Berlin", "summary": "ada@acme.example"}),
    (rf"GET {_EVENTS}/e1", _event()),
    (rf"(PUT|PATCH) {_EVENTS}/e1", lambda match, query, body: _event(body)),
    (rf"DELETE {_EVENTS}/e1", (204, None)),
    (rf"\w+ {_EVENTS}/gone", _GONE),
)

# Notion

_PAGE_ID = "59833787-2cf9-4fdf-8782-e53db20768a5"


def _rich(text: str) -> list[dict[str, Any]]:
    styles = dict.fromkeys(("bold", "italic", "strikethrough", "underline", "code"), False)
    content = {"content": text, "link": None}
    return [{"type": "text", "text": content, "plain_text": text, "href": None, "annotations": styles}]


def _page(title: str = "Tuscan kale", id: str = _PAGE_ID) -> dict[str, Any]:
    return {
        "object": "page", "id": id, "created_time": DATE, "last_edited_time": DATE, "archived": False,
        "parent": {"type": "workspace", "workspace": True}, "url": f"https://www.notion.so/{id.replace('-', '')}",
        "properties": {"title": {"id": "title", "type": "title", "title": _rich(title)}},
    }  # fmt: skip


_BLOCK = {
    "object": "block", "id": "c02fc1d3-db8b-45c5-a222-27595b15aea7", "type": "paragraph", "has_children": False,
    "created_time": DATE, "last_edited_time": DATE, "paragraph": {"rich_text": _rich("Kale is a vegetable.")},
}  # fmt: skip


def _listed(*results: Any) -> dict[str, Any]:
    return {"object": "list", "results": [*results], "next_cursor": None, "has_more": False}


def _search(match: Any, query: Mapping[str, str], body: Any) -> Any:
    return _listed() if body.get("query") == "nothing" else _listed(_page())


NOTION: Routes = (
    (r"POST /v1/search", _search),
    (rf"GET /v1/pages/{_PAGE_ID}", _page()),
    (r"POST /v1/pages", _page("Soup", "b55c9c91-384d-452b-81db-d1ef79372b75")),
    (r"GET /v1/blocks/[\w-]+/children", _listed(_BLOCK)),
    (r"GET /v1/blocks/[\w-]+", _BLOCK),
    (r"PATCH /v1/blocks/[\w-]+/children", _listed(_BLOCK)),
    (r"GET /v1/users/me", {"object": "user", "id": "u1", "type": "bot", "name": "Ada", "avatar_url": None,
                           "bot": {"owner": {"type": "user", "user": {"object": "user", "id": "u2", "name": "Ada",
                                   "type": "person", "person": {"email": "ada@acme.example"}}},
                                   "workspace_name": "Acme"}}),
)  # fmt: skip


def _entry(match: Any, query: Mapping[str, str], body: Any) -> Any:
    status = int(match[1])
    entry = {"number": status, "amount": 2.5, "currency": "EUR"}
    return (status, entry, {"Retry-After": "7"} if status == 429 else {}) if status > 99 else entry


SERVICES: Mapping[str, Routes] = {
    "api.github.com": GITHUB,
    "slack.com": SLACK,
    "www.slack.com": SLACK,
    "gmail.googleapis.com": GMAIL,
    "www.googleapis.com": CALENDAR,
    "api.notion.com": NOTION,
    "ledger.example": ((r"GET /entries/(\d+)", _entry),),
}
"""The services by host: the pattern of a request, and the value, or the status, value and header fields."""
