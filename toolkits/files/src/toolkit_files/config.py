"""The settings of `[toolkits.files]`."""

from __future__ import annotations

import os
from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess
from toolkit_files.broad import broadness, existing
from toolkit_files.patterns import Globs
from toolkit_files.problems import FileProblem

__all__ = ["FilesConfig"]

IGNORED = (
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
)
PROTECTED = (".git", "hostconfig.toml")


class FilesConfig(PluginConfig):
    """The directories, permissions and limits of the tools."""

    roots: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="directories below which the tools work, relative to the configuration file, or in a variable "
            "to the working directory, which is also called {cwd}",
        ),
        WidensAccess("opens these directories"),
    ] = (".",)
    allow_broad_roots: Annotated[
        bool,
        Field(description="lets a root be the home directory, a directory that holds it, or /"),
        WidensAccess("opens the home directory or the whole disk"),
    ] = False
    write: Annotated[
        bool, Field(description="offers the tools that write, move and delete"), WidensAccess("changes files")
    ] = False
    max_read_bytes: Annotated[
        int, Field(ge=1024, le=64 << 20, description="the maximum size of a result, in bytes")
    ] = 65_536
    max_entries: Annotated[
        int, Field(ge=1, le=100_000, description="the maximum number of entries in one list or find result")
    ] = 500
    max_matches: Annotated[
        int, Field(ge=1, le=100_000, description="the maximum number of matches in one search result")
    ] = 100
    max_search_seconds: Annotated[
        float,
        Field(gt=0, le=3600, description="the time limit of a search; it then returns the matches so far"),
    ] = 20.0
    ignore: Annotated[tuple[str, ...], Field(description="globs of entries that searches and deep listings skip")] = (
        IGNORED
    )
    deny: Annotated[
        tuple[str, ...],
        Field(description="globs of files and directories that no tool opens or changes, besides those of credentials"),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        Field(description="globs of files and directories that are open although they are closed by default"),
        WidensAccess("opens files that may hold credentials"),
    ] = ()
    protect: Annotated[
        tuple[str, ...],
        Field(description="globs of entries that may be read but not changed"),
        WidensAccess("no longer protects the default entries", unless=lambda globs: set(globs) >= set(PROTECTED)),
    ] = PROTECTED

    @field_validator("roots")
    @classmethod
    def _resolve(cls, roots: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return tuple(existing(root, str(cls.folder_of(info))) for root in roots)

    @model_validator(mode="after")
    def _no_broad_roots(self) -> Self:
        """Reject roots that contain the user's home directory. Many clients start the host in `/`."""
        if not self.allow_broad_roots:
            for root in self.roots:
                if reason := broadness(root):
                    place = f"the root {os.path.abspath(root)!r} is {reason}"
                    raise ValueError(f"{place}; name directories below it in roots, or set allow_broad_roots = true")
        return self

    @field_validator("ignore", "deny", "allow", "protect")
    @classmethod
    def _compile(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        try:
            Globs(globs)
        except FileProblem as problem:
            raise ValueError(problem.message) from None
        return globs
