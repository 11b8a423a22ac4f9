"""The responses to errors: the rows of tests/errors/answers.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parent.parent / "errors" / "answers.toml"
PLACES = ("tool", "resource", "prompt", "completion", "middleware", "method")
CANARY = "canary-7f3a91"
"""A string in the rows that no client may see."""
MASKED = "It failed unexpectedly."
MEMBERS = ("statusCode", "retryAfterMs", "additionalPromptContent", "extra")


class Row(NamedTuple):
    """An error as Python, its family with equal responses, and its properties.

    Attributes:
        members: the members that programs receive beside `kind` and `can_retry`, by their names on the wire.
        more: names of members that may be present beside those.
        code: the JSON-RPC code of the error, with its `data`.
        logged: True if its details are in the log, under an id.
    """

    raised: str
    family: str
    kind: str | None
    can_retry: bool
    members: dict[str, Any]
    more: tuple[str, ...]
    code: int | None
    data: Any
    logged: bool

    @property
    def name(self) -> str:
        return self.raised.partition("(")[0]


class Answer(NamedTuple):
    """The expected response.

    Attributes:
        code: the code of the JSON-RPC error; None for the result of a tool.
        detail: the members that programs receive; None for a JSON-RPC error without them, which has `data`.
        error_id: True if there is one.
        shown: True if the message of the error is.
        status: the HTTP status.
    """

    code: int | None
    detail: dict[str, Any] | None = None
    data: Any = None
    error_id: bool = False
    shown: bool = True
    status: int = 200


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def rows() -> list[Row]:
    """Return every error of the file."""
    return [
        Row(
            raised=row["raise"],
            family=row["family"],
            kind=row.get("kind"),
            can_retry=row.get("canRetry", False),
            members={name: row[name] for name in MEMBERS if name in row},
            more=tuple(row.get("more", ())),
            code=row.get("code"),
            data=row.get("data"),
            logged=row.get("logged", False),
        )
        for row in table()["error"]
    ]


def cell(family: str, place: str, *, modern: bool) -> str | int:
    """Return the response of a family in a place, as the file has it."""
    answers = table()["families"][family][place]
    answer: str | int = answers[0 if modern else 1] if isinstance(answers, list) else answers
    return answer


def answer(row: Row, place: str, *, modern: bool) -> Answer:
    """Return the expected response to an error that is raised in a place."""
    meant = cell(row.family, place, modern=modern)
    detail = None if row.kind is None else {"kind": row.kind, "canRetry": row.can_retry, **row.members}
    if meant == "masked":
        masked = {"kind": "TOOL_RUNTIME_FATAL", "canRetry": False, "statusCode": 500}
        return Answer(None if place in ("tool", "middleware") else -32603, masked, error_id=True, shown=False)
    if meant == "internal":
        return Answer(-32603, error_id=True, shown=False)
    if meant == "caller":
        return Answer(None, {"kind": "TOOL_RUNTIME_BAD_INPUT_VALUE", "canRetry": False, **row.members})
    if meant == "result":
        return Answer(None, detail, error_id=row.logged)
    code = row.code if meant == "own" else int(meant)
    if meant == -32021:
        return Answer(code, data=row.data, status=400)
    missing = row.data is None and (row.family, place) == ("missing", "resource")
    data = {"uri": request(place, row.raised)[1]["uri"]} if missing else row.data
    return Answer(code, detail, data, error_id=row.logged)


def request(place: str, raised: str, *, mode: str = "async") -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters of the request that has the plugin raise an error."""
    code = raised.encode().hex()
    prompt: dict[str, Any] = {"ref": {"type": "ref/prompt", "name": "errors"}}
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "tool": ("tools/call", {"name": f"errors_{mode}", "arguments": {"code": code}}),
        "resource": ("resources/read", {"uri": f"errors://{code}"}),
        "prompt": ("prompts/get", {"name": "errors", "arguments": {"code": code}}),
        "completion": ("completion/complete", {**prompt, "argument": {"name": "code", "value": code}}),
        "middleware": ("tools/call", {"name": "errors_around", "arguments": {"code": code}}),
        "method": ("errors/raise", {"code": code}),
    }
    return requests[place]
