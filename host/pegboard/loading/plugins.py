"""What is known of a plugin at each step of loading it, and what can go wrong. Plain data, no behaviour."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pegboard.plugin.base import Lifespan, PluginContext
from pegboard.plugin.commands import Command
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.error_adapters import ErrorAdapter
from pegboard.plugin.methods import Extension, Method, NotificationHandler, Topic
from pegboard.plugin.middleware import Middleware
from pegboard.plugin.origin import Origin, PluginKind
from pegboard.plugin.routes import Authenticator, Route
from pegboard.plugin.secrets import SecretStore
from pegboard.plugin.stores import Store
from pegboard.plugin.token_sources import TokenSource
from pegboard.plugin.transports import StreamProtocol, Transport
from pegboard.secrets.redaction import Redactor, redacted
from pegboard.types.authorization import AuthProvider

if TYPE_CHECKING:
    pass

GROUPS: dict[str, PluginKind] = {"pegboard.plugins": "plugin", "pegboard.toolkits": "toolkit"}
"""The two groups of entry points: installing is consent to be used for toolkits, and not for plugins."""

SECTIONS: dict[PluginKind, Literal["plugins", "toolkits"]] = {"plugin": "plugins", "toolkit": "toolkits"}
"""Where each kind is configured in `hostconfig.toml`."""


class Choice(NamedTuple):
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


class Problem(NamedTuple):
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


def without_secrets(problem: Problem, redactor: Redactor) -> Problem:
    """A problem with the secrets in its message masked, those of a redactor though it is closed."""
    return problem._replace(message=redacted(problem.message, redactor))


class Loaded:
    """A plugin that is ready, and what it contributes: one list for each hook.

    Attributes:
        origin: where it comes from.
        instance: the object whose hooks were asked.
        context: what its hooks were told.
        import_seconds: how long loading it took, from the import of its target to its last contribution.
        state: what its lifespan gave when the host started.
        version: what a Toolkit says, else its distribution's; None without either.
        description: what a Toolkit says of itself, None for nothing.
    """

    def __init__(self, origin: Origin, instance: Any, context: Callable[[Loaded], PluginContext]) -> None:
        self.origin = origin
        self.instance = instance
        self.context = context(self)
        self.import_seconds = 0.0
        self.state: Any = None
        self.version = origin.version or None
        self.description: str | None = None
        self.tools: list[ToolDefinition] = []
        self.resources: list[ResourceDefinition] = []
        self.prompts: list[PromptDefinition] = []
        self.auth_providers: list[AuthProvider] = []
        self.adapters: list[ErrorAdapter] = []
        self.middleware: list[Middleware] = []
        self.transports: list[Transport] = []
        self.protocols: list[StreamProtocol] = []
        self.methods: list[Extension | Method | NotificationHandler | Topic] = []
        self.routes: list[Route] = []
        self.token_sources: list[TokenSource] = []
        self.authenticators: list[Authenticator] = []
        self.commands: list[Command] = []
        self.secret_stores: list[SecretStore] = []
        self.stores: list[Store] = []
        self.lifespans: list[Lifespan] = []


class LoadReport(NamedTuple):
    """The outcome of loading: what runs, what does not, and what went wrong."""

    choices: tuple[Choice, ...]
    plugins: tuple[Loaded, ...]
    problems: tuple[Problem, ...]
