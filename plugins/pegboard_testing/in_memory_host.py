"""A host for one test: the kits of the test and the default built-in plugins.

The environment, `.env` and other installed plugins do not affect it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import MCPError
from pegboard.hookspecs import hookimpl
from pegboard.host import Host
from pegboard.loading.discovery import Selection, find_plugins
from pegboard.loading.process_changes import watch_process
from pegboard.middleware.chain import around
from pegboard.plugin.base import Plugin
from pegboard.plugin.middleware import Middleware
from pegboard.plugin.origin import Origin
from pegboard.plugin.secrets import SecretStore, TokenSource
from pegboard.types.authorization import TokenRequest
from pegboard.types.callers import Authorization
from pegboard.types.calls import Call, CallNext, Outcome
from pegboard.types.parameters import Depends
from pegboard_testing.effects import Watch

Kit: TypeAlias = "ToolkitBase | type[Plugin] | ModuleType | str"
"""The subject of a test: a toolkit, a plugin, or the name of an installed one."""

Overrides: TypeAlias = Mapping[Callable[..., Any], Callable[..., Any]]
"""The functions that create the values of dependencies in a test, by the functions that they replace."""

OWN = "_testing"
"""The name of the test's own plugin."""


class ConnectOptions(NamedTuple):
    """The options of `connect` that affect the host."""

    kits: Sequence[Kit]
    config: Mapping[str, Any] | None = None
    secrets: Mapping[str, str] | None = None
    tokens: Mapping[str, str | Authorization] | None = None
    plugins: Mapping[str, Any] | None = None
    hostconfig: Mapping[str, Any] | None = None
    strict: bool = True
    overrides: Overrides | None = None


class FixedSecrets(SecretStore):
    """The secrets of a test: a `pegboard.plugin.SecretStore`."""

    name = "testing"

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = dict(secrets)

    def get(self, name: str) -> str | None:
        """Return a secret."""
        return self._secrets.get(name)

    def hint(self, name: str) -> str:
        """Return how a test sets a secret."""
        return f'by `connect(..., secrets={{"{name}": "..."}})`'


class FixedTokens(TokenSource):
    """The tokens of a test, for every caller: a `pegboard.plugin.TokenSource`."""

    def __init__(self, tokens: Mapping[str, str | Authorization]) -> None:
        self._tokens = {
            name: Authorization(token) if isinstance(token, str) else token for name, token in tokens.items()
        }

    async def token(self, request: TokenRequest) -> Authorization | None:
        """Return the token of a provider or of an `id`."""
        return self._tokens.get(request.required.name)


class Observed:
    """Observations within calls that clients cannot see.

    Attributes:
        watches: the watches for requests to come, by their ids.
    """

    def __init__(self) -> None:
        self.watches: dict[Any, Watch] = {}
        self._raised: dict[Any, BaseException] = {}

    async def handle(self, call: Call, call_next: CallNext) -> Outcome:
        """Watch a call, and keep the unexpected exception of its function. The call is not changed."""
        if call.path:
            return await call_next(call)
        watch = self.watches.pop(call.request_id, None)
        end = None if watch is None else watch.begin()
        try:
            return await call_next(call)
        except MCPError as error:
            if error.__cause__ is not None:
                self._raised[call.request_id] = error.__cause__
            raise
        finally:
            if end is not None:
                end()

    def take(self, request_id: Any) -> BaseException | None:
        """Return and forget the exception that the function of a request raised."""
        return self._raised.pop(request_id, None)


def in_memory_host(options: ConnectOptions, observed: Observed) -> Host:
    """Return the host, not started.

    Raises:
        ConfigError: the configuration of the test is invalid.
        LookupError: a name of the test is not installed.
    """
    sections: dict[str, dict[str, Any]] = {
        name: {key: value if name == "host" else dict(value) for key, value in part.items()}
        for name, part in (options.hostconfig or {}).items()
    }
    for name in ("host", "plugins", "toolkits"):
        sections.setdefault(name, {})
    targets: dict[str, dict[str, Any]] = {"plugins": {}, "toolkits": {}}
    origins = find_plugins().origins
    for place, kit in enumerate(options.kits):
        _take(kit, dict(options.config or {}) if place == 0 else {}, sections, targets, origins)
    for name, target in (options.plugins or {}).items():
        if isinstance(target, Mapping):
            sections["plugins"][name] = dict(target)
        else:
            targets["plugins"][name] = target
    sections["host"] = _host_section(sections, targets, origins)
    targets["plugins"][OWN] = _own_plugin(options, observed)
    host = Host(sections, **targets, selection=Selection(strict=options.strict, watch=watch_process))
    host._runtime.host_access.overrides.update(options.overrides or {})
    return host


def check_overrides(host: Host, overrides: Overrides | None) -> None:
    """Check that each override replaces a dependency.

    Raises:
        ValueError: no function of the host has the dependency.
        ToolDefinitionError: the function that replaces a dependency cannot create its value.
    """
    if not overrides:
        return
    from pegboard.schemas.dependencies import compile_dependency, every_function, name_of

    assembly = host.assembly
    signatures = [bound.signature for bound in assembly.tools.values()]
    signatures += [bound.signature for bound in assembly.resources.values()]
    signatures += [bound.signature for bound in assembly.prompts.values()]
    dependencies = {
        function for signature in signatures for function in every_function(signature.dependencies.values())
    }
    for function, override in overrides.items():
        if function not in dependencies:
            raise ValueError(
                f"overrides: no tool, resource or prompt has the dependency {name_of(function)!r}: "
                "use the function inside Depends"
            )
        compile_dependency(Depends(override))


def _take(
    kit: Kit,
    config: dict[str, Any],
    sections: dict[str, dict[str, Any]],
    targets: dict[str, dict[str, Any]],
    origins: Iterable[Origin],
) -> None:
    """Enable a kit with its settings."""
    kind, name, target = _identified(kit, origins)
    if target is not None:
        targets[kind][name] = target
    if config or target is None:
        sections[kind][name] = {**sections[kind].get(name, {}), **config}


def _identified(kit: Kit, origins: Iterable[Origin]) -> tuple[str, str, Any]:
    """Return the section of a kit, its name, and its object; None for a kit that its entry point loads."""
    if isinstance(kit, ToolkitBase):
        return "toolkits", kit.name, kit
    if isinstance(kit, str):
        for origin in origins:
            if origin.name == kit:
                return f"{origin.kind}s", kit, None
        raise LookupError(f"no toolkit or plugin named {kit!r} is installed")
    if isinstance(kit, ModuleType):
        return "plugins", kit.__name__.rpartition(".")[2], kit
    target: object = kit
    if not (isinstance(target, type) and issubclass(target, Plugin)):
        raise TypeError(
            f"{kit!r} must be a Toolkit, a Plugin class, a module with hooks, or the name of an installed plugin"
        )
    for origin in origins:
        if origin.target == f"{kit.__module__}:{kit.__qualname__}":
            return "plugins", origin.name, None
    own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kit.__name__.removesuffix("Plugin")).lower()
    return "plugins", own or "plugin", kit


def _host_section(
    sections: Mapping[str, Mapping[str, Any]], targets: Mapping[str, Mapping[str, Any]], origins: Iterable[Origin]
) -> dict[str, Any]:
    """Return the `[host]` section of the test, with other installed plugins disabled."""
    section = dict(sections["host"])
    off: dict[str, list[str]] = {kind: list(section.get(f"disabled_{kind}", ())) for kind in ("plugins", "toolkits")}
    for origin in origins:
        # a section would enable it as a second plugin of that name
        if origin.name in targets[f"{origin.kind}s"]:
            off[f"{origin.kind}s"].append(f"{origin.distribution}:{origin.name}")
    # replaces the default stores, which read the secrets of the user who runs the tests
    first = {key: [OWN, *section.get(key, ())] for key in ("secret_stores", "token_sources")}
    disabled = {f"disabled_{kind}": patterns for kind, patterns in off.items()}
    return {"autoload": False, **section, **disabled, **first}


def _own_plugin(options: ConnectOptions, observed: Observed) -> type[Plugin]:
    class OfTheTest(Plugin):
        """The secrets and tokens of the test, and its observations."""

        @hookimpl
        def register_secret_stores(self) -> Iterable[SecretStore]:
            return [FixedSecrets(options.secrets or {})]

        @hookimpl
        def register_token_sources(self) -> Iterable[TokenSource]:
            return [FixedTokens(options.tokens or {})]

        @hookimpl
        def register_middleware(self) -> Iterable[Middleware]:
            return [around("tools/call", "resources/read", "prompts/get")(observed.handle)]

    return OfTheTest
