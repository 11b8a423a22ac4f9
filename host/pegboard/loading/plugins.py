"""Records of the loading of plugins: choices, problems, loaded plugins, and the report."""

from __future__ import annotations

import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from pegboard.errors import ConfigError, LifespanError, PluginError
from pegboard.messages.error_fields import failure_text
from pegboard.plugin.base import Plugin, PluginContext
from pegboard.plugin.origin import Origin, PluginKind
from pegboard.secrets.redaction import Redactor, redacted
from pegboard.types.callers import EMPTY

if TYPE_CHECKING:
    from pegboard.config.problems import ConfigProblem

T = TypeVar("T")

logger = logging.getLogger("pegboard")

GROUPS: dict[str, PluginKind] = {"pegboard.plugins": "plugin", "pegboard.toolkits": "toolkit"}
"""The kind for each entry point group. Installed toolkits are enabled by default, installed plugins are not."""

SECTION_OF_KIND: dict[PluginKind, Literal["plugins", "toolkits"]] = {"plugin": "plugins", "toolkit": "toolkits"}
"""The section of `hostconfig.toml` for each kind."""


OF_SETTINGS = "config"
"""The stage of problems of settings."""
NEEDS_SETTING = "secrets"
"""The stage of problems with secrets and tokens that are not set. Tools that need no secret are not affected."""


_ITEM_HOOKS = frozenset(("register_tools", "register_resources", "register_prompts"))


class PluginChoice(NamedTuple):
    """The decision whether a plugin is enabled, and its reason.

    Attributes:
        origin: the plugin.
        on: True if the plugin is enabled.
        reason: the reason, for `pegboard why`.
        named: True if the operator named the plugin, so that it must load.
        refused: True if the plugin is disabled because it has the name of a built-in plugin.
        selected: True if the operator named the plugin by `distribution:name`. Other plugins with this name are
            disabled.
    """

    origin: Origin
    on: bool
    reason: str
    named: bool = False
    refused: bool = False
    selected: bool = False


class LoadProblem(NamedTuple):
    """A problem found while the host was assembled.

    Attributes:
        stage: the step: "find", "import", "config", "create", "hooks", "contribute", "assemble" or "lifespan".
            "process" if a plugin changed the process, "secrets" if a secret or token of a tool is not set.
        message: the problem, for the operator.
        origin: the plugin that caused the problem, or None if there is none.
        fatal: True if the problem prevents the start of the host.
        level: "error" if a requested feature is missing, "warning" otherwise.
        cause: the problem of the configuration, with file and line, that causes this problem; None otherwise.
    """

    stage: str
    message: str
    origin: Origin | None = None
    fatal: bool = False
    level: Literal["error", "warning"] = "error"
    cause: ConfigProblem | None = None

    def __str__(self) -> str:
        if self.origin is None:
            return self.message
        target = self.origin.target
        where = "" if target == f"Toolkit({self.origin.name!r})" else f" ({target})"  # it repeats the name
        return f"{self.origin}{where}, {self.stage}: {self.message}"


def config_problems(
    problems: Iterable[ConfigProblem], level: Literal["error", "warning"] = "error"
) -> list[LoadProblem]:
    """Return problems of the configuration. Errors prevent the start of the host."""
    return [
        LoadProblem(OF_SETTINGS, str(problem), fatal=level == "error", level=level, cause=problem)
        for problem in problems
    ]


def without_secrets(problem: LoadProblem, redactor: Redactor) -> LoadProblem:
    """Return a problem with the secrets in its message masked."""
    return problem._replace(message=redacted(problem.message, redactor))


def log_problems(problems: Iterable[LoadProblem], known: Iterable[LoadProblem] = ()) -> None:
    """Log the problems that are not known yet, errors as such and all others as warnings."""
    logged = {str(problem) for problem in known}
    for problem in problems:
        if str(problem) not in logged:
            logger.log(logging.ERROR if problem.level == "error" else logging.WARNING, "%s", problem)


def refuse_fatal(problems: Iterable[LoadProblem], redactor: Redactor) -> None:
    """Raise an error that lists the fatal problems, if there are any.

    Raises:
        ConfigError, LifespanError, PluginError: there are fatal problems.
    """
    fatal = [without_secrets(problem, redactor) for problem in problems if problem.fatal]
    if not fatal:
        return
    if all(problem.stage == OF_SETTINGS for problem in fatal):
        raise ConfigError(fatal)
    kind = LifespanError if all(problem.stage == "lifespan" for problem in fatal) else PluginError
    raise kind("\n".join(str(problem) for problem in fatal))


PluginKey: TypeAlias = tuple[PluginKind, str, str]


def key_of(origin: Origin) -> PluginKey:
    """Return the kind, name and distribution of a plugin, which stay the same at a reload."""
    return origin.kind, origin.name, origin.distribution


class LoadedPlugin:
    """A plugin that runs, with its contributions.

    Attributes:
        origin: the origin of the plugin.
        instance: the object that implements its hooks.
        context: the context that its hooks receive.
        import_seconds: the time to load the plugin, from the import of its target to its last contribution.
        loaded_at: the time at which loading began, in nanoseconds since the epoch.
        state: the value of its lifespan once the host has started.
        version: the toolkit's own version, or else the version of its distribution. None if neither is known.
        description: the toolkit's description, or None.
        contributions: its contributions by the name of the hook.
        remarks: sentences of loaders about it, for `pegboard plugins`.
        is_late: True for a `LateToolkit`: the host imports the toolkit after the start.
        section: its section of the configuration when it was loaded.
    """

    def __init__(
        self,
        origin: Origin,
        instance: Any,
        context: Callable[[LoadedPlugin], PluginContext],
        *,
        version: str | None = None,
        description: str | None = None,
        remarks: Sequence[str] = (),
        is_late: bool = False,
        section: Mapping[str, Any] = EMPTY,
    ) -> None:
        self.origin = origin
        self.instance = instance
        self.context = context(self)
        self.import_seconds = 0.0
        self.loaded_at = time_ns()
        self.state: Any = None
        self.version = version or origin.version or None
        self.description = description
        self.contributions: defaultdict[str, list[Any]] = defaultdict(list)
        self.remarks = remarks
        self.is_late = is_late
        self.section = section

    @property
    def folder(self) -> Path:
        """The folder of the file that defines the plugin or toolkit; that of the program if it passed the object."""
        if self.origin.found is not None:
            return Path(self.origin.found.target.rpartition(":")[0]).resolve().parent
        if own := getattr(self.instance, "source_folder", None):
            return Path(own)
        module = sys.modules.get(self.origin.module or "__main__")
        return Path(getattr(module, "__file__", None) or "").resolve().parent

    def contributed(self, hook: Callable[..., Iterable[T]]) -> list[T]:
        """Return the contributions to a hook, such as `hookspecs.register_routes`."""
        return self.contributions[hook.__name__]

    def other_hooks(self) -> tuple[str, ...]:
        """Return the hooks with which the plugin contributes more than tools, resources and prompts, sorted."""
        # a toolkit without a lifespan contributes a nullcontext
        hooks = {
            name
            for name, items in self.contributions.items()
            if not all(isinstance(item, nullcontext) for item in items)
        }
        return tuple(sorted(hooks - _ITEM_HOOKS))

    def unavailable(self) -> tuple[str, ...]:
        """Return the toolkits whose items the plugin cannot list now. See `Plugin.unavailable`.

        Raises:
            PluginError: the plugin fails.
        """
        if not isinstance(self.instance, Plugin):
            return ()
        try:
            return tuple(self.instance.unavailable())
        except Exception as error:
            raise PluginError(f"{self.origin}: unavailable failed: {failure_text(error)}") from error

    def awaits(self, name: str) -> bool:
        """Return True if the plugin may still add a tool with a name. See `Plugin.awaits`."""
        return isinstance(self.instance, Plugin) and self.instance.awaits(name)


def contributions_of(
    plugins: Iterable[LoadedPlugin], hook: Callable[..., Iterable[T]]
) -> Iterator[tuple[LoadedPlugin, T]]:
    """Yield each contribution to a hook together with its plugin."""
    return ((plugin, item) for plugin in plugins for item in plugin.contributed(hook))


class Absent(NamedTuple):
    """The names of installed plugins and toolkits that do not run.

    Attributes:
        off: those that are disabled.
        failed: those that are enabled, but failed.
    """

    off: frozenset[str]
    failed: frozenset[str]


class LoadReport(NamedTuple):
    """The result of loading.

    Attributes:
        choices: each installed plugin, and whether it is enabled.
        plugins: the plugins that run.
        problems: the problems that were found.
        files: the Python files of the program's toolkits.
    """

    choices: tuple[PluginChoice, ...] = ()
    plugins: tuple[LoadedPlugin, ...] = ()
    problems: tuple[LoadProblem, ...] = ()
    files: tuple[Path, ...] = ()

    def adding_later(self) -> list[str]:
        """Return the names of the plugins that add tools while the host runs."""
        return [plugin.origin.name for plugin in self.plugins if "tools" in getattr(plugin.instance, "offers", ())]

    def absent(self, running: Iterable[LoadedPlugin]) -> Absent:
        """Return the names of installed plugins and toolkits that are not among those that run."""
        on = {choice.origin.name for choice in self.choices if choice.on}
        off = {choice.origin.name for choice in self.choices if not choice.on} - on
        return Absent(frozenset(off), frozenset(on - {plugin.origin.name for plugin in running}))
