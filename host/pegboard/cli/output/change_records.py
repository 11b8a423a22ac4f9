"""The JSON of commands that change something, with `--json`."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


class SetOutput(TypedDict):
    """The output of `pegboard config set`."""

    file: str
    key: str


class SwitchOutput(TypedDict):
    """The output of `pegboard enable` and `disable`."""

    file: str
    name: str
    enabled: bool
    changed: bool


class ProjectOutput(TypedDict):
    """The output of `pegboard new`."""

    folder: str
    files: list[str]
    settings: str
    next: list[str]


class WideningSetting(TypedDict):
    """A setting that widens access, its value, and its source."""

    key: str
    value: Any
    access: str
    source: str


class TrustOutput(TypedDict):
    """The output of `pegboard config trust`. `sha256` is None for a folder without a configuration file."""

    file: str
    sha256: str | None
    widens: list[WideningSetting]


class UntrustOutput(TypedDict):
    """The output of `pegboard config untrust`."""

    file: str
    was_trusted: bool


class CheckedServer(TypedDict):
    """The response of a server that was started as the client does. `problem` is "" if it serves."""

    problem: str
    server: str
    revision: str
    seconds: float
    items: dict[str, list[str]]
    stderr: list[str]


class ConfiguredClient(TypedDict):
    """The output of `pegboard configure CLIENT`. `answer` is None if the server was not checked."""

    client: str
    name: str
    file: str
    changed: bool
    difference: list[str]
    answer: CheckedServer | None


class RemovedEntry(TypedDict):
    """The output of `pegboard configure remove`."""

    client: str
    name: str | None
    file: str
    changed: bool


class StoredSecret(TypedDict):
    """The output of `pegboard secret set`."""

    name: str
    store: str
    place: str


class RemovedSecret(TypedDict):
    """The output of `pegboard secret unset`."""

    name: str
    removed_from: list[str]
    left_in: list[str]


class AppliedChange(TypedDict):
    """The result of a reload for one distribution or file."""

    name: str
    outcome: Literal["reloaded", "added", "removed", "kept", "failed", "restart needed"]
    reason: str


class ReloadedHost(TypedDict):
    """A host of `pegboard reload`."""

    pid: int
    results: list[AppliedChange]
