"""The contract for commands that plugins add to `pegboard`. `pegboard_plugin.toml` declares them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pegboard.records import NamedTuple
from pegboard.types.callers import EMPTY

if TYPE_CHECKING:
    from argparse import Namespace

    from pegboard.host import Host
    from pegboard.plugin.base import PluginContext

T = TypeVar("T")
FindingLevel = Literal["error", "warning"]


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
        commands: the summary of each command that pegboard has without an enabled plugin, by name.
    """

    def __init__(
        self,
        options: "Namespace",
        print: Callable[[str], None],
        settings: Any = None,
        plugin: "PluginContext | None" = None,
        host: "Host | None" = None,
        commands: Mapping[str, str] = EMPTY,
    ) -> None:
        self.options = options
        self.print = print
        self.settings = settings
        self.commands = commands
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


def _needed(value: T | None) -> T:
    if value is None:
        raise RuntimeError('a command uses its plugin or host only if pegboard_plugin.toml states needs = "host"')
    return value


class Finding(NamedTuple):
    """A problem that a check of `pegboard doctor` has found.

    Attributes:
        level: "error" if something that is enabled cannot work, "warning" otherwise.
        message: the problem.
        fix: advice for the operator, or "" if the message has it.
        source: the documentation of the rule, or "" if the rule is the plugin's own.
        problem: the record with the problem's file, line and key, if any.
        repair: fixes the problem, for `--fix`; None if only the operator can. It returns what it has done.
    """

    level: FindingLevel
    message: str
    fix: str = ""
    source: str = ""
    problem: object = None
    repair: Callable[[], str] | None = None
