"""Names of tools, toolkits and plugins: names on the wire, and all accepted spellings. Versions.

Spellings are compared in a normal form: no spaces around separators, lower case, underscores for hyphens, a dot for
`::`. The tool `delete_repo` of the toolkit `github` has the forms `github_delete_repo`, `github.delete_repo`,
`github_deleterepo` and `github.deleterepo`, so `Github::DeleteRepo`, `GitHub.delete_repo`, `github_delete_*` and
`GITHUB_DELETEREPO` all match it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

MAX_WIRE_NAME_CHARACTERS = 64
MAX_CORRECTED_NAMES = 50
"""The number of unknown names in one list that are compared with all known names: a comparison takes a millisecond."""

_HUMPS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_SEPARATORS = re.compile(r"[\s._:-]+")
_WILDCARD = re.compile(r"[*?\[]")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")


def wire_name(toolkit: str, tool: str, style: Literal["snake", "pascal"] = "snake", prefix: bool = True) -> str:
    """Return the name of a tool for MCP clients: `github_list_issues`, or `Github_ListIssues` in Pascal style.

    Args:
        toolkit: the name of the toolkit.
        tool: the name of the tool.
        style: the style of both parts.
        prefix: False to return the name of the tool unchanged.
    """
    if not prefix:
        return tool
    parts = (_snake(toolkit), _snake(tool))
    return "_".join(parts if style == "snake" else map(_pascal, parts))


def without_toolkit(toolkit: str, tool: str) -> str:
    """Return a name without its toolkit's name: `ListIssues` for `GitHub_ListIssues`. Other names are unchanged.

    Args:
        toolkit: the name of the toolkit.
        tool: the name of a tool, as its author wrote it.
    """
    start = f"{toolkit.replace('_', '')}_"
    return tool[len(start) :] if tool.casefold().startswith(start.casefold()) and len(tool) > len(start) else tool


def check_wire_name(name: str) -> str | None:
    """Return the reason why a tool's or prompt's wire name is invalid. Return None for a valid name."""
    if not name:
        return "it is empty"
    if wrong := _FORBIDDEN.search(name):
        return f"it contains {wrong.group()!r}; allowed are letters, digits, '_' and '-' of ASCII"
    if len(name) > MAX_WIRE_NAME_CHARACTERS:
        return f"it has {len(name)} characters, the limit is {MAX_WIRE_NAME_CHARACTERS}"
    return None


def normalise(name: str) -> str:
    """Return the normal form of a name or glob, for comparison with `spellings`."""
    name = re.sub(r"\s*(::|[:._-])\s*", r"\1", name.strip()).casefold()
    outside = [
        part if place % 2 else part.replace("-", "_") for place, part in enumerate(re.split(r"(\[!?\]?[^\]]*\])", name))
    ]
    toolkit, dot, tool = re.sub(r"__+", "_", "".join(outside).replace("::", ".")).rpartition(".")
    return toolkit.replace(".", "_") + dot + tool.lstrip("_")


def same_name(one: str, other: str) -> bool:
    """Return True if two names differ only in spelling."""
    return _squashed(one) == _squashed(other)


def _squashed(name: str) -> str:
    return normalise(name).replace(".", "").replace("_", "")


def spellings(toolkit: str, tool: str) -> frozenset[str]:
    """Return all normal forms of the name of a tool. Pass "" as the toolkit of a tool without a prefix."""
    own = toolkit_spellings(tool)
    if not toolkit:
        return own
    return frozenset([kit + dot + last for kit in _toolkit_forms(toolkit) for dot in "._" for last in own])


def toolkit_spellings(name: str) -> frozenset[str]:
    """Return all normal forms of the name of a toolkit, or of a tool without a prefix: `my_kit`, `mykit`."""
    plain = _separated(name).casefold().strip("_")
    snake = plain if name.islower() else _snake(name)
    return frozenset((snake, snake.replace("_", ""), plain))


_toolkit_forms = lru_cache(maxsize=32)(toolkit_spellings)
"""The tools of one toolkit are bound one after the other."""


def words(name: str) -> list[str]:
    """Return the words of a name in any spelling: `github`, `list` and `issues` for `Github.ListIssues`."""
    return _snake(name).split("_")


class Patterns:
    """Names and globs, as in `[host] disabled_tools`. Immutable.

    Args:
        texts: the patterns.
    """

    __slots__ = ("_globs", "_names", "_normal", "texts")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts: tuple[str, ...] = tuple(texts)
        self._normal = tuple(normalise(text) for text in self.texts)
        places = range(len(self.texts))
        self._globs = [place for place in places if _WILDCARD.search(self._normal[place])]
        self._names = {self._normal[place]: place for place in reversed(places)}

    def __bool__(self) -> bool:
        return bool(self.texts)

    def match(self, forms: Iterable[str]) -> bool:
        """Return True if a pattern matches one of these normal forms (`spellings`)."""
        return self.which(forms) is not None

    def which(self, forms: Iterable[str]) -> str | None:
        """Return the first pattern, as written, that matches one of these normal forms."""
        if not self.texts:
            return None
        forms = tuple(forms)
        places = [self._names[form] for form in forms if form in self._names]
        places += [place for place in self._globs if _hits(self._normal[place], forms)]
        return self.texts[min(places)] if places else None

    def unmatched(self, forms: Iterable[str], absent: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the patterns, as written, that match nothing.

        Args:
            forms: the normal forms of all names.
            absent: the toolkits that were not loaded. Patterns for their tools are left out.
        """
        forms = frozenset(forms)
        excused = tuple(form + end for name in absent for form in toolkit_spellings(name) for end in "._")
        globs = set(self._globs)
        return tuple(
            self.texts[place]
            for place, normal in enumerate(self._normal)
            if not normal.startswith(excused) and normal not in forms and not (place in globs and _hits(normal, forms))
        )

    def match_plugin(self, name: str, distribution: str = "") -> bool:
        """Return True if a pattern matches a plugin or toolkit by name, glob or `distribution:name`."""
        return self.which_plugin(name, distribution) is not None

    def which_plugin(self, name: str, distribution: str = "") -> str | None:
        """Return the first pattern, as written, that matches this plugin or toolkit."""
        return next((text for text in self.texts if _names_plugin(text, name, distribution)), None)

    def unmatched_plugins(self, plugins: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the patterns, as written, that match none of these pairs of name and distribution."""
        pairs = tuple(plugins)
        return tuple(text for text in self.texts if not any(_names_plugin(text, *pair) for pair in pairs))


def comma_separated(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def matching_pattern(patterns: Iterable[str], tags: Iterable[str]) -> str | None:
    """Return the first pattern that matches one of these tags, or None if no pattern matches. Case matters."""
    tags = tuple(tags)
    return next((pattern for pattern in patterns if _hits(pattern, tags)), None)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is most similar to a name, or None if none is similar.

    A tool is also found without the name of its toolkit: `add` finds `demo_add`.

    For a glob, only the part before the first wildcard is corrected: `githbu_*` becomes `github_*`.
    """
    if wild := _WILDCARD.search(name):
        return _nearest_glob(normalise(name[: wild.start()]), name[wild.start() :], candidates)
    names = sorted(candidates, reverse=True)
    if close := _most_similar(name.casefold(), {candidate.casefold(): candidate for candidate in names}):
        return close
    return _most_similar(
        name.casefold(), {candidate.casefold().partition("_")[2]: candidate for candidate in names if "_" in candidate}
    )


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return the end of a message that names the candidate that is most similar to a name, or "" if none is."""
    close = nearest(name, candidates)
    return f"; did you mean {close!r}?" if close else ""


def with_nearest(names: Iterable[str], candidates: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each name with its `nearest` candidate. Only `MAX_CORRECTED_NAMES` are compared; the others get None."""
    options = tuple(candidates)
    for place, name in enumerate(names):
        yield name, nearest(name, options) if place < MAX_CORRECTED_NAMES else None


def _most_similar(name: str, candidates: Mapping[str, str]) -> str | None:
    """Return the value of the key that is most similar to a name."""
    from difflib import get_close_matches

    close = get_close_matches(name, candidates, n=1)
    return candidates[close[0]] if close else None


def _nearest_glob(stem: str, rest: str, candidates: Iterable[str]) -> str | None:
    lengths = range(max(1, len(stem) - 1), len(stem) + 2)
    stems = {candidate.casefold()[:length] for candidate in candidates for length in lengths}
    close = _most_similar(stem, {candidate: candidate for candidate in sorted(stems, reverse=True)})
    return close + rest if close else None


def _snake(name: str) -> str:
    lower = name if name.islower() else re.sub(_HUMPS, "_", name)  # compiling the pattern delays the start
    return _separated(lower).casefold().strip("_")


def _separated(name: str) -> str:
    """Return a name in which an underscore replaces each sequence of separators."""
    return name if name.isidentifier() and "__" not in name else _SEPARATORS.sub("_", name)


def _pascal(snake: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in snake.split("_"))


def _hits(pattern: str, forms: Iterable[str]) -> bool:
    return any(fnmatchcase(form, pattern) for form in forms)


def _names_plugin(text: str, name: str, distribution: str) -> bool:
    owner, colon, own = text.partition(":")
    own, same_owner = (own, _hits(_distribution(owner), [_distribution(distribution)])) if colon else (text, True)
    return same_owner and _hits(normalise(own).replace(".", "_"), toolkit_spellings(name))


def _distribution(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).casefold()


# --- versions

_NUMBER = r"(0|[1-9][0-9]*)"
_PART = r"[0-9A-Za-z-]+"
_VERSION = rf"v?{_NUMBER}(?:\.{_NUMBER})?(?:\.{_NUMBER})?(-{_PART}(?:\.{_PART})*)?(\+{_PART}(?:\.{_PART})*)?"
"""The pattern of a version. It is compiled on first use, since most hosts have no version."""


def normal_version(value: object) -> str:
    """Return a version with three numbers and without "v": 1.0.0 for `v1`, 1.2.0-rc.1 for `1.2-rc.1`.

    Raises:
        ValueError: the version is invalid.
    """
    match = re.fullmatch(_VERSION, value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a version; write it like 1.2.3 or 1.2.3-rc.1 (semver.org)")
    numbers = [number or "0" for number in match.groups()[:3]]
    return ".".join(numbers) + "".join(part or "" for part in match.groups()[3:])
