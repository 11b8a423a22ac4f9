"""`HostConfig`: the merged configuration from all sources, with `[host]` validated.

The section of a plugin or toolkit is validated when the plugin or toolkit is loaded (`sections.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pegboard.config import environment, files
from pegboard.config.models import HostSection
from pegboard.config.problems import ConfigProblem, KeyPath, dotted, in_order, undotted
from pegboard.config.references import refer, resolve, secrets_in_section, unset_variables
from pegboard.config.sources import Layer, Source, Sources
from pegboard.config.trust import OnUntrusted, find_upward, refuse_untrusted, select_file, settings_of
from pegboard.config.validation import validate
from pegboard.errors import ConfigError
from pegboard.names import Patterns, with_nearest

Kind = Literal["plugins", "toolkits"]
ListName = Literal["disabled_plugins", "disabled_toolkits", "disabled_tools", "disabled_tags", "enabled_tags"]

if TYPE_CHECKING:
    from pegboard.plugin.base import FoundFile

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_DEFINITION_KEYS = ("tool_names", "schema_references", "tools")
"""The keys of `[host]` that change definitions."""


@dataclass(frozen=True)
class HostConfig:
    """The configuration of a host. Immutable. The repr does not show the values of sections.

    Attributes:
        host: the `[host]` section, validated.
        plugins: the unvalidated `[plugins.NAME]` sections by name, with `{ env = "NAME" }` as a `SecretRef`.
        toolkits: the unvalidated `[toolkits.NAME]` sections by name.
        directory: the base of relative paths in settings: the directory of the file, or the working directory.
        file: the configuration file, or None if no file was read.
        working_directory: the base of relative paths from the environment and the command line.
        trusted_directory: the folder in which plugins may use discovered files: the folder of the configuration file,
            or a folder that a program passes.
        sources: the source of each value.
        problems: the problems, if `load` was called with `collect`. Invalid keys count as unset.
        warnings: warnings about the file.
        environ: the environment variables that may set settings, None to use no variables.
        worker: the number of this process among those that serve together, from 1, and how many there are.
    """

    host: HostSection
    plugins: Mapping[str, Mapping[str, Any]] = field(repr=False)
    toolkits: Mapping[str, Mapping[str, Any]] = field(repr=False)
    directory: Path
    file: Path | None
    working_directory: Path
    trusted_directory: Path | None
    sources: Sources = field(repr=False, compare=False)
    problems: tuple[ConfigProblem, ...] = ()
    warnings: tuple[ConfigProblem, ...] = ()
    environ: Mapping[str, str] | None = field(default=None, repr=False, compare=False)
    worker: tuple[int, int] = (1, 1)

    @classmethod
    def load(
        cls,
        path: Path | None = None,
        *,
        environ: Mapping[str, str],
        overrides: Mapping[str, Any] | Layer = _NOTHING,
        defaults: Mapping[str, Any] = _NOTHING,
        directory: Path | None = None,
        collect: bool = False,
        on_untrusted: OnUntrusted = refuse_untrusted,
        content: files.FileContent | None = None,
    ) -> HostConfig:
        """Read the configuration. The precedence is: overrides, environment, file, defaults.

        Args:
            path: the file, which must exist. If it is None, the first existing file of these is read: the file that
                PEGBOARD_CONFIG names, a trusted `hostconfig.toml` in `directory`, `hostconfig.toml` in the user's
                configuration directory.
            environ: the environment variables.
            overrides: the command-line options in the structure of the file, or a layer of another source.
            defaults: the defaults in the structure of the file. The table `environment` lists variables that set keys
                (`OtherVariables`).
            directory: the working directory. None means the working directory of the process.
            collect: True to store problems in `problems` instead of raising them.
            on_untrusted: decides whether to use an untrusted `hostconfig.toml` in `directory`. The default raises.
            content: a file and its content, in place of reading a file.

        Raises:
            ConfigError: the configuration has problems and `collect` is False, or the file is not trusted.
        """
        working = _working_directory() if directory is None else directory
        builder = _Builder(defaults)
        file = None
        given = (files.Candidate(content.path), content) if content else None
        if chosen := given or select_file(path, environ, working, on_untrusted):
            candidate, read = chosen
            file = candidate.path
            builder.take(files.parse_file(read, working))
            builder.warn(candidate, read, working)
        builder.take(*environment.variable_layer(environ, builder.names, builder.sources.tree))
        builder.take(overrides if isinstance(overrides, Layer) else Layer("command line", overrides))
        builder.take(environment.addition_layer(environ, builder.names))
        config = builder.build(environ, file, working, file.parent if file else None, collect=collect)
        worker = environment.this_worker(environ) or (1, 1)
        return replace(config, environ=environ, worker=worker)

    @classmethod
    def of(
        cls,
        mapping: Mapping[str, Any] | Layer,
        *,
        defaults: Mapping[str, Any] = _NOTHING,
        environ: Mapping[str, str] = _NOTHING,
        directory: Path | None = None,
    ) -> HostConfig:
        """Return the configuration of a mapping in the structure of the file. Neither a file nor a variable sets a key.

        Args:
            mapping: the configuration, or a layer of another source.
            defaults: the defaults, as in `load`.
            environ: the variables that `{ env = "NAME" }` may refer to.
            directory: the base of relative paths. Plugins may use discovered files in it. If it is None, the base is
                the working directory, and plugins use no discovered files.

        Raises:
            ConfigError: the configuration has problems.
        """
        builder = _Builder(defaults)
        builder.take(mapping if isinstance(mapping, Layer) else Layer("code", mapping))
        return builder.build(environ, None, directory or Path.cwd(), directory, collect=False)

    def source(self, key: str | KeyPath) -> Source:
        """Return the source of a value. The source's kind is "default" if no source sets the value.

        The key is a dotted string, or a tuple of names and list indexes.
        """
        return self.sources.source(undotted(key))

    def with_section(self, plugin: str, values: Mapping[str, Any]) -> HostConfig:
        """Return a copy with values of the program in the section of a plugin."""
        sources = self.sources.copy()
        sources.lay(Layer("code", {"plugins": {plugin: values}}))
        section = _merged(self.section("plugins", plugin), values)
        return replace(self, sources=sources, plugins=MappingProxyType({**self.plugins, plugin: section}))

    def section(self, kind: Kind, name: str) -> Mapping[str, Any]:
        """Return the section of a plugin or toolkit, or an empty mapping."""
        return (self.plugins if kind == "plugins" else self.toolkits).get(name, _NOTHING)

    def definition_settings(self, section: Literal["host"] | Kind, name: str = "") -> dict[str, Any]:
        """Return settings on which definitions depend by dotted key, with secrets masked.

        Args:
            section: "host" for the keys of `[host]` that change definitions.
            name: the plugin or toolkit, for its own section.
        """
        tree: Mapping[str, Any] = self.sources.tree.get(section, {})
        path: tuple[str, ...] = (section, name)
        settings: Mapping[str, Any] = tree.get(name, {})
        if section == "host":
            path, settings = (section,), {key: tree[key] for key in _DEFINITION_KEYS if key in tree}
        if not settings:
            return {dotted(path): {}}
        for part in reversed(path):
            settings = {part: settings}
        return settings_of(settings)

    def problem(self, message: str, key: str | KeyPath, suggestion: str | None = None) -> ConfigProblem:
        """Return a problem with a key, with the location of the key's value."""
        return self.sources.problem(message, undotted(key), suggestion)

    def find_file(self, name: str) -> FoundFile:
        """Return the place of a file with a fixed name. See `PluginContext.find_file`."""
        from pegboard.plugin.base import FoundFile

        own = None if self.environ is None else files.user_directory(self.environ)
        if self.environ is None or self.trusted_directory not in (None, own):
            folder = self.trusted_directory
            return FoundFile(None if folder is None else str(folder / name))
        path, is_trusted = find_upward(name, self.working_directory, self.environ) or (None, False)
        if path is not None and is_trusted:
            return FoundFile(str(path))
        return FoundFile(None if own is None else str(own / name), None if path is None else str(path))

    def secret_values(self) -> Iterator[str]:
        """Yield the secret values in the sections of plugins and toolkits, and the keys of the state."""
        yield from (key.get_secret_value() for key in self.host.state_keys)
        for kind, sections in (("plugins", self.plugins), ("toolkits", self.toolkits)):
            yield from secrets_in_section(sections, (kind,))
        yield from secrets_in_section(self.host.tools, ("host", "tools"))

    @cached_property
    def disabled_tools(self) -> Patterns:
        return Patterns(self.host.disabled_tools)

    @cached_property
    def disabled_toolkits(self) -> Patterns:
        return Patterns(self.host.disabled_toolkits)

    @cached_property
    def disabled_plugins(self) -> Patterns:
        return Patterns(self.host.disabled_plugins)


class _Builder:
    """Builds a HostConfig from layers."""

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.sources = Sources()
        self.problems: list[ConfigProblem] = []
        self.warnings: list[ConfigProblem] = []
        self.names: environment.OtherVariables = defaults.get("environment", {})
        tree = {key: value for key, value in defaults.items() if key != "environment"}
        self.take(Layer("built-in", tree))

    def take(self, layer: Layer | ConfigProblem, problems: list[ConfigProblem] | None = None) -> None:
        self.problems += problems or []
        if isinstance(layer, ConfigProblem):
            self.problems.append(layer)
        else:
            self.sources.lay(layer)

    def warn(self, candidate: files.Candidate, content: files.FileContent | ConfigProblem, directory: Path) -> None:
        """Add a warning if other users could change a named file."""
        if candidate.named_by and isinstance(content, files.FileContent) and content.risk:
            message = f"{content.risk}, and so the settings of this host; change its owner or permissions"
            self.warnings.append(ConfigProblem(message, file=files.display_path(content.path, directory)))

    def build(
        self, environ: Mapping[str, str], file: Path | None, working: Path, trusted: Path | None, *, collect: bool
    ) -> HostConfig:
        tree = self.sources.tree
        self.check_keys()
        section = _referring(tree.get("host", {}), environ)
        host = self.host(section)
        if host.state and not section.get("state_keys"):
            fix = "add state_keys, a list with the output of `openssl rand -base64 32`"
            self.wrong(f"processes that share state need common keys: {fix}", ("host", "state"))
        plugins, toolkits = (self.sections(kind, environ) for kind in ("plugins", "toolkits"))
        problems = in_order(self.problems)
        if problems and not collect:
            raise ConfigError(problems)
        return HostConfig(
            host=host,
            plugins=plugins,
            toolkits=toolkits,
            directory=file.parent if file else working,
            file=file,
            working_directory=working,
            trusted_directory=trusted,
            sources=self.sources,
            problems=tuple(problems),
            warnings=tuple(self.warnings),
        )

    def check_keys(self) -> None:
        tree = self.sources.tree
        unknown = {key: tree.pop(key) for key in [key for key in tree if key not in environment.TOP_LEVEL_TABLES]}
        sections = {key for key, value in unknown.items() if isinstance(value, Mapping)}
        for key, close in with_nearest(sections, environment.TOP_LEVEL_TABLES):
            self.wrong("unknown section", (key,), close)
        keys = unknown.keys() - sections
        for key, close in with_nearest(keys, HostSection.model_fields):
            self.wrong("unknown key", (key,), f"host.{close}" if close else None)
        for key in [key for key, value in tree.items() if not isinstance(value, Mapping)]:
            self.wrong(f"expected a table, such as [{key}{'' if key == 'host' else '.NAME'}]", (key,))
            del tree[key]

    def host(self, referring: dict[str, Any]) -> HostSection:
        section = {key: resolve(value) if key == "state_keys" else value for key, value in referring.items()}
        checked = validate(HostSection, section, self.sources, ("host",), {})
        if isinstance(checked, HostSection):
            return checked
        unset = {problem.key: problem for problem in unset_variables(self.sources.problem, referring, ("host",))}
        self.problems += [unset.get(problem.key, problem) for problem in checked]
        names = {key: dotted(("host", key)) for key in section}
        places = {problem.key for problem in checked}
        below = places.difference(names.values())
        wrong = {
            key
            for key, name in names.items()
            if name in places or any(lower.startswith((f"{name}.", f"{name}[")) for lower in below)
        }
        self.sources.forget(*(("host", key) for key in wrong))
        section = {key: value for key, value in section.items() if key not in wrong}
        return HostSection.model_validate(section)

    def sections(self, kind: Kind, environ: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
        sections = self.sources.tree.get(kind, {})
        for name in [name for name, section in sections.items() if not isinstance(section, Mapping)]:
            self.wrong(f"expected a table, such as [{dotted((kind, name))}]", (kind, name))
            del sections[name]
        return MappingProxyType({name: refer(section, environ) for name, section in sections.items()})

    def wrong(self, message: str, path: KeyPath, suggestion: str | None = None) -> None:
        self.problems.append(self.sources.problem(message, path, suggestion))


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of two layers as one immutable table."""
    tables = {key: _merged(below.get(key, _NOTHING), value) for key, value in above.items() if isinstance(value, dict)}
    return MappingProxyType({**below, **above, **tables})


def _referring(section: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return `[host]` with the references of `[host.tools]` and of `state_keys`."""
    referring = {key: section[key] for key in ("tools", "state_keys") if isinstance(section.get(key), Mapping | list)}
    return {**section, **refer(referring, environ)}


def _working_directory() -> Path:
    """Return the working directory of the process.

    Raises:
        ConfigError: it was removed after the process or its shell entered it.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ConfigError(["the working directory does not exist: change to another one with cd"]) from None
