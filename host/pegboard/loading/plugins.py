"""What is known of a plugin at each step of loading it, and what can go wrong. Plain data, no behaviour."""

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
"""The two groups of entry points: installing is consent to be used for toolkits, and not for plugins."""

SECTION_OF_KIND: dict[PluginKind, Literal["plugins", "toolkits"]] = {"plugin": "plugins", "toolkit": "toolkits"}
"""Where each kind is configured in `hostconfig.toml`."""


class PluginChoice(NamedTuple):
    """Whether a plugin runs, and by whose word.

    Attributes:
        origin: which plugin.
        on: whether it runs.
        reason: why, for `pegboard why`.
        named: the operator named it, so that it must load.
        refused: it would run, were its name not that of a built-in plugin.
        selected: the operator named it by `distribution:name`, so that it runs instead of others of its name.
    """

    origin: Origin
    on: bool
    reason: str
    named: bool = False
    refused: bool = False
    selected: bool = False


class LoadProblem(NamedTuple):
    """Something that went wrong while the host was put together.

    Attributes:
        stage: how far it had come: "find", "import", "config", "create", "hooks", "contribute", "assemble", "lifespan";
            "process" when it changed the process on its way.
        message: what, for the operator.
        origin: whose doing, None when it is nobody's in particular.
        fatal: the host does not start with it.
        level: "error" when something is missing that was meant to be there, "warning" otherwise.
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
        where = "" if target == f"Toolkit({self.origin.name!r})" else f" ({target})"  # which says nothing new
        return f"{self.origin}{where}, {self.stage}: {self.message}"


def without_secrets(problem: LoadProblem, redactor: Redactor) -> LoadProblem:
    """A problem with the secrets in its message masked, those of a redactor though it is closed."""
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
