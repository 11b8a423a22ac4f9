"""Records of loading: choices, problems, plugins that run, and the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pegboard.plugin.base import PluginContext
from pegboard.plugin.origin import Origin, PluginKind
from pegboard.secrets.redaction import Redactor, redacted

if TYPE_CHECKING:
    from pegboard.loading.hook_manager import HookManager

T = TypeVar("T")

GROUPS: dict[str, PluginKind] = {"pegboard.plugins": "plugin", "pegboard.toolkits": "toolkit"}
"""The kind of each group of entry points. Installing a toolkit enables it; installing a plugin does not."""

SECTION_OF_KIND: dict[PluginKind, Literal["plugins", "toolkits"]] = {"plugin": "plugins", "toolkit": "toolkits"}
"""The section of `hostconfig.toml` for each kind."""


class PluginChoice(NamedTuple):
    """The decision whether a plugin is enabled, and its reason.

    Attributes:
        origin: the plugin.
        on: the plugin is enabled.
        reason: the reason, for `pegboard why`.
        named: the operator named the plugin, so that it must load.
        refused: the plugin is disabled because it has the name of a built-in plugin.
        selected: the operator named the plugin by `distribution:name`; others with its name are disabled.
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
        stage: the step: "find", "import", "config", "create", "hooks", "contribute", "assemble", "lifespan"; "process"
            if a plugin changed the process.
        message: the problem, for the operator.
        origin: the plugin, None if no plugin caused the problem.
        fatal: the problem prevents the start of the host.
        level: "error" if a requested feature is missing, "warning" otherwise.
    """

    stage: str
    message: str
    origin: Origin | None = None
    fatal: bool = False
    level: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        if self.origin is None:
            return self.message
        target = self.origin.target
        where = "" if target == f"Toolkit({self.origin.name!r})" else f" ({target})"  # it repeats the name
        return f"{self.origin}{where}, {self.stage}: {self.message}"


def without_secrets(problem: LoadProblem, redactor: Redactor) -> LoadProblem:
    """Return a problem with the secrets in its message masked. The redactor may be closed."""
    return problem._replace(message=redacted(problem.message, redactor))


class LoadedPlugin:
    """A plugin that runs, with its contributions.

    Attributes:
        origin: its origin.
        instance: the object that implements its hooks.
        context: the argument of its hooks.
        import_seconds: the time to load it, from the import of its target to its last contribution.
        state: the value of its lifespan once the host has started.
        version: the version that a toolkit states, else the version of its distribution, None without both.
        description: the description that a toolkit states, None without one.
        contributions: its contributions by the name of the hook.
    """

    def __init__(self, origin: Origin, instance: Any, context: Callable[[LoadedPlugin], PluginContext]) -> None:
        self.origin = origin
        self.instance = instance
        self.context = context(self)
        self.import_seconds = 0.0
        self.state: Any = None
        self.version = origin.version or None
        self.description: str | None = None
        self.contributions: defaultdict[str, list[Any]] = defaultdict(list)

    def contributed(self, hook: Callable[..., Iterable[T]]) -> list[T]:
        """Return the contributions to a hook, such as `hookspecs.register_routes`."""
        return self.contributions[hook.__name__]


def contributions_of(
    plugins: Iterable[LoadedPlugin], hook: Callable[..., Iterable[T]]
) -> Iterator[tuple[LoadedPlugin, T]]:
    """Yield the contributions of plugins to a hook, each with its plugin."""
    return ((plugin, one) for plugin in plugins for one in plugin.contributed(hook))


class LoadReport(NamedTuple):
    """The result of loading.

    Attributes:
        choices: each installed plugin, and whether it is enabled.
        plugins: the plugins that run.
        problems: the problems that were found.
        hooks: the pluggy manager, in which every plugin that runs is registered as `plugin:NAME` or `toolkit:NAME`.
    """

    choices: tuple[PluginChoice, ...] = ()
    plugins: tuple[LoadedPlugin, ...] = ()
    problems: tuple[LoadProblem, ...] = ()
    hooks: HookManager | None = None
