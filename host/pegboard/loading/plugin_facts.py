"""The facts of plugins that the host needs before it imports them: `pegboard_plugin.toml`, beside a plugin's module.

The file has a table for each entry point whose module is in its folder:

    [acme]
    policies = ["acme"]
    transports = ["acme"]

    [acme.environment]
    ACME_URL = "url"
    ACME_KEY = { secret = "key" }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import importlib_metadata
import tomli
from pydantic import BaseModel, ConfigDict, ValidationError

from pegboard.config.environment import HOST_VARIABLES, EnvironmentNames
from pegboard.config.sections import DeclaredVariable
from pegboard.config.validation import load_pydantic_plugins
from pegboard.loading.plugins import LoadProblem
from pegboard.plugin.origin import Origin
from pegboard.records import NamedTuple

FACTS_FILE = "pegboard_plugin.toml"
OWN_DISTRIBUTIONS = ("pegboard",)
"""The distributions whose plugins may run by default, and may be enabled by a variable."""

_KINDS = {"literal": "literals", "secret": "secrets"}


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Variable(_Model):
    """An environment variable of an existing system. Exactly one attribute is set, and perhaps `reserved`.

    Attributes:
        literal: the key that the variable sets to a TOML value, such as `true`.
        secret: the key that refers to the variable. Its value is never shown, and tools cannot require it.
        renamed: the setting that takes the place of a variable without effect.
        unused: the reason why a variable has no effect.
        read: True if only the plugin reads the variable.
        reserved: True if tools cannot require the variable as a secret.
    """

    literal: str | None = None
    secret: str | None = None
    renamed: str | None = None
    unused: str | None = None
    read: bool = False
    reserved: bool = False


class PluginFacts(_Model):
    """The facts of one plugin.

    Attributes:
        default: True if the plugin runs by default, or the list of `[host]` that contains it by default. Only of our
            distributions.
        mounts: True for the plugin that serves `Host(mount=...)`. Only of our distributions.
        environment: environment variables, each with the key of the plugin's section that it sets, or a `Variable`.
        policies: the route policies of the plugin's authenticators. They stay closed if the plugin is configured but
            disabled by accident.
        commands: the commands of the plugin by name.
        transports: the names of the plugin's transports.
    """

    default: bool | Literal["transports", "secret_stores"] = False
    mounts: bool = False
    environment: Mapping[str, str | Variable] = {}
    policies: tuple[str, ...] = ()
    commands: Mapping[str, Any] = {}
    transports: tuple[str, ...] = ()

    def variables(self, name: str) -> Iterator[tuple[str, str, str]]:
        """Yield each variable with its kind and its text, in the form of the table `environment` of the defaults.

        Args:
            name: the plugin.
        """
        for variable, given in self.environment.items():
            if isinstance(given, str):
                yield variable, "values", f"plugins.{name}.{given}"
                continue
            for kind in ("literal", "secret"):
                if key := getattr(given, kind):
                    yield variable, _KINDS[kind], f"plugins.{name}.{key}"
            for kind in ("renamed", "unused"):
                if text := getattr(given, kind):
                    yield variable, kind, text
            if given.read:
                yield variable, "of_plugins", name
            if given.reserved:
                yield variable, "reserved", name


def facts_of(origin: Origin) -> PluginFacts | None:
    """Return the facts of a plugin, or None if it states none or they are invalid. The plugin is not imported."""
    if origin.distribution in OWN_DISTRIBUTIONS:
        return own_facts().get(origin.name)
    return _read(origin.module).facts.get(origin.name) if _has_facts(origin) else None


@cache
def own_facts() -> Mapping[str, PluginFacts]:
    """Return the facts of the plugins of our distributions by name. Those in invalid files are missing."""
    found: dict[str, PluginFacts] = {}
    for entries in map(_entry_points, OWN_DISTRIBUTIONS):
        for module in dict.fromkeys(entry.module for entry in entries):
            found |= {name: facts for name, facts in _read(module).facts.items() if name in entries.names}
    return found


def variables_of(origin: Origin) -> Sequence[DeclaredVariable]:
    """Return the variables that set keys of a third-party plugin. The configuration has those of our plugins."""
    facts = None if origin.distribution in OWN_DISTRIBUTIONS else facts_of(origin)
    return [
        (text.removeprefix(f"plugins.{origin.name}."), variable, kind)
        for variable, kind, text in (facts.variables(origin.name) if facts else ())
        if kind in EnvironmentNames._fields and variable not in _known_variables()
    ]


def fact_problems(origins: Iterable[Origin]) -> Iterator[LoadProblem]:
    """Yield a warning for each plugin with an invalid file, and for facts that only our plugins may have."""
    for origin in filter(_has_facts, origins):
        is_known = origin.distribution in OWN_DISTRIBUTIONS and origin.name in own_facts()
        found = _File() if is_known else _read(origin.module)
        facts = found.facts.get(origin.name)
        problems = [found.problem] if found.problem else []
        if facts is not None and origin.distribution not in OWN_DISTRIBUTIONS:
            problems += [
                f"{FACTS_FILE} has the variable {name}, which pegboard has already; rename it"
                for name in facts.environment
                if name in _known_variables()
            ]
            if facts.default or facts.mounts:
                problems.append(f"{FACTS_FILE} has `default` or `mounts`, which only pegboard may have; remove them")
        yield from (LoadProblem("find", text, origin, level="warning") for text in problems)


def _has_facts(origin: Origin) -> bool:
    return origin.kind == "plugin" and bool(origin.module)


@cache
def _known_variables() -> frozenset[str]:
    own = (name for facts in own_facts().values() for name in facts.environment)
    return frozenset((*own, *(name for names in HOST_VARIABLES.values() for name in names)))


def _entry_points(distribution: str) -> importlib_metadata.EntryPoints:
    try:
        entries: importlib_metadata.EntryPoints = importlib_metadata.distribution(distribution).entry_points
    except importlib_metadata.PackageNotFoundError:
        return importlib_metadata.EntryPoints()
    return entries.select(group="pegboard.plugins")


class _File(NamedTuple):
    """The facts of the plugins of one folder by name, or the problem of the file."""

    facts: Mapping[str, PluginFacts] = {}
    problem: str = ""


def _read(module: str) -> _File:
    load_pydantic_plugins()
    for path in _paths(module):
        try:
            tables = tomli.loads(path.read_text("utf-8"))
            return _File({name: PluginFacts.model_validate(table) for name, table in tables.items()})
        except FileNotFoundError:
            continue
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(str(part) for part in wrong["loc"])
            return _File(problem=f"{path} is ignored: {place}: {wrong['msg']}")
        except (OSError, ValueError) as error:
            return _File(problem=f"{path} is ignored: {error}")
    return _File()


def _paths(module: str) -> Iterator[Path]:
    """Yield the places of the file for a module. Its parent packages are not imported.

    A module outside of a package shares its folder with other distributions, so it has no file.
    """
    top, _, rest = module.partition(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        place = Path(folder, *rest.split("."))
        yield (place if place.is_dir() else place.parent) / FACTS_FILE


def lowest_layer() -> Mapping[str, Any]:
    """Return the lowest layer of the configuration: plugins that run by default, and variables that set keys."""
    lists: dict[str, list[str]] = {}
    environment = {kind: dict(variables) for kind, variables in HOST_VARIABLES.items()}
    for name, facts in own_facts().items():
        if isinstance(facts.default, str):
            lists.setdefault(facts.default, []).append(name)
        for variable, kind, text in facts.variables(name):
            environment.setdefault(kind, {})[variable] = text
    plugins: dict[str, dict[str, Any]] = {
        name: {} for name, facts in sorted(own_facts().items()) if facts.default is True
    }
    return {"host": lists, "plugins": plugins, "environment": environment}


def reserved_secrets() -> frozenset[str]:
    """Return the names of secrets that only plugins may read, never tools."""
    variables = [variable for facts in own_facts().values() for variable in facts.variables("")]
    return frozenset(name for name, kind, _ in variables if kind in ("secrets", "reserved"))
