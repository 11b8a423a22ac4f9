"""Uses everything that a peer serves, and records what a client sees."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any

from pegboard import MCPError
from pegboard.plugin import ProtocolError
from pegboard_client import Asked, Client, Endpoint, Program
from tools.comparison.exploring import answer

CHANGE_SECONDS = 2.0
ROOT_URI = "file:///tmp"
_LOG_LEVEL = {"io.modelcontextprotocol/logLevel": "debug"}
_OWN = ("_meta", "resultType", "ttlMs", "cacheScope")
"""Members that belong to the revision of a connection."""
_ASKED = ("message", "url", "systemPrompt", "includeContext")
"""Members of questions that do not depend on the revision of a connection."""
_ERROR_ID = re.compile(r"Error id: \w+")


def named_question(server: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a question as the host passes them on: it names the server."""
    if "message" in params:
        return {**params, "message": f"{server} asks: {params['message']}"}
    prompt = params.get("systemPrompt")
    return {**params, "systemPrompt": f"{server} asks: {prompt}" if prompt else f"{server} asks this."}


class Survey:
    """One client of a peer, direct or through a mount.

    Attributes:
        found: what the client saw, by the name of the step.
        change_seconds: how long the change of a list took to arrive.
    """

    def __init__(self, server: Endpoint | Program, name: str, revision: str | None, *, mounted: bool) -> None:
        self.found: dict[str, Any] = {}
        self.change_seconds = 0.0
        self._notified: list[tuple[str, Any]] = []
        self._name = name
        self._scheme = name.replace("_", "-")
        self._prefix = f"{name}_" if mounted else ""
        self._client = Client(server, revision=revision, ask=self._ask, on_notification=self._note, timeout=60)

    def _note(self, method: str, params: dict[str, Any]) -> None:
        self._notified.append((method, params))

    async def _ask(self, question: Asked) -> dict[str, Any]:
        shown = {key: value for key, value in question.params.items() if key in _ASKED}
        self.found.setdefault("questions", []).append(self._normal(shown))
        return await answer(ROOT_URI, question)

    async def run(self) -> None:
        """Take all steps."""
        async with self._client as client:
            with suppress(ProtocolError):  # a server need not announce changes
                await client.listen()
            names = await self._list(client)
            for name, arguments in (
                ("add", {"a": 1, "b": 2}),
                ("add", {"a": "x"}),
                ("picture", {}),
                ("fail", {}),
                ("ask", {}),
                ("sample", {}),
            ):
                if name in names:
                    called = client.call(names[name], arguments)
                    await self._step(f"call {name} {json.dumps(arguments)}", called)
            await self._count(client, names["count"])
            paths = ["note", "missing/1/2"]
            paths += ["picture"] if len(self.found["resources"]) > 1 else []
            paths += ["notes/7"] if self.found["templates"] else []
            for path in paths:
                await self._step(f"read {path}", client.read(f"{self._scheme}://{path}"))
            self.found["read missing/1/2"] = list(self.found["read missing/1/2"])  # the host knows what is served
            greet = f"{self._prefix}greet"
            if self.found["prompts"]:
                await self._step("prompt", client.prompt(greet, {"name": "Ann"}))
                await self._step("prompt without argument", client.prompt(greet))
                await self._step("complete", client.complete({"type": "ref/prompt", "name": greet}, "name", "An"))
            if "grow" in names:
                await self._grow(client, names["grow"])

    async def _list(self, client: Client) -> dict[str, str]:
        names = {}
        for kind in ("tools", "resources", "templates", "prompts"):
            if kind.replace("templates", "resources") not in client.server.capabilities:
                self.found[kind] = []
                continue
            items = await getattr(client, kind)()
            if kind == "tools":
                shown = f"{self._name}_"
                items = [item for item in items if item["name"].startswith(self._prefix)]
                names = {self._plain(item["name"].removeprefix(shown)): item["name"] for item in items}
                items = [{key: value for key, value in item.items() if key != "execution"} for item in items]
            elif kind == "prompts":
                items = [item for item in items if item["name"].startswith(self._prefix)]
            else:
                items = [
                    item for item in items if item.get("uri", item.get("uriTemplate")).startswith(f"{self._scheme}://")
                ]
            self.found[kind] = [self._normal(item) for item in items]
        return names

    @staticmethod
    def _plain(name: str) -> str:
        """Return the name of a function. Arcade writes `Peer_Add`."""
        return name.rpartition("_")[2].lower()

    async def _step(self, name: str, step: Awaitable[Any]) -> None:
        try:
            self.found[name] = self._normal(await step)
        except MCPError as error:
            message = str(error).partition("http://")[0]  # it names the server of the connection
            self.found[name] = self._normal({"error": getattr(error, "code", None), "message": message})

    async def _count(self, client: Client, name: str) -> None:
        progress: list[Any] = []
        self._notified.clear()
        options: dict[str, Any] = {"progress": progress.append}
        if client.stateless:
            options["meta"] = _LOG_LEVEL
        await self._step("count", client.call(name, {"steps": 3}, **options))
        self.found["progress"] = [
            {key: value for key, value in params.items() if key != "progressToken"} for params in progress
        ]
        logs = [params for method, params in self._notified if method == "notifications/message"]
        self.found["logs"] = [{key: message.get(key) for key in ("level", "data")} for message in logs]

    async def _grow(self, client: Client, name: str) -> None:
        self._notified.clear()
        await self._step("grow", client.call(name))
        begun = asyncio.get_running_loop().time()
        while "notifications/tools/list_changed" not in [method for method, _ in self._notified]:
            self.change_seconds = asyncio.get_running_loop().time() - begun
            if self.change_seconds > CHANGE_SECONDS:
                break
            await asyncio.sleep(0.01)
        self.found["announced"] = self.change_seconds <= CHANGE_SECONDS
        tools = [tool["name"] for tool in await client.tools()]
        self.found["grown"] = f"{self._prefix}grown" in tools

    def _normal(self, value: Any, *, top: bool = True) -> Any:
        """Return a value without members of the connection and without the name of the peer."""
        if isinstance(value, dict):
            return {key: self._normal(member, top=False) for key, member in value.items() if not top or key not in _OWN}
        if isinstance(value, list):
            return [self._normal(item, top=False) for item in value]
        return _ERROR_ID.sub("", value.replace(f"{self._name}_", "")) if isinstance(value, str) else value
