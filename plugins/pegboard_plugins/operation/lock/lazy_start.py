"""Toolkits that are imported at their first calls. Until then lists are answered from the lock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from pegboard import Context, ErrorKind, MCPError, ToolkitError
from pegboard.errors import RepeatCallError
from pegboard.plugin import (
    FoundToolkit,
    LateToolkit,
    Middleware,
    PromptDefinition,
    ProtocolError,
    ResourceDefinition,
    ToolDefinition,
    ToolkitLoader,
)
from pegboard.types import Call, CallNext, Inventory, ItemKind, Outcome
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.definition_objects import HOST_MEMBERS, host_options
from pegboard_plugins.operation.lock.verification import unlocked_reason
from pegboard_plugins.support.catalogue_lock import CatalogueLock, LockedDefinition, LockedOwner
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS
from pegboard_plugins.support.lock_files import wrong_type

logger = logging.getLogger("pegboard.plugins.lock")

Rejections: TypeAlias = Mapping[tuple[ItemKind, str], str]
"""The reasons why items are not served, by kind and name on the wire."""
RETRY_SECONDS = 10.0
"""The time in seconds from a failed import to the first call that tries it again."""


class LateLoadError(ToolkitError):
    """A toolkit cannot be imported now."""

    default_kind = ErrorKind.TOOLKIT_LOAD_FAILED


class LazyStart(Middleware, ToolkitLoader):
    """Serves toolkits from the lock, and imports each before the first call of one of its items.

    It runs outside all other middleware, which then sees only the call of the imported item.

    Args:
        lock: the lock.
        path: its file.
        names: names or globs of lazy toolkits.
        seconds: how long a call waits for an import.

    Attributes:
        files_read: the file.
    """

    outermost = True

    def __init__(self, lock: CatalogueLock, path: Path, names: Sequence[str], seconds: float) -> None:
        self._lock = lock
        self.files_read = [str(path)]
        self._names = names
        self._seconds = seconds
        self._imports: list[_LateImport] = []
        self._inventory: Inventory | None = None

    def load(self, toolkit: FoundToolkit) -> LateToolkit | None:
        """Return the toolkit of the lock, or None with a remark about the reason."""
        if not any(fnmatchcase(toolkit.name, name) for name in self._names):
            return None
        if reason := reason_to_import(self._lock, toolkit):
            toolkit.remark(f"imported at the start: {reason}")
            return None
        toolkit.remark("imported at its first call")
        late = locked_toolkit(self._lock, toolkit)
        kept = [load for load in self._imports if load.name != toolkit.name or load.is_due()]  # a reload may fail
        self._imports = [*kept, _LateImport(late)]
        return late

    def wants(self, call: Call) -> bool:
        """Return True until all toolkits are imported."""
        return any(map(_LateImport.is_due, self._imports))

    def assembled(self, inventory: Inventory) -> Sequence[str]:
        """Keep the inventory, which names the toolkit of each item."""
        self._inventory = inventory
        return ()

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Import the toolkit of the tool or prompt."""
        await self._import("tools" if call.method == "tools/call" else "prompts", call.params.get("name"))
        return await call_next(call)

    on_get_prompt = on_call_tool

    async def on_read_resource(self, call: Call, call_next: CallNext) -> Outcome:
        """Import the toolkits that may have the resource."""
        await self._import_resource(call.params.get("uri"))
        return await call_next(call)

    async def on_complete(self, call: Call, call_next: CallNext) -> Outcome:
        """Import the toolkit of the prompt or template whose argument is completed."""
        reference = call.params.get("ref")
        if isinstance(reference, dict):
            await self._import("prompts", reference.get("name"))
            await self._import("resources", reference.get("uri"))
        return await call_next(call)

    async def _import_resource(self, uri: object) -> None:
        if isinstance(uri, str) and self._inventory is not None:
            for key in [uri, *self._inventory.answering(uri)]:
                await self._import("resources", key)

    async def _import(self, kind: ItemKind, name: object) -> None:
        """Import the toolkit of an item, if it is not imported yet.

        Raises:
            RepeatCallError: the toolkit has been imported, so the call must be repeated.
            ProtocolError: the item is rejected, because it differs from the lock.
            LateLoadError: the toolkit cannot be imported.
        """
        items: Mapping[str, Any] = {} if self._inventory is None else getattr(self._inventory, kind)
        item = items.get(name) if isinstance(name, str) else None
        due = (load for load in self._imports if item is not None and load.name == item.owner and load.is_due())
        if (late := next(due, None)) is None:
            return
        rejected = await late.result(self._seconds)
        if (kind, name) in rejected:
            raise ProtocolError(
                INVALID_PARAMS, f"The definition of {name!r} has changed since it was listed: list the {kind} again."
            )
        raise RepeatCallError("The host has imported the toolkit: repeat the call.")


class _LateImport:
    """The import of one toolkit in a separate thread. All calls wait for the same import."""

    def __init__(self, toolkit: LateToolkit) -> None:
        self.name = toolkit.name
        self._toolkit = toolkit
        self._future: asyncio.Future[Rejections | None] | None = None
        self._begun = self._ended = 0.0

    def is_due(self) -> bool:
        """Return True if the toolkit must be imported: the host still serves the definitions of the lock."""
        return self._toolkit.finish is not None

    async def result(self, seconds: float) -> Rejections:
        """Return the rejected items of the toolkit. Wait until `seconds` after the import began.

        Raises:
            LateLoadError: the import failed, or takes longer.
        """
        loop, name = asyncio.get_running_loop(), self.name
        future = self._future
        if future is None or self._may_repeat(future, loop.time()):
            future = self._future = loop.create_future()
            self._begun = loop.time()
            Thread(target=self._run, args=(loop, future), name=f"pegboard-import-{name}", daemon=True).start()
        left = max(0.0, self._begun + seconds - loop.time())
        done, _ = await asyncio.wait((future,), timeout=left)
        if not done:
            logger.error(
                "the import of the toolkit %r takes longer than %g seconds (import_seconds); it continues",
                name,
                seconds,
            )
            raise LateLoadError(f"The toolkit {name} is still being loaded. Try again later.")
        rejected = future.result()
        if rejected is None:
            raise LateLoadError(f"The toolkit {name} cannot be loaded. The log of the host has the reason.")
        return rejected

    def _may_repeat(self, future: asyncio.Future[Rejections | None], now: float) -> bool:
        """Return True if the import failed long enough ago, or if a reload serves the definitions of the lock again."""
        return future.done() and (future.result() is not None or now >= self._ended + RETRY_SECONDS)

    def _run(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Rejections | None]) -> None:
        rejected = None
        try:
            if self._toolkit.finish is not None:
                rejected = self._toolkit.finish()
        except MCPError as error:
            logger.error("%s", error)
        except Exception:
            logger.exception("the toolkit %r cannot be imported", self.name)
        with suppress(RuntimeError):  # the host has stopped
            loop.call_soon_threadsafe(self._end, future, rejected)

    def _end(self, future: asyncio.Future[Rejections | None], rejected: Rejections | None) -> None:
        self._ended = future.get_loop().time()
        future.set_result(rejected)


# --- A toolkit that is served from the lock, and the reasons to import a toolkit at the start instead.

_VERSION = "pegboard/version"
_TAGS = "pegboard/tags"


def reason_to_import(lock: CatalogueLock, toolkit: FoundToolkit) -> str | None:
    """Return the reason why a toolkit cannot be served from the lock, or None."""
    owner = lock.owners.get(f"toolkit:{toolkit.name}")
    if owner is None:
        return "pegboard.lock does not have it"
    if (owner.distribution, owner.version) != (toolkit.distribution, toolkit.version):
        return f"pegboard.lock has it from {owner.distribution} {owner.version}".rstrip()
    if hooks := [hook for hook in owner.hooks if hook != "lifespan"]:
        return f"it has hooks that run at the start ({', '.join(hooks)})"
    of_host = toolkit.host_settings or {}
    if any(key.startswith("host.tools.") or (key == "host.tools" and value) for key, value in of_host.items()):
        return "[host.tools] changes tools"
    if (digest_of(of_host), digest_of(toolkit.settings)) != (lock.host_digest, owner.settings_digest):
        return "its settings differ from those of pegboard.lock"
    if wrong := damage(owner):
        return f"pegboard.lock is damaged: {wrong}; restore the file, or remove it and run `pegboard lock`"
    return None


def locked_toolkit(lock: CatalogueLock, toolkit: FoundToolkit) -> LateToolkit:
    """Return the toolkit with the definitions of the lock.

    Its settings are those of the lock, which the toolkit has accepted. Only secrets may have changed. The host then
    validates the settings.
    """
    owner = lock.owners[f"toolkit:{toolkit.name}"]
    schema = owner.settings_schema
    return LateToolkit(
        toolkit.name,
        [*_tools(owner), *_resources(owner), *_prompts(owner)],
        partial(unlocked_reason, lock),
        settings_schema=schema if schema is None or toolkit.has_secrets else {},
        description=owner.description or None,
        version=_own_version(owner),
    )


def _own_version(owner: LockedOwner) -> str | None:
    """Return the version of the toolkit if it differs from the version of its distribution."""
    of_tools = [tool.definition for tool in owner.tools.values() if _VERSION not in tool.definition.get("_meta", {})]
    version = next(filter(None, (tool.get("version") for tool in of_tools)), None)
    return None if version == owner.version else version


async def _imported_first(called: Any, context: Context) -> MCPError:
    """Repeat a call that began with a definition of the lock, while the import of the toolkit ended."""
    raise RepeatCallError("The host has imported the toolkit: repeat the call.")


def _tools(owner: LockedOwner) -> Iterator[ToolDefinition]:
    for name, locked in owner.tools.items():
        definition = locked.definition
        version = definition.get("_meta", {}).get(_VERSION)
        raw = {member: value for member, value in definition.items() if member not in HOST_MEMBERS}
        own = host_options(definition)
        yield ToolDefinition(_imported_first, name=name, version=version, tags=_tags(locked), raw=raw, **own)


def _resources(owner: LockedOwner) -> Iterator[ResourceDefinition]:
    for uri, locked in owner.resources.items():
        yield ResourceDefinition(uri, _imported_first, tags=_tags(locked), raw=locked.definition)


def _prompts(owner: LockedOwner) -> Iterator[PromptDefinition]:
    for name, locked in owner.prompts.items():
        yield PromptDefinition(_imported_first, name=name, tags=_tags(locked), raw=locked.definition)


def _tags(locked: LockedDefinition) -> Sequence[str]:
    tags: Sequence[str] = locked.definition.get("_meta", {}).get(_TAGS, ())
    return tags


# --- Wrong types in the definitions of a lock, found before a toolkit is served from them.

_META: Mapping[str, Any] = {"pegboard/version": str, "pegboard/tags": list}
_TOOL: Mapping[str, Any] = {
    "title": str,
    "description": str,
    "inputSchema": {"type": str, "properties": dict, "required": list},
    "outputSchema": dict,
    "annotations": dict,
    "_meta": _META,
    **HOST_MEMBERS,
}
"""The types of the members with which a host serves a tool. A list has strings."""
_OTHER: Mapping[str, Any] = {"_meta": _META}
"""The types of such members of a resource or prompt. The host checks all others when it compiles the definition."""


def damage(owner: LockedOwner) -> str | None:
    """Return the first member of a toolkit's definitions that has a wrong type, and its right type, or None."""
    others = {**owner.resources, **owner.prompts}
    definitions = [(name, {"inputSchema": None, **tool.definition}, _TOOL) for name, tool in owner.tools.items()]
    definitions += [(name, dict(item.definition), _OTHER) for name, item in others.items()]
    for name, members, types in definitions:
        if (wrong := wrong_type(members, types)) is not None:
            return f"{name}: {'.'.join(wrong.path)} {wrong.problem}"
    return None
