"""The contract for commands that plugins add to `pegboard`. `pegboard_plugin.toml` declares them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from argparse import Namespace

    from pegboard.calls.served_item import ServedItem
    from pegboard.config import HostConfig
    from pegboard.host import Host
    from pegboard.plugin.base import PluginContext
    from pegboard.plugin.origin import PluginKind
    from pegboard.types.reloads import ReloadResult

T = TypeVar("T")
FindingLevel = Literal["error", "warning", "ok"]


class CommandContext:
    """The argument of a command's function.

    The function runs in the main thread of the `pegboard` process, without an event loop. It may block. It returns the
    exit code: 0 for success, or 1 if the operation failed or found a problem. An `MCPError` ends the command with its
    message and exit code 1.

    Args:
        options: the arguments of the command line. `options.json` is true for `--json`.
        print: prints a text on standard output. Secrets are masked, and control characters are escaped.
        settings: the validated settings of the plugin. None if the command needs nothing.
        plugin: the context of the plugin, if the command needs a host.
        host: the loaded host, if the command needs one.
    """

    def __init__(
        self,
        options: "Namespace",
        print: Callable[[str], None],
        settings: Any = None,
        plugin: "PluginContext | None" = None,
        host: "Host | None" = None,
    ) -> None:
        self.options = options
        self.print = print
        self.settings = settings
        self._plugin = plugin
        self._host = host

    @property
    def plugin(self) -> "PluginContext":
        """The context of the plugin. The command must declare `needs = "host"`."""
        return _needed(self._plugin)

    @property
    def host(self) -> "Host":
        """The loaded host, which is not started. The command must declare `needs = "host"`."""
        return _needed(self._host)

    def host_plan(self) -> "HostPlan":
        """Return the plan of a host for the options of the command line. No plugin is imported.

        `config` is the configuration. `config.file` is its file or None, and `config.source(key).kind` is "file" if it
        sets a key. `installed` has the kind and the name of each installed plugin and toolkit, and `enabled` those that
        the host would run.

        A terminal is asked whether to trust a `./hostconfig.toml` that is not trusted.

        Raises:
            ConfigError: the configuration is invalid or not trusted.
        """
        raise _not_run()

    def config_file(self) -> "ConfigFile":
        """Return the configuration file that the host would read, for a command that changes it.

        If there is none, `path` is the place of the user's file. `host_with(text)` returns a loaded host that has this
        text in place of the file's content. Invalid settings are in `host.config.problems` and count as unset.
        `keep_trust(text)` trusts the file with its new content if the user trusted the old one.

        Raises:
            ConfigError: the file cannot be read, is not TOML or is not trusted, or there is no place for it.
        """
        raise _not_run()

    def command_line(self, *, of_plugins: bool = False) -> "CommandDescription":
        """Return the options of all commands, and the commands that pegboard has without an enabled plugin.

        Args:
            of_plugins: True to add the commands of enabled plugins, if the configuration is valid and trusted.
        """
        raise _not_run()

    def new_host(
        self,
        *,
        transports: "Sequence[str] | None" = (),
        without: "Iterable[tuple[PluginKind, str]]" = (),
        collect: bool = False,
        hidden_text: bool = False,
        watch: bool = False,
    ) -> "Host":
        """Return a host for the options of the command line. It is not loaded and not started.

        A terminal is asked whether to trust a `./hostconfig.toml` that is not trusted.

        Args:
            transports: the transports in place of `[host] transports`; None for those.
            without: the kind and the name of each plugin and toolkit that the host leaves out.
            collect: True to ignore invalid settings; the problems are in `host.config.problems`.
            hidden_text: True to accept definitions with invisible characters, to show them to the operator.
            watch: True to report changes that plugins make to the process while they are loaded.

        Raises:
            ConfigError: the configuration is invalid or not trusted.
        """
        raise _not_run()

    def checks(self, host: "Host", command: str = "doctor") -> "Sequence[Check]":
        """Return the checks of a command for a loaded host: its own, and those of features and plugins.

        Args:
            host: the host.
            command: "doctor", "config check", "why" or "list".
        """
        raise _not_run()

    def requested_secrets(self, host: "Host") -> "Sequence[RequestedSecret]":
        """Return the secrets that the plugins and toolkits of a loaded host use, without their values.

        `host.assembly.secrets` has the stores, and knows which names are reserved for the host.

        Args:
            host: the host.
        """
        raise _not_run()

    def plugin_details(self, host: "Host") -> "Sequence[Mapping[str, Any]]":
        """Return the plugins and toolkits of a loaded host as `pegboard plugins --json` prints them.

        Their running hosts (`outdated`) are left out.
        """
        raise _not_run()

    def find_tool(self, host: "Host", name: str) -> "ServedItem":
        """Return the tool of a loaded host with a name in any spelling. Its `tool` is the `Tool` as clients see it.

        Raises:
            NotFoundError: the name matches no tool or several; the message says why, or names a similar tool.
        """
        raise _not_run()

    def missing_items(self, host: "Host", name: str | None = None) -> "Mapping[str, Finding]":
        """Let the plugins of a loaded host add the items that come while it runs, such as those of mounted servers.

        Wait for them, unless `--no-wait` is set.

        Args:
            host: the host.
            name: the tool that the command needs; None for all.

        Returns:
            The reasons why items are missing, by their owners, such as "plugin:NAME/SERVER". A warning means that the
            command succeeds without these items.
        """
        raise _not_run()

    async def list_items(self, host: "Host", name: str | None = None) -> "Mapping[str, Finding]":
        """List all items of a running host, or until it has a tool. Otherwise like `missing_items`."""
        raise _not_run()

    def connect_servers(self) -> None:
        """Connect to mounted servers once, so that their definitions are remembered. Print the problems.

        With `--no-wait`, and without mounted servers, nothing happens.
        """
        raise _not_run()

    def running_server(self) -> tuple[str, str]:
        """Return the URL of a running `pegboard serve` with the same configuration file, and the operator token.

        Raises:
            ServerError: no such host runs.
            ConfigError: the configuration is invalid or not trusted.
        """
        raise _not_run()

    def running_workers(self) -> "RunningWorkers":
        """Return the context in which `pegboard reload` finds this process instead of its workers."""
        raise _not_run()

    def say_outdated_hosts(self, host: "Host") -> None:
        """Name on standard error the running hosts whose plugins or toolkits have changed since they were loaded.

        Args:
            host: a loaded host with the same configuration.
        """
        raise _not_run()


class RunningWorkers(AbstractContextManager["RunningWorkers"]):
    """The workers of this process: processes that it has started with `PEGBOARD_WORKER`, and that serve in its place.

    `pegboard reload` sends SIGUSR1 to this process, which passes it on.
    """

    def results(self, pid: int) -> "Sequence[ReloadResult]":
        """Return the results of the last reload of a worker."""
        raise _not_run()

    def write(self, pid: int, results: "Sequence[ReloadResult] | None" = None) -> None:
        """Record that this process serves what a worker serves, and the results of a reload of all workers."""
        raise _not_run()

    def __exit__(self, *_: object) -> None:
        """Remove the record."""


def _not_run() -> RuntimeError:
    return RuntimeError("only a command that `pegboard` runs has a command line")


def _needed(value: T | None) -> T:
    if value is None:
        raise RuntimeError('a command uses its plugin or host only if pegboard_plugin.toml states needs = "host"')
    return value


class HostPlan(NamedTuple):
    """The configuration that a host would read, and the plugins that it would run. See `CommandContext.host_plan`."""

    config: "HostConfig"
    installed: frozenset[tuple["PluginKind", str]]
    enabled: frozenset[tuple["PluginKind", str]]


class ConfigFile(NamedTuple):
    """The configuration file while a command changes it. See `CommandContext.config_file`.

    `is_general` is true for the user's own file, which applies to every folder without a file.
    """

    path: str
    host_with: "Callable[[str], Host]"
    keep_trust: Callable[[str], None]
    is_general: bool = False


class RequestedSecret(NamedTuple):
    """A secret that a plugin or toolkit uses.

    Attributes:
        name: the name of the secret.
        is_set: True if a store has it, or a setting refers to a variable with a value.
        user: the name of the plugin or toolkit.
        reason: why it gets the secret without a declaration of its tools, such as "by key in [plugins.acme]". "" if its
            tools declare the secret.
        tools: the tools that need the secret. () for a setting.
    """

    name: str
    is_set: bool
    user: str
    reason: str = ""
    tools: tuple[str, ...] = ()


class ArgumentDescription(NamedTuple):
    """An argument of a command. See `CommandDescription`."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    type: str = "text"
    completions: tuple[str, ...] = ()


class CommandDescription(NamedTuple):
    """A command, a group of commands, or `pegboard` itself.

    Attributes:
        summary: its effect, in one line.
        arguments: its arguments, with the options of all commands. Each has `names`, such as "-v" and "--verbose", or
            () for an argument without a name; its meaning as `help`; `takes_value`, True if a value follows the name;
            the form of the value as `type`, as `pegboard_plugin.toml` declares it; and the values that shells complete
            as `completions`.
        commands: the commands of the group, by name.
    """

    summary: str
    arguments: tuple[ArgumentDescription, ...]
    commands: Mapping[str, "CommandDescription"]


class Check(NamedTuple):
    """A check of `pegboard doctor`.

    Attributes:
        name: its name in the report.
        run: the function that yields its findings.
    """

    name: str
    run: "Callable[[], Iterable[Finding]]"


class Finding(NamedTuple):
    """A problem that a check of `pegboard doctor` has found, or a fact that a check of `why` or `list` adds.

    Attributes:
        level: "error" if something that is enabled cannot work, "warning" for another problem, "ok" for a fact that
            `doctor` prints.
        message: the problem.
        fix: advice for the operator, or "" if the message contains it.
        source: the documentation of the rule, or "" if the rule is the plugin's own.
        problem: an object whose `str()` is the message, and whose attributes `file`, `line`, `column`, `key`, `place`
            and `suggestion`, if it has them, are in the JSON output. None for none. Problems of the host are such
            objects.
        repair: fixes the problem, for `--fix`; None if only the operator can. It returns what it has done.
    """

    level: FindingLevel
    message: str
    fix: str = ""
    source: str = ""
    problem: object = None
    repair: Callable[[], str] | None = None
