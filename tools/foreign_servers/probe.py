"""A client that lists everything that a server has, and uses each item once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SECONDS = 30
REQUEST_SECONDS = 5
LINE_BYTES = 16 * 1024 * 1024
_CAPABILITIES: Mapping[str, Any] = {"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
_SAMPLES: Mapping[str, Any] = {"string": "a", "integer": 3, "number": 1.5, "boolean": True, "null": None}


class NoServer(Exception):
    """The server did not start, or died."""


async def probe(
    command: Sequence[str | Path], folder: Path, variables: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> dict[str, Any]:
    """Start a server and return its lists, and the result of each tool, resource and prompt.

    Args:
        command: the command of the server.
        folder: its working directory.
        variables: its environment; that of this process when None.
        seconds: the time limit of the whole exploration.

    Raises:
        NoServer: the server did not start or died. The message is the end of its standard error.
    """
    with tempfile.TemporaryFile() as log:
        options: dict[str, Any] = {"cwd": folder, "env": variables, "limit": LINE_BYTES, "start_new_session": True}
        process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, stderr=log, **options)
        try:
            async with asyncio.timeout(seconds):
                return await _explore(_Client(process))
        except (EOFError, OSError, TimeoutError, ValueError) as error:
            log.seek(0)
            lines = log.read().decode(errors="replace").split("\n")
            raise NoServer(next((line for line in reversed(lines) if line.strip()), repr(error))) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


class _Client:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._last = 0

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result or `{"error": message}`, and answer requests of the server meanwhile."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        try:
            async with asyncio.timeout(None if method == "initialize" else REQUEST_SECONDS):
                return await self._result()
        except TimeoutError:
            return {"error": "no answer in time"}

    async def _result(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while True:
            if not (line := await self._process.stdout.readline()):
                raise EOFError
            try:
                message = json.loads(line)
            except ValueError:  # servers print, and clients skip that
                continue
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": _answer(message)})
            elif message.get("id") == self._last:
                return message.get("result") or {"error": message.get("error", {}).get("message")}

    def notify(self, method: str) -> None:
        self._send({"method": method})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


async def _explore(client: _Client) -> dict[str, Any]:
    hello = await client.request(
        "initialize", protocolVersion="2025-11-25", capabilities=_CAPABILITIES, clientInfo={"name": "p", "version": "1"}
    )
    client.notify("notifications/initialized")
    answers: dict[str, Any] = {"instructions": hello.get("instructions"), "name": hello["serverInfo"]["name"]}
    lists = {
        "tools": "tools/list", "resources": "resources/list", "resourceTemplates": "resources/templates/list",
        "prompts": "prompts/list",
    }  # fmt: skip
    for kind, method in lists.items():
        answers[kind] = (await client.request(method)).get(kind, [])
    for tool in sorted(answers["tools"], key=lambda listed: listed["name"]):
        arguments = _sample(tool["inputSchema"], tool["inputSchema"])
        answers[f"call {tool['name']}"] = await client.request("tools/call", name=tool["name"], arguments=arguments)
        if arguments:
            answers[f"call {tool['name']} without arguments"] = await client.request("tools/call", name=tool["name"])
    for item in answers["resources"]:
        answers[f"read {item['uri']}"] = await client.request("resources/read", uri=item["uri"])
    for item in answers["resourceTemplates"]:
        uri = re.sub(r"\{[^}]*\}", "a", item["uriTemplate"])
        answers[f"read {uri}"] = await client.request("resources/read", uri=uri)
    for item in answers["prompts"]:
        required = {argument["name"]: "a" for argument in item.get("arguments", []) if argument.get("required")}
        answers[f"get {item['name']}"] = await client.request("prompts/get", name=item["name"], arguments=required)
    return answers


def _answer(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params", {})
    if message["method"] == "elicitation/create":
        schema = params.get("requestedSchema")
        return {"action": "accept"} | ({} if schema is None else {"content": _sample(schema, schema)})
    if message["method"] == "sampling/createMessage":
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}
    return {"roots": [{"uri": "file:///tmp"}]} if message["method"] == "roots/list" else {}


def _sample(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return a value of a schema, the same for schemas that mean the same."""
    if "$ref" in schema:
        return _sample(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _sample(schema[key][0], root)
    kinds = schema.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        members = schema.get("properties", {})
        return {name: _sample(members[name], root) for name in schema.get("required", ())}
    if kind == "array":
        return [_sample(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        return max(_SAMPLES[kind], schema.get("minimum", 0))
    return _SAMPLES.get(kind, "a")
