"""Uses everything that a server offers, once, and records the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pegboard.errors import ProtocolError
from pegboard.types.callers import EMPTY
from pegboard_client import Asked, Client, Endpoint, Program, ServerTimeoutError

LISTS: Final[Mapping[str, Callable[[Client], Awaitable[Any]]]] = {
    "tools": Client.tools,
    "resources": Client.resources,
    "resourceTemplates": Client.templates,
    "prompts": Client.prompts,
}
_CAPABILITIES: Final[Mapping[str, Any]] = {
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {},
}
REQUEST_SECONDS: Final = 20
_SAMPLES: Final[Mapping[str, Any]] = {"string": "a", "integer": 3, "number": 1.5, "boolean": True, "null": None}


def exploring_client(
    server: Program | Endpoint, revision: str | None, seconds: float, root: str = "file:///tmp"
) -> Client:
    """Return a client that answers every question.

    Args:
        server: the address.
        revision: the revision of MCP; None for the newest that the server speaks.
        seconds: the time limit of the start and of a list.
        root: the URI of the only root.
    """
    ask = partial(answer, root)
    return Client(server, revision=revision, ask=ask, capabilities=_CAPABILITIES, timeout=seconds)


async def attempt(request: Awaitable[Any]) -> Any:
    """Return the result of a request, or `{"error": message}`."""
    try:
        return await request
    except ServerTimeoutError:
        return {"error": "no answer in time"}
    except ProtocolError as error:
        return {"error": str(error), "code": error.code}


async def lists_of(client: Client) -> dict[str, list[dict[str, Any]]]:
    """Return the lists of a server. A list that it refuses is empty."""
    lists = {}
    for kind, listing in LISTS.items():
        items = await attempt(listing(client))
        lists[kind] = items if isinstance(items, list) else []
    return lists


async def explore(
    client: Client,
    calls: Sequence[tuple[str, Mapping[str, Any]]] = (),
    prompts: Mapping[str, Mapping[str, str]] = EMPTY,
    seconds: float = REQUEST_SECONDS,
) -> dict[str, Any]:
    """Return the lists of a server, and the answer to each use of its items.

    Args:
        client: the open client.
        calls: the calls of tools. All other tools are called with sampled arguments, and without arguments.
        prompts: the arguments of prompts, by name. All other prompts are requested with sampled arguments.
        seconds: the time limit of each use.
    """
    lists = await lists_of(client)
    answers: dict[str, Any] = dict(lists)
    for name, arguments in calls:
        answers[f"call {name} {json.dumps(arguments)}"] = await attempt(client.call(name, arguments, timeout=seconds))
    called = {name for name, _ in calls}
    for tool in sorted(lists["tools"], key=lambda listed: listed["name"]):
        if tool["name"] not in called:
            sampled = sample(tool["inputSchema"], tool["inputSchema"])
            answers[f"call {tool['name']}"] = await attempt(client.call(tool["name"], sampled, timeout=seconds))
            if sampled:
                key = f"call {tool['name']} without arguments"
                answers[key] = await attempt(client.call(tool["name"], timeout=seconds))
    uris = [item["uri"] for item in lists["resources"]]
    uris += [re.sub(r"\{[^}]*\}", "a", item["uriTemplate"]) for item in lists["resourceTemplates"]]
    for uri in uris:
        answers[f"read {uri}"] = await attempt(client.read(uri, timeout=seconds))
    for prompt in lists["prompts"]:
        sampled = {argument["name"]: "a" for argument in prompt.get("arguments") or () if argument.get("required")}
        arguments = prompts.get(prompt["name"], sampled)
        answers[f"get {prompt['name']}"] = await attempt(client.prompt(prompt["name"], arguments, timeout=seconds))
    return answers


async def answer(root: str, question: Asked) -> dict[str, Any]:
    """Return the answer to a question of a server. The client has one root."""
    if question.method == "elicitation/create":
        schema = question.params.get("requestedSchema")
        return {"action": "accept"} | ({} if schema is None else {"content": sample(schema, schema)})
    if question.method == "sampling/createMessage":
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}
    return {"roots": [{"uri": root}]}


def sample(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return a value of a schema, the same for schemas that mean the same."""
    if "$ref" in schema:
        return sample(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return sample(schema[key][0], root)
    kinds = schema.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        members = schema.get("properties", {})
        return {name: sample(members[name], root) for name in schema.get("required", ())}
    if kind == "array":
        return [sample(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        return max(_SAMPLES[kind], schema.get("minimum", 0))
    return _SAMPLES.get(kind, "a")
