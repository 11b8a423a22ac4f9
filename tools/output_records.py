"""The JSON that commands of the host print with `--json`, as types. `docs/output.schema.json` has their JSON Schema."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.terminal.failures import ProblemFields


class CheckedProblem(ProblemFields):
    """A problem of a configuration that was checked."""

    level: Literal["error", "warning"]
    fatal: bool


class Failed(TypedDict, total=False):
    """A failure. A failed call also has the members of the tool's error, or those of the other server's error."""

    kind: str
    message: str
    exit_code: int
    problems: list[ProblemFields]
    can_retry: bool
    additional_prompt_content: str | None
    retry_after_ms: int | None
    status_code: int | None
    extra: dict[str, Any] | None
    error_id: str | None
    code: int
    data: Any


class FailureOutput(TypedDict):
    """The output of every command that fails."""

    error: Failed


class Enabled(TypedDict):
    """A plugin or toolkit that runs, and what enables it."""

    name: str
    kind: Literal["plugin", "toolkit"]
    source: str
    tools: int
    tokens: int


class StatusOutput(TypedDict):
    """The output of `pegboard` without a command. `later` names the plugins that add tools while the host runs."""

    version: str
    file: str | None
    enabled: list[Enabled]
    toolkits: int
    tools: int
    tokens: int
    later: list[str]
    problems: list[ProblemFields]
    next: str


class ReceivedSecret(TypedDict):
    """A secret that a plugin or toolkit receives."""

    name: str
    set: bool
    given: str
    tools: list[str]


class RequiredToken(TypedDict):
    """A token that the tools of a plugin or toolkit require."""

    provider: str
    tools: list[str]


class PluginProblem(TypedDict):
    """A problem of a plugin."""

    stage: str
    level: str
    message: str


class PluginMiddleware(TypedDict):
    """A middleware of a plugin: its place in the chain, outermost first, and the hooks or methods that it wraps."""

    name: str
    place: int
    wraps: list[str]


class ShownPlugin(TypedDict):
    """A plugin or toolkit of `pegboard why`."""

    name: str
    kind: Literal["plugin", "toolkit"]
    state: Literal["on", "off", "failed", "removed"]
    reason: str
    distribution: str
    version: str
    target: str
    tools: list[str]
    middleware: list[PluginMiddleware]
    secrets: list[ReceivedSecret]
    may_receive: list[str] | None
    tokens: list[RequiredToken]
    may_receive_tokens: list[str] | None
    needs: list[str]
    import_ms: float | None
    remarks: list[str]
    problems: list[PluginProblem]


class ListedPlugin(ShownPlugin):
    """A plugin or toolkit of `pegboard plugins`, and the processes of running hosts with another version.

    The state is "removed" if it is not installed any more, but a running host still has it.
    """

    outdated: list[int]


class WhyOutput(TypedDict):
    """The output of `pegboard why`."""

    name: str
    plugins: list[ShownPlugin]
    story: list[str]


class CheckOutput(TypedDict):
    """The output of `pegboard config check`."""

    ok: bool
    file: str | None
    problems: list[CheckedProblem]
    plugins: list[str]
    toolkits: list[str]
    tools: int


class SettingsOutput(TypedDict):
    """The output of `pegboard config show`: the settings, and the source of each by its dotted key."""

    file: str | None
    values: dict[str, dict[str, Any]]
    sources: dict[str, str]


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


class TokenOutput(TypedDict):
    """The output of `pegboard operator-token`."""

    token: str
    file: str


class AppliedChange(TypedDict):
    """The result of a reload for one distribution or file."""

    name: str
    outcome: Literal["reloaded", "added", "removed", "kept", "failed", "restart needed"]
    reason: str


class ReloadedHost(TypedDict):
    """A host of `pegboard reload`."""

    pid: int
    config: str | None
    url: str | None
    results: list[AppliedChange]


class VersionOutput(TypedDict):
    """The output of `pegboard --version`."""

    version: str


OF_HOST: dict[str, Any] = {
    "operator-token": TokenOutput,
    "reload": list[ReloadedHost],
    "plugins": list[ListedPlugin],
    "why": WhyOutput,
    "config check": CheckOutput,
    "config show": SettingsOutput,
    "config trust": TrustOutput,
    "config untrust": UntrustOutput,
}
"""The type of each command of the host by its name, and that of `why`, which prints the same plugins.

The facts of other features name the types of their commands.
"""
