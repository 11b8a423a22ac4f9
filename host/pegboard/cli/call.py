"""`pegboard call TOOL key=value key:=json`: one call through the whole host, from the shell."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from pegboard.cli import FAILED, OK, USAGE
from pegboard.cli.common import make_host, print_json, print_text, say
from pegboard.cli.find import find_tool
from pegboard.contracts import Call, Client, Failure, Outcome, ToolResult
from pegboard.errors import ToolkitError
from pegboard.host import Host


def run_call(options: Namespace) -> int:
    """Call one tool and print what it gave."""
    try:
        arguments = parse_arguments(options.arguments)
    except ValueError as error:
        say(str(error))
        return USAGE
    outcome = asyncio.run(_call(make_host(options, ()), options.tool, arguments))
    return _print(outcome, as_json=options.json)


def parse_arguments(texts: Sequence[str]) -> dict[str, Any]:
    """`key=value` as text, `key:=json` as whatever the JSON says.

    Raises:
        ValueError: a text is neither, or its JSON is none.
    """
    arguments: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.rstrip(":"):
            raise ValueError(f"{text!r} is no argument; write key=value for text, key:=json for anything else")
        if key.endswith(":"):
            key = key[:-1]
            try:
                arguments[key] = json.loads(value)
            except ValueError as error:
                raise ValueError(f"{text!r}: the value of {key!r} is not JSON: {error}") from None
        else:
            arguments[key] = value
    return arguments


async def _call(host: Host, name: str, arguments: dict[str, Any]) -> Outcome:
    async with host:
        tool = find_tool(host.assembly, name).tool
        client = Client("pegboard call", host.identity.version)
        notify = _show_progress if sys.stderr.isatty() else None
        return await host.dispatch(
            Call("tools/call", {"name": tool.name, "arguments": arguments}, client=client, notify=notify)
        )


def _show_progress(_: str, params: dict[str, Any]) -> None:
    total = f" of {params['total']}" if "total" in params else ""
    say(f"{params['progress']}{total} {params.get('message', '')}".rstrip())


def _print(outcome: Outcome, *, as_json: bool) -> int:
    if isinstance(outcome, Failure):
        error = outcome.error
        if as_json:
            detail: dict[str, Any] = {"message": error.message, "error_id": outcome.error_id}
            if isinstance(error, ToolkitError):
                detail = error.to_payload() | {"error_id": outcome.error_id}
                detail.pop("developer_message")
            print_json({"error": detail})
        else:
            parts = (error.message, getattr(error, "additional_prompt_content", None))
            say(
                "\n".join(part for part in parts if part) + (f" (error {outcome.error_id})" if outcome.error_id else "")
            )
        return FAILED
    assert isinstance(outcome, ToolResult)
    if as_json:
        print_json({"result": outcome.value})
    elif isinstance(outcome.value, str):
        print_text(outcome.value)
    elif outcome.value is not None:
        print_json(outcome.value)
    return OK
