"""The skills in folders: their files, digests and frontmatter.

Links are not followed, and files and folders whose names begin with a dot are not part of a skill.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import yaml

from pegboard.plugin import ContentFolder
from pegboard.types import ToolkitInfo
from pegboard_plugins.protocols.skills import SCHEME, SKILL_FILE

T = TypeVar("T")

MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024
"""The limits of the extension for one skill, which each client accepts."""

MAX_DESCRIPTION = 1024
_NAME = r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"


class SkillFile(NamedTuple):
    """A file of a skill.

    Attributes:
        uri: its URI.
        path: its absolute path, without links.
        digest: "sha256:" and the hash of its bytes.
        size: the number of its bytes.
    """

    uri: str
    path: Path
    digest: str
    size: int

    @property
    def mime_type(self) -> str:
        """The media type, by the name of the file."""
        if self.path.suffix.lower() == ".md":
            return "text/markdown"
        return guess_type(self.path.name)[0] or "application/octet-stream"

    def read(self) -> bytes | None:
        """Return the bytes. Return None if they are not those of the digest any more."""
        try:
            content = read_bytes(self.path)
        except OSError:
            return None
        return content if digest_and_size(content) == (self.digest, self.size) else None


class Skill(NamedTuple):
    """A skill.

    Attributes:
        root: the URI of its folder.
        frontmatter: the frontmatter of its `SKILL.md`.
        files: its files by their paths inside of the skill.
        toolkit: the toolkit that ships it; None for a configured folder.
    """

    root: str
    frontmatter: Mapping[str, Any]
    files: Mapping[str, SkillFile]
    toolkit: ToolkitInfo | None

    @property
    def uri(self) -> str:
        """The URI of its `SKILL.md`."""
        return self.files[SKILL_FILE].uri

    def entry(self) -> dict[str, Any]:
        """Return the entry in lists (the type `Skill` of the extension)."""
        resources = [{"uri": file.uri, "digest": file.digest, "size": file.size} for file in self.files.values()]
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": resources}


class SkillReader:
    """Reads skills. A digest is computed again only if the file has changed.

    Attributes:
        problems: the skills and files that are not served, each with the reason, after the last `read`.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._cache: dict[tuple[Path, Callable[[bytes], Any]], tuple[object, Any]] = {}

    def forget(self) -> None:
        """Read all files again at the next `read`."""
        self._cache.clear()

    def read(self, folders: Sequence[ContentFolder]) -> dict[str, Skill]:
        """Return the skills of folders by their URIs. Of two skills with the same URI, the first is served."""
        self.problems.clear()
        skills: dict[str, Skill] = {}
        for folder in folders:
            for skill in self._skills(folder):
                if skills.setdefault(skill.uri, skill) is not skill:
                    self.problems.append(f"{skill.files[SKILL_FILE].path}: {skill.uri} exists already")
        return skills

    def _skills(self, folder: ContentFolder) -> Iterator[Skill]:
        top = Path(folder.path).resolve()
        try:
            paths = list(self._walk(top))
        except OSError as error:
            self.problems.append(f"{error.filename}: {error.strerror}")
            return
        names = [folder.toolkit.name] if folder.toolkit is not None and folder.toolkit.prefix else []
        if top / SKILL_FILE in paths:
            names.append(top.name)
        files_of: dict[Path, list[Path]] = {path.parent: [] for path in paths if path.name == SKILL_FILE}
        for path in paths:
            for home in files_of.keys() & set(path.parents):
                files_of[home].append(path)
        for home, files in files_of.items():
            try:
                yield self._skill(home, files, [*names, *home.relative_to(top).parts], folder.toolkit)
            except (OSError, ValueError) as error:
                self.problems.append(f"{home}: {error}")

    def _walk(self, folder: Path) -> Iterator[Path]:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_symlink():
                self.problems.append(f"{entry.path}: a link is not followed")
            elif entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            elif entry.is_dir():
                yield from self._walk(Path(entry))
            elif entry.is_file():
                yield Path(entry)

    def _skill(self, home: Path, paths: Sequence[Path], names: Sequence[str], toolkit: ToolkitInfo | None) -> Skill:
        sizes = [path.stat().st_size for path in paths]
        if len(paths) > MAX_FILES or sum(sizes) > MAX_BYTES:
            raise ValueError(
                f"it has {len(paths)} files with {sum(sizes)} bytes: a skill has at most {MAX_FILES} files and "
                f"{MAX_BYTES} bytes"
            )
        frontmatter = self._made(home / SKILL_FILE, read_frontmatter)
        name, description = frontmatter.get("name"), frontmatter.get("description")
        if not isinstance(name, str) or not re.fullmatch(_NAME, name) or name != names[-1]:
            raise ValueError(
                f"its name is {name!r}: use the name of the folder, with at most 64 of a-z, 0-9 and single hyphens"
            )
        if not isinstance(description, str) or not 0 < len(description.strip()) <= MAX_DESCRIPTION:
            raise ValueError(f"its description must be a text of at most {MAX_DESCRIPTION} characters")
        root = SCHEME + "/".join(map(quote_part, names))
        files: dict[str, SkillFile] = {}
        for path in paths:
            parts = path.relative_to(home).parts
            uri = "/".join([root, *map(quote_part, parts)])
            files["/".join(parts)] = SkillFile(uri, path, *self._made(path, digest_and_size))
        return Skill(root, frontmatter, files, toolkit)

    def _made(self, path: Path, make: Callable[[bytes], T]) -> T:
        """Return what a function makes of the bytes of a file, once for each version of the file."""
        state = path.stat()
        version = (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
        earlier = self._cache.get((path, make))
        if earlier is None or earlier[0] != version:
            earlier = self._cache[path, make] = (version, make(read_bytes(path)))
        return earlier[1]


def digest_and_size(content: bytes) -> tuple[str, int]:
    """Return the digest of the bytes of a file in the form of the extension, and their number."""
    return f"sha256:{sha256(content).hexdigest()}", len(content)


def quote_part(part: str) -> str:
    """Return a name of a file as a segment of a URI (RFC 3986).

    Raises:
        ValueError: the name is not UTF-8.
    """
    return quote(part, safe="")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        OSError: it is no file, is too large, or a part of its path is a link now.
    """
    if path.resolve() != path or not path.is_file():
        raise OSError(f"{path.name} is not a file")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(f"{path.name} is too large")
    return content


# --- The YAML frontmatter of a `SKILL.md` as JSON, by the core schema of YAML 1.2.
# The schema has no dates, and no octal numbers that begin with a zero: dates stay as they are written. Values that JSON
# cannot have, such as `.nan`, stay as they are written, too. Aliases are refused, because a few lines of them can stand
# for gigabytes.

MAX_CHARACTERS = 64 * 1024
"""The maximum length of frontmatter."""
MAX_DEPTH = 32
"""The maximum number of levels of frontmatter."""

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?\r?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TAG = "tag:yaml.org,2002:"
_CORE_SCHEMA = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
)
"""The type, the form and the first characters of plain scalars (YAML 1.2.2, section 10.3.2)."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 - the base class has it, too

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias (*name) is not supported: write the value again")
        return super().compose_node(parent, index)


for _name, _form, _first in _CORE_SCHEMA:
    _characters = [*_first, ""] if _name == "null" else [*_first]
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_form})\Z"), _characters)


def read_frontmatter(content: bytes) -> dict[str, Any]:
    """Return the frontmatter of a file.

    Raises:
        ValueError: the file has no valid frontmatter.
    """
    block = _BLOCK.match(content.decode())
    if block is None:
        raise ValueError("it must begin with frontmatter between two lines ---")
    if len(block[0]) > MAX_CHARACTERS:
        raise ValueError(f"its frontmatter is longer than {MAX_CHARACTERS} characters")
    try:
        fields = _value(yaml.compose(block[1] or "", Loader=_Loader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"its frontmatter is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(fields, dict):
        raise ValueError("its frontmatter must have fields, such as `name: refunds`")
    return fields


def _value(node: yaml.Node | None, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"its frontmatter has more than {MAX_DEPTH} levels: use fewer")
    match node:
        case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
            return _object(node, depth)
        case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
            return [_value(item, depth + 1) for item in node.value]
        case yaml.ScalarNode() if read := _SCALARS.get(node.tag.removeprefix(_TAG)):
            return read(node.value)
    raise ValueError(f"its frontmatter has a value of the type {node.tag}: use a type of JSON" if node else "no fields")


def _object(node: yaml.MappingNode, depth: int) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in fields:
            raise ValueError(f"line {key.start_mark.line + 2} repeats a key, or has one that is not a text")
        fields[key.value] = _value(value, depth + 1)
    return fields


def _integer(text: str) -> int:
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


_SCALARS: dict[str, Any] = {
    "str": str,
    "null": lambda text: None,
    "bool": lambda text: text.lower() == "true",
    "int": _integer,
    "float": _number,
}
