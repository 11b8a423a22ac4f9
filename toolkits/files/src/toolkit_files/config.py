"""The settings of `[toolkits.files]`."""

import os
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from pegboard import PluginConfig
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


class FilesConfig(PluginConfig):
    """Where the tools work, and how far they may go."""

    roots: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="directories below which the tools work; relative ones against the working directory",
        ),
    ] = (".",)
    write: Annotated[bool, Field(description="offers the tools that write, move and delete")] = False
    max_read_bytes: Annotated[
        int, Field(ge=1024, le=64 << 20, description="the most that one call returns, in bytes")
    ] = 65_536
    max_entries: Annotated[
        int, Field(ge=1, le=100_000, description="the most entries that one list or find returns")
    ] = 500
    max_matches: Annotated[int, Field(ge=1, le=100_000, description="the most matches that one search returns")] = 100
    max_search_seconds: Annotated[
        float, Field(gt=0, le=3600, description="after this time a search returns what it has")
    ] = 20.0
    ignore: Annotated[tuple[str, ...], Field(description="globs that searches and listings in depth pass over")] = (
        IGNORED
    )
    deny: Annotated[
        tuple[str, ...],
        Field(description="globs of files and directories that no tool opens or changes, besides those of credentials"),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        Field(description="globs of files and directories that are open although they are closed by default"),
    ] = ()
    protect: Annotated[tuple[str, ...], Field(description="globs of what may be read but not changed")] = (
        ".git",
        "hostconfig.toml",
    )

    @field_validator("roots")
    @classmethod
    def _exist(cls, roots: tuple[str, ...]) -> tuple[str, ...]:
        for root in roots:
            path = os.path.expanduser(root)
            if "\0" in path or not os.path.isdir(path):
                reason = "is not a directory" if "\0" not in path and os.path.exists(path) else "does not exist"
                raise ValueError(f"the root {root!r} {reason} (looked for at {os.path.abspath(path)!r})")
            if not os.access(path, os.R_OK | os.X_OK):
                raise ValueError(f"the root {root!r} cannot be read by the host (at {os.path.abspath(path)!r})")
        return roots

    @model_validator(mode="after")
    def _no_surprise(self) -> Self:
        """A client may start the host anywhere, many in `/`: whole disks and homes are opened only by name."""
        here = os.path.realpath(".")
        if "roots" not in self.model_fields_set and here in ("/", os.path.realpath(os.path.expanduser("~"))):
            raise ValueError(
                f"roots is not set, and the working directory is {here!r}; name the directories to be used"
            )
        return self

    @field_validator("ignore", "deny", "allow", "protect")
    @classmethod
    def _compile(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        try:
            Globs(globs)
        except FileProblem as problem:
            raise ValueError(problem.message) from None
        return globs
