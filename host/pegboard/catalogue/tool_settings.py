"""`[host.tools.NAME]`: changes of tools by the operator. This module is imported only if there are such sections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pegboard.authoring.transformed import transformed
from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.binding import BindResult
from pegboard.config import ConfigProblem, HostConfig, PluginConfig
from pegboard.config.problems import dotted
from pegboard.config.references import references, resolve, unset_variables
from pegboard.config.validation import validate
from pegboard.errors import ToolDefinitionError
from pegboard.names import Patterns, normalise, with_nearest
from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.parameters import ArgumentChange

Bind: TypeAlias = Callable[[ToolDefinition], BindResult]


class ArgumentSettings(PluginConfig):
    """A change of one argument; see `ArgumentChange`."""

    name: str | None = None
    description: str | None = None
    value: Any = None
    hidden: bool = False

    @property
    def change(self) -> ArgumentChange:
        value = self.value if "value" in self.model_fields_set else ...
        return ArgumentChange(self.name, self.description, value, self.hidden)


class ToolSettings(PluginConfig):
    """A section `[host.tools.NAME]`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    arguments: Mapping[str, ArgumentSettings] = {}


class ChangedTools:
    """The sections of all tools.

    Args:
        config: the configuration of the host.

    Attributes:
        problems: the problems of invalid sections.
    """

    def __init__(self, config: HostConfig) -> None:
        self._config = config
        self._settings: dict[str, ToolSettings] = {}
        self._spelt: dict[str, list[str]] = {}  # the names of sections, by their normal forms
        self.problems: list[ConfigProblem] = []
        for name, section in config.host.tools.items():
            settings = self._validated(name, section)
            if isinstance(settings, ToolSettings):
                self._settings[name] = settings
                self._spelt.setdefault(normalise(name), []).append(name)
            else:
                self.problems += settings

    def _validated(self, name: str, section: Any) -> ToolSettings | list[ConfigProblem]:
        path = ("host", "tools", name)
        if not hasattr(section, "items"):
            return [self._config.problem("expected a table", path)]
        if unset := unset_variables(self._config.problem, section, path):
            return unset
        refs = dict(references(section, path))
        return validate(ToolSettings, resolve(section), self._config.sources, path, {}, refs)

    def bound(
        self, definition: ToolDefinition, forms: Collection[str], prefix: str, bind: Bind
    ) -> BindResult | ConfigProblem:
        """Bind a definition with the changes for its name. Return a problem if its section is at fault.

        Args:
            definition: the definition.
            forms: the spellings of its name.
            prefix: the beginning of its name, which a new name keeps.
            bind: binds a definition.

        Raises:
            ToolDefinitionError: the definition is invalid without changes too.
        """
        spelt = {name for form in forms for name in self._spelt.get(form, ())}
        if not spelt:
            return bind(definition)
        names = [name for name in self._settings if name in spelt]
        path = ("host", "tools", names[-1])
        if len(names) > 1:
            others = [self._place(name) for name in names[:-1]]
            return self._config.problem(f"the same tool is changed by {' and '.join(others)}: keep one section", path)
        options = _options(self._settings[names[0]], prefix)
        try:
            result = bind(transformed(definition, **options))
        except ToolDefinitionError as error:
            bind(definition)  # an author's mistake
            return self._config.problem(str(error), (*path, *_culprit(definition, options, bind, str(error))))
        return result._replace(where=f" ({self._config.source(path)})") if isinstance(result, ServedItem) else result

    def _place(self, name: str) -> str:
        path = ("host", "tools", name)
        return f"{dotted(path)} ({self._config.source(path)})"

    @property
    def names(self) -> Patterns:
        """The names of the sections."""
        return Patterns(self._settings)

    def unmatched(self, names: Iterable[str], forms: Iterable[str]) -> Iterator[ConfigProblem]:
        """Yield a problem for each of these sections, which name no tool."""
        for name, close in with_nearest(names, forms):
            yield self._config.problem("no tool with this name exists", ("host", "tools", name), close)


def _options(settings: ToolSettings, prefix: str) -> dict[str, Any]:
    """Return the options that a section sets. A name begins with the prefix."""
    values = {key: getattr(settings, key) for key in ("name", "title", "description", "tags")}
    options = {key: value for key, value in values.items() if value is not None}
    if settings.name is not None:
        options["name"] = prefix + settings.name
    if settings.arguments:
        options["arguments"] = {key: argument.change for key, argument in settings.arguments.items()}
    return options


def _culprit(definition: ToolDefinition, options: Mapping[str, Any], bind: Bind, message: str) -> tuple[str, ...]:
    """Return the path of the setting that causes an error by itself, or an empty path if several settings cause it."""
    alone: dict[tuple[str, ...], Any] = {(key,): {key: value} for key, value in options.items() if key != "arguments"}
    for key, change in options.get("arguments", {}).items():
        alone["arguments", key] = {"arguments": {key: change}}
    for path, changes in alone.items():
        try:
            bind(transformed(definition, **changes))
        except ToolDefinitionError as error:
            if str(error) == message:
                return path
    return ()
