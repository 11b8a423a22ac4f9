"""`pegboard lock`: write `pegboard.lock`, or compare it with the definitions of the host."""

from __future__ import annotations

import asyncio
import gc
import logging
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema
from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host
from pegboard.errors import ConfigError
from pegboard.plugin import CheckedDefinition, CommandContext, Finding, text_problems
from pegboard.terminal import agreed, diverted, is_interactive, print_json, print_lines, say
from pegboard.types import ItemKind
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.definition_objects import definition_object
from pegboard_plugins.operation.lock.differences import Difference, lock_differences
from pegboard_plugins.operation.lock.lock_text import (
    lock_text,
    locked_definition,
    with_former_definitions,
    write_lock,
    wrong_digests,
)
from pegboard_plugins.support.catalogue_lock import (
    LOCKED_KINDS,
    CatalogueLock,
    LockedDefinition,
    LockedOwner,
    LockFileError,
)
from pegboard_plugins.support.lock_files import LOCK_FILE_NAME, RESTORE, lock_path, read_lock
from pegboard_plugins.support.suite_files import suites_that_name

_MARKS = {"added": "+", "removed": "-", "changed": "~", "renamed": "~", "unavailable": "?"}


class ChangedDefinition(TypedDict):
    """A difference between the lock and the definitions that would be served."""

    owner: str
    kind: str
    name: str
    change: str
    former: str
    lines: list[str]


class LockOutput(TypedDict):
    """The output of `pegboard lock`. `suites` are the files of evaluations that name a tool that differs."""

    file: str
    written: bool
    differences: list[ChangedDefinition]
    suites: list[str]


def run_lock(command: CommandContext) -> int:
    """Write the lock if there is none. Otherwise show the differences, and accept them with `--update`.

    The plugin `lock` does not run, so that the host also has the definitions that this plugin would reject.
    """
    options = command.options
    if options.only:
        raise ConfigError(["a lock covers all toolkits: omit --only"])
    host = command.new_host(without=[("plugin", "lock")])
    path = lock_path(host.config.trusted_directory)
    is_new = not path.exists() and not options.check
    old = CatalogueLock({}) if is_new else read_lock(path.parent)
    if wrong := next(wrong_digests(old), None):
        raise LockFileError(f"{path}: the digest of {wrong} does not match its definition; {RESTORE}")
    with diverted():
        current, missing_items = asyncio.run(_current(host, command))
        new = with_former_definitions(current, old)
    has_lost = any(difference.change == "removed" for difference in lock_differences(old, new))
    refused = _refused(command) if has_lost else CatalogueLock({})
    if not options.prune:
        new = _with_absent_owners(new, old, _running(host) | refused.owners.keys())
    for finding in missing_items.values():
        say(f"{finding.level}: {finding.message}")
    failed = {owner for owner, finding in missing_items.items() if finding.level == "error"}
    missing = failed - current.owners.keys()
    unavailable = _unavailable_owners(options, missing, missing - old.owners.keys())
    differences = ([] if is_new else lock_differences(old, new, refused)) + unavailable
    if differences and not options.json:
        print_lines(_described(differences))
    suites = _named_suites(differences, path.parent)
    accepted = not differences or (options.update and not options.check and _accepts(options, len(differences)))
    is_written = accepted and not options.check and lock_text(new) != lock_text(old)
    if is_written:
        write_lock(new, path, host.config.file)
    if accepted and options.update:
        command.say_outdated_hosts(host)
    if options.json:
        print_json(
            {
                "file": str(path),
                "written": is_written,
                "differences": [difference._asdict() for difference in differences],
                "suites": suites,
            }
        )
    elif accepted:
        print_lines([f"{'wrote' if is_written else 'nothing has changed in'} {path}: {_counted(new)}"])
    else:
        say(_advice(is_new=is_new, is_comparable=not options.check or differences != unavailable))
    return 0 if accepted else 1


def _advice(*, is_new: bool, is_comparable: bool) -> str:
    """Return the next step of an operator who has not accepted the differences."""
    if not is_comparable:
        return "the unavailable definitions cannot be compared: repair the servers, then repeat the check"
    if is_new:
        effect = "writes it without the unavailable definitions"
        return f"{LOCK_FILE_NAME} is not written; `pegboard lock --update` {effect}"
    return f"the host differs from {LOCK_FILE_NAME}; `pegboard lock --update` accepts the differences"


def _unavailable_owners(options: Namespace, missing: set[str], unlocked: set[str]) -> list[Difference]:
    """Return the owners whose items are unavailable as differences.

    Args:
        options: the options. An update keeps locked definitions. Without them, a check has nothing to compare.
        missing: the owners whose items are unavailable.
        unlocked: those of them without definitions in the lock.
    """
    shown = unlocked if options.update and not options.check else missing
    return [Difference(name, "owner", "", "unavailable", ()) for name in sorted(shown)]


async def _current(host: Host, command: CommandContext) -> tuple[CatalogueLock, Mapping[str, Finding]]:
    """Start the host, wait for the items of mounted servers, and return the lock of all items.

    Also return the owners whose items are unavailable, with the reasons.
    """
    async with host:
        gc.enable()
        missing = await command.list_items(host)
        return lock_of(host), missing


def _refused(command: CommandContext) -> CatalogueLock:
    """Return the lock of the definitions that the host refuses because of invisible characters.

    A second host accepts these characters. It logs nothing, because the first host has reported its problems.
    """
    logging.disable()
    try:
        with diverted():
            host = command.new_host(without=[("plugin", "lock")], hidden_text=True)
            return _with_hidden_text(asyncio.run(_current(host, command))[0])
    finally:
        logging.disable(logging.NOTSET)


def _running(host: Host) -> set[str]:
    """Return the names of the plugins and toolkits that have started, such as `toolkit:files`."""
    failed = {problem.origin for problem in host.report.problems if problem.stage == "lifespan"}
    started = (plugin.origin for plugin in host.report.plugins if plugin.origin not in failed)
    return {f"{origin.kind}:{origin.name}" for origin in started}


def _with_absent_owners(new: CatalogueLock, old: CatalogueLock, running: Collection[str]) -> CatalogueLock:
    """Return a lock with the owners that have no items because they do not run now.

    The server of an owner may be unavailable for a while. A running plugin or toolkit without items has lost them.
    """
    absent = {name: owner for name, owner in old.owners.items() if name not in new.owners and name not in running}
    for name in sorted(absent):
        say(f"{name} has no items now; the lock keeps its definitions (--prune removes them)")
    return new._replace(owners={**absent, **new.owners})


def _accepts(options: Namespace, count: int) -> bool:
    """Return True if the operator accepts the differences: with `--yes`, or at a terminal."""
    if options.yes:
        return True
    if options.json or not is_interactive():
        say("the differences are not accepted: run the command at a terminal, or pass --yes")
        return False
    return agreed(f"Accept {_plural(count, 'difference')}?")


def _named_suites(differences: Sequence[Difference], folder: Path) -> list[str]:
    """Return the files of evaluations in a folder that name a tool that differs, and tell the operator."""
    names = {name for difference in differences for name in _tool_names(difference)}
    suites = [str(suite) for suite in suites_that_name(names, folder)]
    for suite in suites:
        say(f"{suite} names a tool that differs: run `pegboard evals {suite}` to see whether models still choose it")
    return suites


def _tool_names(difference: Difference) -> Iterator[str]:
    """Yield the names that suites may use for a tool: those of the tool, before and now, and of its function."""
    if difference.kind == "tools":
        for name in filter(None, (difference.name, difference.former)):
            yield name
            yield name.removeprefix(f"{difference.owner.rpartition(':')[2]}_")


def _described(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield the differences as lines."""
    for difference in differences:
        what = (
            difference.owner
            if difference.kind == "owner"
            else f"{difference.kind.removesuffix('s')} {difference.name}, from {difference.owner}"
        )
        former = f" from {difference.former}" if difference.former else ""
        yield f"{_MARKS[difference.change]} {what}: {difference.change}{former}"
        yield from (f"    {line}" for line in difference.lines)


def _counted(lock: CatalogueLock) -> str:
    counts = {kind: sum(len(owner.items(kind)) for owner in lock.owners.values()) for kind in LOCKED_KINDS}
    return ", ".join(_plural(count, kind.removesuffix("s")) for kind, count in counts.items() if count) or "no items"


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


# --- The lock of the items that a host serves.


def lock_of(host: Host) -> CatalogueLock:
    """Return the lock of all items that a host serves.

    Raises:
        TypeError: JSON cannot express a definition.
    """
    groups: dict[str, list[CheckedDefinition]] = {}
    for checked in host.definitions():
        groups.setdefault(checked.owner, []).append(checked)
    owners = {name: _locked_owner(definitions) for name, definitions in groups.items()}
    for plugin in host.report.plugins:
        name = plugin.origin.name
        key = f"{plugin.origin.kind}:{name}"
        if owner := owners.get(key):
            # the facts that a host needs before it imports the plugin
            section = host.config.definition_settings("plugins" if plugin.origin.kind == "plugin" else "toolkits", name)
            owners[key] = owner._replace(
                hooks=plugin.other_hooks(),
                settings_schema=_schema(plugin.context.config),
                settings_digest=digest_of(section),
            )
    return CatalogueLock(owners, digest_of(host.config.definition_settings("host")))


def _locked_owner(definitions: Sequence[CheckedDefinition]) -> LockedOwner:
    items: dict[ItemKind, dict[str, LockedDefinition]] = {kind: {} for kind in LOCKED_KINDS}
    for definition in definitions:
        items[definition.kind][definition.name] = locked_definition(definition_object(definition.item))
    texts = (getattr(definition.item, "owner_description", None) for definition in definitions)
    return LockedOwner(
        distribution=definitions[0].distribution,
        version=definitions[0].version,
        description=next(filter(None, texts), ""),
        tools=items["tools"],
        resources=items["resources"],
        prompts=items["prompts"],
    )


def _schema(settings: Any) -> Mapping[str, Any] | None:
    """Return the JSON Schema of a plugin's settings."""
    try:
        return settings.model_json_schema() if isinstance(settings, BaseModel) else None
    except PydanticInvalidForJsonSchema:
        return None


# --- Definitions with invisible characters. A host refuses them, and `pegboard lock` shows them.


def _with_hidden_text(lock: CatalogueLock) -> CatalogueLock:
    """Return a lock with only the definitions that have invisible characters."""
    owners = {
        name: LockedOwner(
            tools=_hidden(owner.tools), resources=_hidden(owner.resources), prompts=_hidden(owner.prompts)
        )
        for name, owner in lock.owners.items()
    }
    return CatalogueLock({name: owner for name, owner in owners.items() if any(map(owner.items, LOCKED_KINDS))})


def _hidden(items: Mapping[str, LockedDefinition]) -> Mapping[str, LockedDefinition]:
    return {name: locked for name, locked in items.items() if any(text_problems(locked.definition))}
