"""The calls of the comparison: the toolkit, the tool and its inputs."""

from __future__ import annotations

from typing import Any

_MATH: list[tuple[str, dict[str, Any]]] = [
    *(
        (tool, {"a": a, "b": b})
        for tool in ("Add", "Subtract", "Multiply", "Divide", "Mod", "Power")
        for a, b in (("2", "3"), ("12345678901234567890123456789.125", "-7"))
    ),
    ("Divide", {"a": "1", "b": "0"}),
    ("SumList", {"numbers": ["1", "2.5", "-3"]}),
    ("SumRange", {"start": "1", "end": "100"}),
    ("Avg", {"numbers": ["1", "2", "4"]}),
    ("Avg", {"numbers": []}),
    ("Median", {"numbers": ["3", "1", "2", "9"]}),
    ("Log", {"a": "8", "base": "2"}),
    ("AbsVal", {"a": "-3.5"}),
    ("Factorial", {"a": "30"}),
    ("Factorial", {"a": "-1"}),
    ("Sqrt", {"a": "2"}),
    ("Gcd", {"a": "12", "b": "18"}),
    ("Lcm", {"a": "4", "b": "6"}),
    ("Ceil", {"a": "1.2"}),
    ("Floor", {"a": "-1.2"}),
    ("RoundNum", {"value": "2.675", "ndigits": "2"}),
    ("DegToRad", {"degrees": "180"}),
    ("RadToDeg", {"radians": "3.14"}),
    ("GenerateRandomInt", {"min_value": "1", "max_value": "99", "seed": "7"}),
    ("GenerateRandomFloat", {"min_value": "0", "max_value": "1", "seed": "7"}),
    ("Add", {"a": "2"}),
    ("Add", {"a": "2", "b": "3", "c": "4"}),
    ("Add", {"a": "two", "b": "3"}),
]
_REPOSITORY = {"owner": "octo-org", "repo": "octo-repo"}
_GITHUB: list[tuple[str, dict[str, Any]]] = [
    ("CountStargazers", {"owner": "octo-org", "name": "octo-repo"}),
    ("SetStarred", {"owner": "octo-org", "name": "octo-repo"}),
    ("SetStarred", {"owner": "octo-org", "name": "octo-repo", "starred": False}),
    ("ListStargazers", _REPOSITORY),
    ("GetRepository", _REPOSITORY),
    ("GetRepository", {"owner": "octo-org", "repo": "gone"}),
    ("GetRepository", {"owner": "octo-org", "repo": "busy"}),
    ("ListOrgRepositories", {"org": "octo-org"}),
    ("ListRepositoryActivities", _REPOSITORY),
    ("ListReviewCommentsInARepository", _REPOSITORY),
    ("ListRepositoryLabels", _REPOSITORY),
    ("CreateIssue", {**_REPOSITORY, "title": "Found a bug", "body": "It fails."}),
    ("GetIssue", {**_REPOSITORY, "issue_number": 7}),
    ("ListIssues", _REPOSITORY),
    ("CreateIssueComment", {**_REPOSITORY, "issue_number": 7, "body": "Me too"}),
]
_SLACK: list[tuple[str, dict[str, Any]]] = [
    ("WhoAmI", {}),
    ("GetUsersInfo", {"user_ids": ["U0ADA"]}),
    ("GetUsersInfo", {"usernames": ["nobody"]}),
    ("ListUsers", {}),
    ("SendMessage", {"message": "Hello", "channel_name": "general"}),
    ("SendMessage", {"message": "Hello", "conversation_id": "C0GENERAL"}),
    ("GetUsersInConversation", {"conversation_id": "C0GENERAL"}),
    ("GetMessages", {"conversation_id": "C0GENERAL", "limit": 2}),
    ("GetThreadMessages", {"thread_ts": "1700000000.000100", "conversation_id": "C0GENERAL"}),
    ("GetConversationMetadata", {"conversation_id": "C0GENERAL"}),
    ("GetConversationMetadata", {"channel_name": "gone"}),
    ("ListConversations", {}),
    ("InviteUsersToChannel", {"user_ids": ["U0BOB"], "channel_id": "C0GENERAL"}),
]
_GMAIL: list[tuple[str, dict[str, Any]]] = [
    ("SendEmail", {"subject": "Hi", "body": "Hello", "recipient": "bob@acme.example"}),
    ("WriteDraftEmail", {"subject": "Hi", "body": "Hello", "recipient": "bob@acme.example"}),
    ("UpdateDraftEmail", {"draft_email_id": "r1", "subject": "Hi", "body": "Hello", "recipient": "bob@acme.example"}),
    ("SendDraftEmail", {"email_id": "r1"}),
    ("DeleteDraftEmail", {"draft_email_id": "r1"}),
    ("TrashEmail", {"email_id": "18a"}),
    ("TrashEmail", {"email_id": "gone"}),
    ("ListDraftEmails", {}),
    ("ListEmails", {"n_emails": 1}),
    ("ListThreads", {}),
    ("GetThread", {"thread_id": "t1"}),
    ("ListLabels", {}),
    ("CreateLabel", {"label_name": "Bills"}),
    ("ReplyToEmail", {"body": "Thanks", "reply_to_message_id": "18a"}),
]
_CALENDAR: list[tuple[str, dict[str, Any]]] = [
    ("ListCalendars", {}),
    ("CreateEvent", {
        "summary": "Tea", "start_datetime": "2026-07-01T15:00:00", "end_datetime": "2026-07-01T16:00:00",
    }),
    ("ListEvents", {"min_end_datetime": "2026-07-01T00:00:00", "max_start_datetime": "2026-07-02T00:00:00"}),
    ("UpdateEvent", {"event_id": "e1", "updated_summary": "Coffee"}),
    ("DeleteEvent", {"event_id": "e1"}),
    ("DeleteEvent", {"event_id": "gone"}),
]  # fmt: skip
_NOTION: list[tuple[str, dict[str, Any]]] = [
    ("GetPageContentById", {"page_id": "59833787-2cf9-4fdf-8782-e53db20768a5"}),
    ("GetPageContentByTitle", {"title": "Tuscan kale"}),
    ("CreatePage", {"parent_title": "Tuscan kale", "title": "Soup", "content": "# Soup\nBoil it."}),
    ("AppendContentToEndOfPage", {"page_id_or_title": "Tuscan kale", "content": "More"}),
    ("SearchByTitle", {"query": "kale"}),
    ("SearchByTitle", {}),
    ("GetObjectMetadata", {"object_title": "Tuscan kale"}),
    ("GetObjectMetadata", {"object_title": "nothing"}),
    ("GetWorkspaceStructure", {}),
    ("WhoAmI", {}),
]
_LEDGER: list[tuple[str, dict[str, Any]]] = [
    *(("RaiseError", {"kind": kind}) for kind in ("retry", "context", "fatal", "plain", "upstream", "rate", "other")),
    *(("FetchEntry", {"number": number}) for number in (1, 404, 429, 503)),
    ("ShowAddress", {}),
    ("Convert", {"amount": 3, "currencies": ["EUR", "JPY"]}),
    ("Convert", {"amount": 3.5, "currencies": ["EUR"], "note": "ü", "factor": 1}),
    ("Convert", {"amount": 3.5, "currencies": ["USD"]}),
]
_SUMS: list[tuple[str, dict[str, Any]]] = [
    ("Divide", {"a": "1", "b": "3"}),
    ("Divide", {"a": "1", "b": "0"}),
    ("SumOf", {"numbers": [1, 2]}),
    ("SumOf", {"numbers": [1, 2, 3, 4]}),
    ("Compare", {"a": 1, "b": 1}),
    ("Compare", {"a": 1, "b": 1, "strict": True}),
]
_TIDES: list[tuple[str, dict[str, Any]]] = [
    ("ListTides", {"ports": [{"name": "Kiel"}, {"name": "Brest", "hours": [3]}]}),
    ("TideHeight", {"port": "Kiel", "hour": 3}),
    ("TideHeight", {"port": ""}),
    ("OldHeight", {"port": "Kiel"}),
]

CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "Math": _MATH,
    "Github": _GITHUB,
    "Slack": _SLACK,
    "Gmail": _GMAIL,
    "GoogleCalendar": _CALENDAR,
    "NotionToolkit": _NOTION,
    "Ledger": _LEDGER,
    "Sums": _SUMS,
    "Tides": _TIDES,
}
SMALL = ("Ledger", "Sums", "Tides")
"""The toolkits of `tests/samples`."""
SECRETS = {
    "GITHUB_SERVER_URL": "https://api.github.com",
    "LEDGER_URL": "https://ledger.example",
    "SUMS_LIMIT": "3",
}
TOKEN = "the-token-of-the-comparison"  # noqa: S105 - the services are fakes
