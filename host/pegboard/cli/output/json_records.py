"""The JSON that commands print with `--json`. `docs/output.schema.json` has the JSON Schema of each command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard.cli.output.change_records import (
    ConfiguredClient,
    ProjectOutput,
    ReloadedHost,
    RemovedEntry,
    RemovedSecret,
    SetOutput,
    StoredSecret,
    SwitchOutput,
    TrustOutput,
    UntrustOutput,
)
from pegboard.terminal.failures import ProblemFields


class CheckedProblem(ProblemFields):
    """A problem of a configuration that was checked."""

    level: Literal["error", "warning"]
    fatal: bool


class DoctorFinding(ProblemFields):
    """A problem that `pegboard doctor` has found. `fixed` is what `--fix` has done, or "" for nothing."""

    check: str
    level: Literal["error", "warning"]
    fix: str
    source: str
    fixable: bool
    fixed: str


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


class DoctorOutput(TypedDict):
    """The output of `pegboard doctor`."""

    ok: bool
    file: str | None
    versions: dict[str, str]
    findings: list[DoctorFinding]


class ToolCost(TypedDict):
    """The estimated tokens of a tool."""

    name: str
    toolkit: str
    tokens: int
    longest_part: str


class CostOutput(TypedDict):
    """The output of `pegboard cost`."""

    ok: bool
    tokens: int
    budget: int | None
    toolkits: dict[str, int]
    tools: list[ToolCost]


class ListedTool(TypedDict):
    """A tool of `pegboard list`. `needs` has the secrets and tokens that the host does not have."""

    name: str
    toolkit: str
    description: str
    tags: list[str]
    needs: list[str]


class ShowOutput(ListedTool):
    """The output of `pegboard show`."""

    title: str | None
    version: str | None
    deprecated: str | None
    annotations: dict[str, Any]
    meta: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    requires_secrets: list[str]
    requires_metadata: list[str]
    scopes: list[str]


class CallOutput(TypedDict, total=False):
    """The output of `pegboard call` for a tool of this host. Only results with `content` have `is_error`."""

    result: Any
    content: list[dict[str, Any]]
    is_error: bool


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


class ListedSecret(TypedDict):
    """A secret of `pegboard secret list`."""

    name: str
    set: bool
    used_by: list[str]
    store: str | None


class TokenOutput(TypedDict):
    """The output of `pegboard operator-token`."""

    token: str
    file: str


class ClientEntry(TypedDict):
    """A server in the file of an MCP client, of `pegboard configure list`."""

    client: str
    file: str
    name: str
    server: str
    state: str


class ChangedDefinition(TypedDict):
    """A difference between the lock and the definitions that would be served."""

    owner: str
    kind: str
    name: str
    change: str
    former: str
    lines: list[str]


class LockOutput(TypedDict):
    """The output of `pegboard lock`."""

    file: str
    written: bool
    differences: list[ChangedDefinition]


class VersionOutput(TypedDict):
    """The output of `pegboard --version`."""

    version: str


class ScriptOutput(TypedDict):
    """The output of `pegboard completion`."""

    shell: str
    script: str


class SentMessage(TypedDict):
    """A message of `pegboard demo`, and its sender."""

    sender: Literal["client", "server"]
    message: dict[str, Any]


class DemoOutput(TypedDict):
    """The output of `pegboard demo`: the messages, the errors in the log of the server, and the next commands."""

    messages: list[SentMessage]
    log: list[str]
    next: list[str]
    seconds: float


OUTPUTS: Mapping[str, Any] = {
    "": StatusOutput,
    "--version": VersionOutput,
    "demo": DemoOutput,
    "list": list[ListedTool],
    "show": ShowOutput,
    "call": CallOutput,
    "operator-token": TokenOutput,
    "reload": list[ReloadedHost],
    "plugins": list[ListedPlugin],
    "why": WhyOutput,
    "doctor": DoctorOutput,
    "cost": CostOutput,
    "completion": ScriptOutput,
    "new": ProjectOutput,
    "enable": SwitchOutput,
    "disable": SwitchOutput,
    "config check": CheckOutput,
    "config show": SettingsOutput,
    "config set": SetOutput,
    "config trust": TrustOutput,
    "config untrust": UntrustOutput,
    "configure CLIENT": ConfiguredClient,
    "configure list": list[ClientEntry],
    "configure remove": RemovedEntry,
    "lock": LockOutput,
    "secret list": list[ListedSecret],
    "secret set": StoredSecret,
    "secret unset": RemovedSecret,
}
"""The output of each command, by its name. The name of `pegboard` without a command is ""."""
