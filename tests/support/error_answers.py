"""What a client is answered for an error: the rows of tests/errors/answers.toml, and what each of them means."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parent.parent / "errors" / "answers.toml"
PLACES = ("tool", "resource", "prompt", "completion", "middleware", "method")
CANARY = "canary-7f3a91"
"""Stands in the rows for what no client may see."""
MASKED = "It failed unexpectedly."
MEMBERS = ("statusCode", "retryAfterMs", "additionalPromptContent", "extra")


class Row(NamedTuple):
    """An error, and what is known of it.

    Attributes:
        raised: it, as Python.
        family: how it is answered.
        kind: None where it has none.
        can_retry: whether the same caller may try again.
        members: the others that programs are told, by their names on the wire.
        more: names of members that there may be beside those.
        code: the JSON-RPC code that it brings.
        data: the data of its JSON-RPC error.
        logged: whether its story is in the log, under an id.
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
    """What a client is to be answered.

    Attributes:
        code: the code of the JSON-RPC error; None for the result of a tool.
        detail: the members that programs are told; None for a JSON-RPC error without them.
        data: the data of the JSON-RPC error that has them not.
        error_id: whether there is one.
        shown: whether the text of the error is.
        status: the HTTP status.
    """

    code: int | None
    detail: dict[str, Any] | None
    data: Any
    error_id: bool
    shown: bool
    status: int


@cache
def table() -> dict[str, Any]:
    """The file."""
    return tomllib.loads(FILE.read_text("utf-8"))


def rows() -> list[Row]:
    """Every error of the file."""
    return [
        Row(
            one["raise"],
            one["family"],
            one.get("kind"),
            one.get("canRetry", False),
            {name: one[name] for name in MEMBERS if name in one},
            tuple(one.get("more", ())),
            one.get("code"),
            one.get("data"),
            one.get("logged", False),
        )
        for one in table()["error"]
    ]


def cell(family: str, place: str, *, modern: bool) -> str | int:
    """The answer of a family in a place, as the file has it."""
    given = table()["families"][family][place]
    answer: str | int = given[0 if modern else 1] if isinstance(given, list) else given
    return answer


def answer(row: Row, place: str, *, modern: bool) -> Answer:
    """What is to be answered for an error that is raised in a place."""
    meant = cell(row.family, place, modern=modern)
    is_tool = place in ("tool", "middleware")
    detail = None if row.kind is None else {"kind": row.kind, "canRetry": row.can_retry, **row.members}
    if meant == "masked":
        masked = {"kind": "TOOL_RUNTIME_FATAL", "canRetry": False, "statusCode": 500}
        return Answer(None if is_tool else -32603, masked, None, True, False, 200)
    if meant == "internal":
        return Answer(-32603, None, None, True, False, 200)
    if meant == "untyped":
        return Answer(None, {"kind": "TOOL_RUNTIME_FATAL", "canRetry": False}, None, True, True, 200)
    if meant == "result":
        return Answer(None, detail, None, row.logged, True, 200)
    code = row.code if meant == "own" else int(meant)
    if meant == -32021:
        return Answer(code, None, row.data, False, True, 400)
    data = row.data
    if data is None and (row.family, place) == ("missing", "resource"):
        data = {"uri": request(place, row.raised)[1]["uri"]}
    return Answer(code, detail, data, row.logged, True, 200)


def request(place: str, raised: str, *, mode: str = "async") -> tuple[str, dict[str, Any]]:
    """The method and the parameters of the request that has the plugin raise something."""
    code = raised.encode().hex()
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "tool": ("tools/call", {"name": f"errors_{mode}", "arguments": {"code": code}}),
        "resource": ("resources/read", {"uri": f"errors://{code}"}),
        "prompt": ("prompts/get", {"name": "errors", "arguments": {"code": code}}),
        "completion": (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "errors"}, "argument": {"name": "code", "value": code}},
        ),
        "middleware": ("tools/call", {"name": "errors_around", "arguments": {"code": code}}),
        "method": ("errors/raise", {"code": code}),
    }
    return requests[place]
