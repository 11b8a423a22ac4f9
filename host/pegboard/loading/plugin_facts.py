"""The facts of plugins that the host needs before it imports them: `pegboard_plugin.toml`, beside a plugin's module.

The file has a table for each entry point whose module is in its folder:

    [acme]
    policies = ["acme"]
    transports = ["acme"]

    [acme.environment]
    ACME_URL = "url"
    ACME_KEY = { secret = "key" }

    [acme.commands.fax]
    summary = "send a fax"
    run = "acme.fax_command:send"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import importlib_metadata
import tomli
from pydantic import ValidationError

from pegboard.config.environment import HOST_VARIABLES, SETTING_KINDS
from pegboard.config.sections import DeclaredVariable
from pegboard.config.validation import load_pydantic_plugins
from pegboard.errors import ConfigError
from pegboard.loading.fact_models import PluginFacts
from pegboard.loading.plugins import LoadProblem
from pegboard.plugin.origin import Origin

FACTS_FILE = "pegboard_plugin.toml"
COMMANDS_GROUP = "pegboard.commands"
"""The entry points of features whose commands need no enabled plugin. Only pegboard has them."""
OWN_DISTRIBUTION = "pegboard"
"""The distribution whose plugins may run by default, and may be enabled by a variable."""


def facts_of(origin: Origin) -> PluginFacts | None:
    """Return the facts of a plugin, or None if there are none, or they are invalid. The plugin is not imported."""
    if origin.distribution == OWN_DISTRIBUTION:
        return own_facts().get(origin.name)
    return _read([origin.module])[0].get(origin.name) if _has_facts(origin) else None


def own_facts() -> Mapping[str, PluginFacts]:
    """Return the facts of the plugins of pegboard by name. Those in invalid files are missing."""
    return _own()[0]


@cache
def _own() -> tuple[Mapping[str, PluginFacts], str]:
    """Return the facts of the plugins of pegboard, and the last problem with their files."""
    groups = ("pegboard.plugins", COMMANDS_GROUP)
    entries = [entry for group in groups for entry in own_entry_points(group)]
    names = {entry.name for entry in entries}
    declared, problem = _read(entry.module for entry in entries)
    return {name: facts for name, facts in declared.items() if name in names}, problem


def facts_beside(module: str) -> Mapping[str, PluginFacts]:
    """Return the facts in the file beside a module, by plugin. The module is not imported.

    Raises:
        ConfigError: the file is invalid.
    """
    facts, problem = _read([module])
    if problem:
        raise ConfigError([problem])
    return facts


def variables_of(origin: Origin) -> Sequence[DeclaredVariable]:
    """Return the variables that set keys of a third-party plugin.

    The configuration contains those of pegboard's own plugins.
    """
    facts = None if origin.distribution == OWN_DISTRIBUTION else facts_of(origin)
    return [
        (text.removeprefix(f"plugins.{origin.name}."), variable, kind)
        for variable, kind, text in (facts.variables(origin.name) if facts else ())
        if kind in SETTING_KINDS and variable not in _known_variables()
    ]


def fact_problems(origins: Iterable[Origin]) -> Iterator[LoadProblem]:
    """Yield a warning for each plugin with an invalid file, and for facts that only pegboard's own plugins may have."""
    for origin in filter(_has_facts, origins):
        is_own = origin.distribution == OWN_DISTRIBUTION
        declared, problem = _own() if is_own else _read([origin.module])
        facts = declared.get(origin.name)
        problems = [problem] if problem and facts is None else []
        if facts is not None and not is_own:
            problems += [
                f"{FACTS_FILE} has the variable {name}, which pegboard has already; rename it"
                for name in facts.environment
                if name in _known_variables()
            ]
            if facts.default or facts.mounts or facts.log or facts.folders:
                problems.append(
                    f"{FACTS_FILE} has `default`, `mounts`, `log` or `folders`, which only pegboard may have; "
                    "remove them"
                )
        yield from (LoadProblem("find", text, origin, level="warning") for text in problems)


def _has_facts(origin: Origin) -> bool:
    return origin.kind == "plugin" and bool(origin.module)


@cache
def _known_variables() -> frozenset[str]:
    own = (name for facts in own_facts().values() for name in facts.environment)
    return frozenset((*own, *(name for names in HOST_VARIABLES.values() for name in names)))


@cache
def features_of_commands() -> frozenset[str]:
    """Return the features of pegboard whose commands are available without an enabled plugin."""
    return frozenset(entry.name for entry in own_entry_points(COMMANDS_GROUP))


def own_entry_points(group: str) -> importlib_metadata.EntryPoints:
    """Return the entry points of pegboard in a group. There are none if pegboard is not installed as a distribution."""
    own = importlib_metadata.distributions(name=OWN_DISTRIBUTION)
    return next((each.entry_points.select(group=group) for each in own), importlib_metadata.EntryPoints())


def _read(modules: Iterable[str]) -> tuple[Mapping[str, PluginFacts], str]:
    """Return the facts of the plugins of some modules by name, and the last problem with their files."""
    load_pydantic_plugins()
    facts: dict[str, PluginFacts] = {}
    problem = ""
    for path in _paths(modules):
        try:
            tables = tomli.loads(path.read_text("utf-8"))
            facts |= {name: PluginFacts.model_validate(table) for name, table in tables.items()}
        except FileNotFoundError:
            continue
        except ValidationError as error:
            wrong = error.errors()[0]
            problem = f"{path} is ignored: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
        except (OSError, ValueError) as error:
            problem = f"{path} is ignored: {error}"
    return facts, problem


def _paths(modules: Iterable[str]) -> Iterable[Path]:
    """Return the places of the files for modules. Their parent packages are not imported.

    A module outside of a package shares its folder with other distributions, so it has no file.
    """
    paths: dict[Path, None] = {}
    packages: dict[str, Sequence[str]] = {}
    for module in modules:
        top, _, rest = module.partition(".")
        if top not in packages:
            packages[top] = _package_folders(top)
        for folder in packages[top]:
            place = Path(folder, *rest.split("."))
            paths[(place if place.is_dir() else place.parent) / FACTS_FILE] = None
    return paths


def _package_folders(name: str) -> Sequence[str]:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return ()
    return (spec.submodule_search_locations or ()) if spec else ()


def reserved_secrets() -> frozenset[str]:
    """Return the names of secrets that only plugins may read, never tools."""
    variables = [variable for facts in own_facts().values() for variable in facts.variables("")]
    return frozenset(name for name, kind, _ in variables if kind in ("secrets", "reserved"))
