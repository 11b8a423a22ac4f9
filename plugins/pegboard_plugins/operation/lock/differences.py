"""The differences between two locks, for people and programs, and between two definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any, Literal, NamedTuple

from pegboard.terminal import dotted
from pegboard_plugins.operation.lock.canonical import canonical_json
from pegboard_plugins.operation.lock.visible_text import visible
from pegboard_plugins.support.catalogue_lock import LOCKED_KINDS, CatalogueLock, LockedDefinition, LockedOwner

_NO_OWNER = LockedOwner()
_NOTHING = CatalogueLock({})


class Difference(NamedTuple):
    """One difference between a lock and the definitions of a host.

    Attributes:
        owner: the owner of the item.
        kind: the kind of the item; "owner" for the distribution, version or description of the owner.
        name: the name of the item; "" for the owner.
        change: the change since the lock was written; "unavailable" for a mounted server without items, which cannot
            be compared.
        former: the former name of a renamed item.
        lines: the lines of a unified diff. Hidden characters are escaped.
    """

    owner: str
    kind: Literal["owner", "tools", "resources", "prompts"]
    name: str
    change: Literal["added", "removed", "changed", "renamed", "unavailable"]
    lines: tuple[str, ...]
    former: str = ""


def lock_differences(old: CatalogueLock, new: CatalogueLock, refused: CatalogueLock = _NOTHING) -> list[Difference]:
    """Return the differences between two locks, sorted by owner. Other settings are not compared.

    Args:
        old: the lock as it was written.
        new: the lock of the definitions that the host has now.
        refused: definitions that the host refuses. The differences of removed items show them.
    """
    differences: list[Difference] = []
    for name in sorted({*old.owners, *new.owners}):
        before, after = old.owners.get(name, _NO_OWNER), new.owners.get(name, _NO_OWNER)
        if name in old.owners and name in new.owners and _about(before) != _about(after):
            differences.append(Difference(name, "owner", "", "changed", _diff(_about(before), _about(after))))
        for kind in LOCKED_KINDS:
            shown = refused.owners.get(name, _NO_OWNER).items(kind)
            differences += _of_items(name, kind, before.items(kind), after.items(kind), shown)
    return differences


def _of_items(
    owner: str,
    kind: Literal["tools", "resources", "prompts"],
    old: Mapping[str, LockedDefinition],
    new: Mapping[str, LockedDefinition],
    refused: Mapping[str, LockedDefinition],
) -> Iterator[Difference]:
    """Yield the differences of one kind. An added item that equals a removed item, except for the name, is renamed."""
    former = _renamed({name: old[name] for name in old if name not in new}, {n: new[n] for n in new if n not in old})
    gone = set(former.values())
    for name in sorted({*old, *new} - gone):
        before, after = old.get(former.get(name, name)), new.get(name)
        lines = _diff(_lines(before), _lines(after))
        if name in former:
            yield Difference(owner, kind, name, "renamed", lines, former[name])
        elif before is None:
            yield Difference(owner, kind, name, "added", lines)
        elif after is None:
            yield Difference(owner, kind, name, "removed", _diff(_lines(before), _lines(refused.get(name))))
        elif before.digest != after.digest:
            yield Difference(owner, kind, name, "changed", lines)


def _renamed(removed: Mapping[str, LockedDefinition], added: Mapping[str, LockedDefinition]) -> dict[str, str]:
    """Return the former name of each added item that equals a removed item except for the name."""
    names = {_without_name(locked): name for name, locked in removed.items()}
    pairs = ((name, names.pop(_without_name(locked), "")) for name, locked in sorted(added.items()))
    return {name: former for name, former in pairs if former}


def _without_name(locked: LockedDefinition) -> str:
    own = {name: member for name, member in locked.definition.items() if name not in ("name", "uri", "uriTemplate")}
    return json.dumps(own, sort_keys=True)


def _about(owner: LockedOwner) -> list[str]:
    lines = [f"distribution: {owner.distribution or 'none'} {owner.version}".rstrip()]
    return [*lines, *(f"description: {line}" for line in owner.description.splitlines())]


def _lines(locked: LockedDefinition | None) -> list[str]:
    """Return a definition as lines: one for each line of a string, and for each value in other members."""
    lines: list[str] = []
    for member, value in sorted(locked.definition.items()) if locked is not None else ():
        if isinstance(value, str):
            lines += (f"{member}: {line}" for line in value.split("\n"))
        else:
            lines += _values((member,), value)
    return lines


def _values(path: tuple[str | int, ...], value: Any) -> Iterator[str]:
    """Yield a line with the path of each value that is not a container, and of each empty container."""
    if value and isinstance(value, dict):
        for name in sorted(value):
            yield from _values((*path, name), value[name])
    elif value and isinstance(value, list):
        for place, item in enumerate(value):
            yield from _values((*path, place), item)
    else:
        yield f"{dotted(path)}: {json.dumps(value, ensure_ascii=False)}"


def _diff(old: list[str], new: list[str]) -> tuple[str, ...]:
    _, _, *changed = list(unified_diff(old, new, n=0, lineterm="")) or ("", "")  # without the names of files
    return tuple(visible(line) for line in changed if not line.startswith("@@"))


# --- The difference between two definitions in one line.

_CHARACTERS_BEFORE = 20
_CHARACTERS_AFTER = 40


def definition_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Return the members that differ, and an excerpt of the first member. Return None if none differs.

    Raises:
        TypeError: JSON cannot express a definition.
    """
    members = [name for name in sorted({*old, *new}) if _text(old, name) != _text(new, name)]
    if not members:
        return None
    before, after = _text(old, members[0]), _text(new, members[0])
    pairs = enumerate(zip(before, after, strict=False))
    start = next((place for place, (left, right) in pairs if left != right), min(len(before), len(after)))
    others = f"; also {', '.join(members[1:])}" if len(members) > 1 else ""
    return visible(f"{members[0]} was {_excerpt(before, start)}, is {_excerpt(after, start)}{others}")


def _text(definition: Mapping[str, Any], name: str) -> str:
    return canonical_json(definition[name]).decode() if name in definition else "missing"


def _excerpt(text: str, start: int) -> str:
    begin, end = max(0, start - _CHARACTERS_BEFORE), start + _CHARACTERS_AFTER
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"
