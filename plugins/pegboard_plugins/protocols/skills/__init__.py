"""Skills (`io.modelcontextprotocol/skills`, SEP-2640): folders of instructions for models, served as resources.

Digests are those of the bytes on disk. The folders are read again when a client asks for skills, and, with the extra
`reload`, when a file has changed.
"""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

from pydantic import Field, ValidationInfo, field_validator

from pegboard import PluginConfig, ResourceContents, ResourceResult, ToolDefinitionError
from pegboard.plugin import (
    ContentFolder,
    Extension,
    Method,
    Plugin,
    PluginContext,
    PluginError,
    ProtocolError,
    ResourceDefinition,
    WidensAccess,
    hookimpl,
)
from pegboard.types import Call, Failure, Listing, MethodResult, Outcome, Resource, Tool
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS

if TYPE_CHECKING:
    from pegboard_plugins.protocols.skills.skill_files import Skill, SkillFile

SKILLS_EXTENSION = "io.modelcontextprotocol/skills"
SKILL_FILE = "SKILL.md"
DIRECTORY = "inode/directory"
SCHEME = "skill://"
WATCH_MS = 1000
"""The milliseconds between two looks at the events of the watched folders."""


class SkillsConfig(PluginConfig):
    """`[plugins.skills]`.

    Attributes:
        folders: folders with skills, which have a `SKILL.md`, at any depth; relative to the configuration file.
        page_size: the maximum number of entries on a page.
        ttl_ms: how long clients may cache entries and files, in milliseconds.
    """

    folders: Annotated[tuple[str, ...], WidensAccess("serves the files of folders")] = ()
    page_size: int = Field(default=50, ge=1)
    ttl_ms: int = Field(default=300_000, ge=0)

    @field_validator("folders")
    @classmethod
    def _check_exist(cls, folders: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        resolved = [Path(cls.folder_of(info), Path(folder).expanduser()) for folder in folders]
        if missing := [str(folder) for folder in resolved if not folder.is_dir()]:
            raise ValueError(f"the folder {missing[0]} does not exist: correct or remove it")
        return tuple(map(str, resolved))


class SkillsPlugin(Plugin):
    """Serves the skills of the configured folders, and of toolkits (`Toolkit(skills=...)`)."""

    Config = SkillsConfig

    def __init__(self, config: SkillsConfig) -> None:
        super().__init__(config)
        self._skills: Mapping[str, Skill] = {}
        self._logged: set[str] = set()
        self._lock = Lock()
        self._reading: asyncio.Task[None] | None = None

    @hookimpl
    def register_methods(self, context: PluginContext) -> Iterable[Extension | Method]:
        """Return the extension. Without configured folders it is advertised while there are skills."""
        describe = None if self.config.folders else self.describe
        yield Extension(
            SKILLS_EXTENSION, {"directoryRead": True}, negotiated=False, describe=describe, since="2025-06-18"
        )
        yield Method("skills/list", self.list_skills, SKILLS_EXTENSION)
        yield Method("skills/get", self.get_skill, SKILLS_EXTENSION)
        yield Method("resources/directory/read", self.read_directory, SKILLS_EXTENSION)

    def describe(self, item: Tool | Resource, value: Any, resources: Mapping[str, Resource]) -> dict[str, Any] | None:
        """Return no `_meta`. A skill keeps the extension advertised."""
        return {} if isinstance(item, Resource) and item.uri in self._skills else None

    @hookimpl
    @asynccontextmanager
    async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
        """Read the skills, and watch their folders."""
        self._context = context
        if not self._folders():
            yield
            return
        if find_spec("yaml") is None:
            raise PluginError("skills need PyYAML, which is not installed; install it with: pip install pyyaml")
        from pegboard_plugins.protocols.skills.skill_files import SkillReader

        self._reader = SkillReader()
        self.offers = ("resources",)
        await asyncio.to_thread(self._read_again)
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.wait([watch])

    def _folders(self) -> list[ContentFolder]:
        return [*(ContentFolder("skills", folder) for folder in self.config.folders), *self._context.folders("skills")]

    async def _watch(self) -> None:
        """Read the skills again after each change of a file. Without the extra `reload`, do nothing."""
        if find_spec("watchfiles") is None:
            return
        from watchfiles import awatch

        folders = [folder.path for folder in self._folders()]
        try:
            events = awatch(*folders, watch_filter=None, step=WATCH_MS, rust_timeout=0, ignore_permission_denied=True)
            async with aclosing(events) as changes:
                async for _ in changes:
                    await asyncio.to_thread(self._read_again)
        except OSError as error:
            self._context.logger.warning("changes of skills are noticed only at the next request: %s", error)

    def _read_again(self, *, forget: bool = False) -> None:
        """Read all skills, serve them as resources, and announce what has changed."""
        with self._lock:
            if forget:
                self._reader.forget()
            before = self._skills
            self._skills = self._reader.read(self._folders())
            for problem in self._reader.problems:
                if problem not in self._logged:
                    self._context.logger.warning("not served: %s", problem)
            self._logged = set(self._reader.problems)
            self._publish(_served(before), _served(self._skills))

    def _publish(self, before: Mapping[str, Skill], now: Mapping[str, Skill]) -> None:
        catalogue = self._context.catalogue
        for uri in before.keys() - now.keys():
            self._try(catalogue.remove, "resources", uri)
        for uri, skill in now.items():
            if uri not in before:
                self._try(catalogue.add, self._definition(uri, skill))
            elif skill != before[uri]:
                self._try(catalogue.update, self._definition(uri, skill))

    def _try(self, change: Callable[..., Any], *arguments: Any) -> None:
        try:
            change(*arguments)
        except ToolDefinitionError as error:
            self._context.logger.warning("not served: %s", error)

    def _definition(self, uri: str, skill: Skill) -> ResourceDefinition:
        """Return a `SKILL.md`, or the template of the other files of a skill."""

        def read_file(path: str = SKILL_FILE) -> ResourceResult | None:
            return self._read(skill.uri, path)

        name = skill.frontmatter["name"]
        if uri != skill.uri:
            description = f"The files of the skill {name}."
            return ResourceDefinition(
                uri, read_file, f"{name} files", description=description, max_result=0, toolkit=skill.toolkit
            )
        return ResourceDefinition(
            uri,
            partial(read_file, SKILL_FILE),
            name,
            description=skill.frontmatter["description"],
            mime_type="text/markdown",
            size=skill.files[SKILL_FILE].size,
            max_result=0,
            toolkit=skill.toolkit,
        )

    def _read(self, uri: str, path: str) -> ResourceResult | None:
        """Return a file whose bytes have the digest of its entry, or None. If it has changed, read all skills again."""
        for is_repeated in (False, True):
            skill = self._skills.get(uri)
            file = None if skill is None else skill.files.get(path)
            if file is None:
                return None
            if (content := file.read()) is not None:
                part = ResourceContents(file.uri, _as_text(content), file.mime_type)
                return ResourceResult((part,), ttl_ms=self.config.ttl_ms, public=True)
            if not is_repeated:
                self._read_again(forget=True)
        return None

    # --- methods ---

    async def list_skills(self, call: Call) -> Outcome:
        """Return a page of entries (`skills/list`)."""
        skills, caching = await self._visible(call)
        entries = {skill.uri: skill.entry() for skill in skills}
        page, following = self._page(call, "skills", entries)
        return MethodResult({"skills": page, **following, **caching})

    async def get_skill(self, call: Call) -> Outcome:
        """Return the entry of one skill (`skills/get`)."""
        uri = _uri_of(call)
        skills, caching = await self._visible(call)
        for skill in skills:
            if skill.uri == uri:
                return MethodResult({"skill": skill.entry(), **caching})
        raise ProtocolError(INVALID_PARAMS, f"There is no skill {uri!r}: skills/list has the skills.")

    async def read_directory(self, call: Call) -> Outcome:
        """Return a page of the files and folders directly in a folder (`resources/directory/read`)."""
        uri = _uri_of(call)
        skills, _ = await self._visible(call)
        children = _children(uri, skills)
        if not children:
            raise ProtocolError(INVALID_PARAMS, f"{uri!r} is not a folder of a skill: use a URI such as skill://name.")
        page, following = self._page(call, uri, children)
        return MethodResult({"resources": page, **following})

    async def _visible(self, call: Call) -> tuple[list[Skill], dict[str, Any]]:
        """Read the skills, if the call does not continue a list. Return those that its caller can use, by URI.

        Also return the caching members of their results.
        """
        if not call.params.get("cursor"):
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(asyncio.to_thread(self._read_again))
            await asyncio.shield(self._reading)  # requests that arrive meanwhile share it
        listed, private = await self._listed(call)
        caching = {"ttlMs": self.config.ttl_ms, "cacheScope": "private" if private else "public"}
        return [skill for uri, skill in sorted(self._skills.items()) if uri in listed], caching

    async def _listed(self, call: Call) -> tuple[set[str], bool]:
        """Return the URIs of the resources that a caller can use, and True if they may differ for other callers."""
        listed: set[str] = set()
        params: dict[str, Any] = {}
        while True:
            page = await self._context.dispatch(
                call._replace(method="resources/list", params=params, path=(*call.path, call.method))
            )
            if isinstance(page, Failure):
                raise page.error
            assert isinstance(page, Listing)
            listed.update(item.uri for item in page.items if isinstance(item, Resource))
            if page.next_cursor is None:
                return listed, page.private
            params = {"cursor": page.next_cursor}

    def _page(
        self, call: Call, of: str, items: Mapping[str, dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Return the items of a page, and the cursor of the next page if there is one."""
        last = _decoded(call.params.get("cursor"), of)
        rest = sorted(uri for uri in items if uri > last)
        page = rest[: self.config.page_size]
        following = {"nextCursor": _encoded(page[-1], of)} if len(rest) > len(page) else {}
        return [items[uri] for uri in page], following


def _served(skills: Mapping[str, Skill]) -> dict[str, Skill]:
    """Return the skill for each URI and each template of URIs that is served."""
    templates = {f"{skill.root}/{{+path}}": skill for skill in skills.values() if len(skill.files) > 1}
    return {**skills, **templates}


def _children(directory: str, skills: Iterable[Skill]) -> dict[str, dict[str, Any]]:
    """Return what is directly in a directory, as resources by URI."""
    children: dict[str, dict[str, Any]] = {}
    above = directory + "/"
    for skill in skills:
        for path, file in skill.files.items():
            name, is_deeper, _ = file.uri.removeprefix(above).partition("/")
            if not file.uri.startswith(above) or not directory.startswith(SCHEME):
                continue
            child = above + name
            if is_deeper:
                children[child] = {"uri": child, "name": unquote(name), "mimeType": DIRECTORY}
            elif path == SKILL_FILE:
                children[child] = {
                    **_metadata(file),
                    **{key: skill.frontmatter[key] for key in ("name", "description")},
                }
            else:
                children.setdefault(child, _metadata(file))
    return children


def _metadata(file: SkillFile) -> dict[str, Any]:
    return {"uri": file.uri, "name": file.path.name, "mimeType": file.mime_type, "size": file.size}


def _as_text(content: bytes) -> str | bytes:
    """Return a text that has these bytes in UTF-8, or the bytes."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _uri_of(call: Call) -> str:
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise ProtocolError(INVALID_PARAMS, "params.uri must be a text, such as skill://name/SKILL.md")
    return uri


def _encoded(last: str, of: str) -> str:
    return urlsafe_b64encode(f"{of} {last}".encode()).decode()


def _decoded(cursor: object, of: str) -> str:
    """Return the last URI of the previous page; "" for the first page."""
    if cursor is None or cursor == "":
        return ""
    try:
        own, _, last = urlsafe_b64decode(str(cursor)).decode().partition(" ")
    except ValueError:
        own = last = ""
    if own != of or not last:
        raise ProtocolError(INVALID_PARAMS, "params.cursor is not one of this list's cursors")
    return last
