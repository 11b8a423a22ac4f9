"""Calls with lists of objects inside this process: `python large_data.py ROWS TURNS`. It prints the figures as JSON.

Three parts of each case take turns: the whole call, the floor, and pydantic_core alone, which encodes the rows or
decodes the request once. The figure of a part is its least CPU time of all turns.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from multidict import CIMultiDict
from pydantic import BaseModel, TypeAdapter
from pydantic_core import from_json, to_json
from typing_extensions import TypedDict

from pegboard import Host, Toolkit
from pegboard.types import Request, Response

ROWS, TURNS = int(sys.argv[1]), int(sys.argv[2])
REVISION = "2026-07-28"
CLIENT = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "benchmarks", "version": "1"},
}

Part: TypeAlias = Callable[[], None]


class Place(TypedDict):
    """A nested object as a TypedDict."""

    city: str
    latitude: float


class Row(TypedDict):
    """A row as a TypedDict."""

    id: int
    name: str
    score: float
    active: bool
    note: str | None
    mail: str
    tags: list[str]
    place: Place


class PlaceModel(BaseModel):
    """A nested object as a model."""

    city: str
    latitude: float


class Model(BaseModel):
    """A row as a model."""

    id: int
    name: str
    score: float
    active: bool
    note: str | None
    mail: str
    tags: list[str]
    place: PlaceModel


def rows(scheme: str = "") -> list[Any]:
    """Return rows with a nested list and object as JSON data. A scheme such as "mailto:" brings colons into strings."""
    return [
        {
            "id": number,
            "name": f"name {number} of the list",
            "score": number * 1.5,
            "active": bool(number % 2),
            "note": None if number % 3 else "a note",
            "mail": f"{scheme}user{number}@example.org",
            "tags": ["red", f"number {number % 7}"],
            "place": {"city": f"Berlin number {number % 97}", "latitude": number / 4},
        }
        for number in range(ROWS)
    ]


PLAIN, COLONS = rows(), rows("mailto:")
MODELS = [Model(**row) for row in PLAIN]
kit = Toolkit("data")


@kit.tool(inline=True)
def give_typed_dicts() -> list[Row]:
    """Return the rows."""
    return PLAIN


@kit.tool(inline=True)
def give_dicts() -> list[dict[str, Any]]:
    """Return the rows."""
    return PLAIN


@kit.tool(inline=True)
def give_models() -> list[Model]:
    """Return the rows."""
    return MODELS


@kit.tool(inline=True)
def take_typed_dicts(rows: list[Row]) -> int:
    """Count the rows."""
    return len(rows)


@kit.tool(inline=True)
def take_dicts(rows: list[dict[str, Any]]) -> int:
    """Count the rows."""
    return len(rows)


@kit.tool(inline=True)
def take_models(rows: list[Model]) -> int:
    """Count the rows."""
    return len(rows)


async def result(host: Host, tool: str, value: list[Any]) -> dict[str, Part]:
    """Return the parts of a call with a large result. The floor encodes the rows, and this JSON again as a string."""

    def floor() -> None:
        to_json(to_json(value))

    def encode() -> None:
        to_json(value)

    return {"pegboard": await call(host, tool, {}, PLAIN), "floor": floor, "pydantic_core": encode}


async def arguments(host: Host, tool: str, value: list[Any], declared: Any) -> dict[str, Part]:
    """Return the parts of a call with large arguments. The floor decodes the request and validates the rows."""
    validate = TypeAdapter(declared).validator.validate_python
    body = message(tool, {"rows": value})

    def floor() -> None:
        validate(from_json(body)["params"]["arguments"]["rows"])

    def decode() -> None:
        from_json(body)

    return {"pegboard": await call(host, tool, {"rows": value}, ROWS), "floor": floor, "pydantic_core": decode}


def message(tool: str, arguments: dict[str, Any]) -> bytes:
    """Return the request that calls a tool."""
    params = {"name": tool, "arguments": arguments, "_meta": CLIENT}
    return to_json({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def at_once(answer: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that does not wait, and return its result."""
    try:
        answer.send(None)
    except StopIteration as end:
        return end.value
    raise SystemExit("the call must not wait")


async def call(host: Host, tool: str, arguments: dict[str, Any], expected: Any) -> Part:
    """Call a tool, and check its result. Return a function that calls it again, and checks the size of the response."""
    headers = CIMultiDict(
        {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
    )
    request = Request("POST", "/mcp", {}, headers, message(tool, arguments))

    first = await host.respond(request)
    assert isinstance(first, Response)
    answer = json.loads(first.body).get("result", {})
    if answer.get("isError", True) or answer["structuredContent"] != expected:
        raise SystemExit(f"{tool} failed: {first.body[:300]!r}")
    size = len(first.body)

    def run() -> None:
        response = at_once(host.respond(request))
        if not isinstance(response, Response) or len(response.body) != size:
            raise SystemExit(f"{tool} has another response than before: {str(response)[:300]}")

    return run


def least(parts: dict[str, Part]) -> dict[str, float]:
    """Return the least milliseconds of CPU time of each part."""
    best = dict.fromkeys(parts, math.inf)
    for _ in range(TURNS):
        for name, part in parts.items():
            started = time.process_time()
            part()
            best[name] = min(best[name], (time.process_time() - started) * 1e3)
    return best


async def main() -> None:
    """Measure all cases, and print milliseconds by case and part."""
    async with Host({"host": {"autoload": False}}, toolkits={"data": kit}) as host:
        cases = {
            "result: TypedDicts": await result(host, "data_give_typed_dicts", PLAIN),
            "result: dicts": await result(host, "data_give_dicts", PLAIN),
            "result: models": await result(host, "data_give_models", MODELS),
            "arguments: dicts": await arguments(host, "data_take_dicts", PLAIN, list[dict[str, Any]]),
            "arguments: dicts, colons": await arguments(host, "data_take_dicts", COLONS, list[dict[str, Any]]),
            "arguments: TypedDicts": await arguments(host, "data_take_typed_dicts", PLAIN, list[Row]),
            "arguments: models": await arguments(host, "data_take_models", PLAIN, list[Model]),
        }
        gc.collect()
        # as `pegboard serve` does
        bytes(4 * 2**20)
        gc.freeze()
        print(json.dumps({name: least(parts) for name, parts in cases.items()}))


if __name__ == "__main__":
    asyncio.run(main())
