"""Regular expressions and globs that cannot hang the host.

Python's `re` may take exponential time: `(a+)+$` on forty characters never ends. Nothing can interrupt `re`, because it
holds the interpreter's lock. This module uses the engine of pydantic (the Rust crate `regex`), which takes linear time
for every pattern and rejects look-around and back-references. Counted repeats are slow in this engine, too:
`a[ab]{1000}c` may take 20 microseconds for each character. `regex_size` limits counted repeats, and a search passes a
few thousand characters at a time. Patterns of callers are compiled and matched one at a time.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

from pydantic_core import SchemaError, SchemaValidator, core_schema

from toolkit_files.problems import FileProblem
from toolkit_files.regex_size import MAX_COST, MAX_STATES, size_of

__all__ = ["Globs", "Matcher", "compile_glob", "compile_regex", "compile_text"]

MAX_PATTERN = 1000
MAX_ALTERNATIVES = 64
_CLASS_ENDS = {"!": "^", "^": "^"}
_turn = Lock()
_WILD = frozenset("*?[")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0") | {
    chr(code) for code in range(0xFE00, 0xFE10)
}


Matcher: TypeAlias = Callable[[str], bool]
"""A function that returns True if a pattern matches anywhere in a string."""


def _matcher(pattern: str) -> Matcher:
    schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True)
    return SchemaValidator(schema).isinstance_python


@lru_cache(maxsize=16)
def compile_regex(pattern: str, *, ignore_case: bool = False, lines: bool = False) -> Matcher:
    r"""Compile a regular expression in the syntax of Rust's `regex`: no look-around or back-references, `\z` for `\Z`.

    With `lines`, `^` and `$` match at every line.

    Raises:
        FileProblem: the expression is invalid; the message states the fix.
    """
    if not pattern or len(pattern) > MAX_PATTERN:
        raise FileProblem(f"A pattern must have 1 to {MAX_PATTERN} characters.")
    size = size_of(pattern)
    if size.verbose:
        raise FileProblem("The flag x is not supported: write the pattern without extra spaces and comments.")
    if size.states > max(MAX_STATES, len(pattern)):
        raise FileProblem("The counted repeats of this pattern, such as {1000}, are too large: use + or * instead.")
    if size.cost > MAX_COST:
        raise FileProblem(
            "This pattern becomes too large: use fewer wide ranges and classes such as \\w, or [a-z0-9_] instead."
        )
    flags = "i" * ignore_case + "m" * lines
    try:
        return _one_at_a_time(f"(?{flags}){pattern}" if flags else pattern)
    except SchemaError as error:
        raise FileProblem(_why(str(error))) from None


def compile_text(text: str) -> Matcher:
    """Compile a literal string, ignoring case. Raise FileProblem if the string is too long."""
    if len(text) > MAX_PATTERN:
        raise FileProblem(f"A case-insensitive search string must have at most {MAX_PATTERN} characters.")
    return _one_at_a_time("(?i)" + _escaped(text))


def _one_at_a_time(pattern: str) -> Matcher:
    """Compile a caller's pattern with a lock, so that patterns are compiled and matched one at a time.

    The engine keeps the interpreter's lock. A thread that waits here does not wait for that lock, so that the event
    loop waits for one piece of work at most, however many calls search.
    """
    with _turn:
        matches = _matcher(pattern)

    def match(text: str) -> bool:
        with _turn:
            return matches(text)

    return match


def _why(text: str) -> str:
    if "look-around" in text:
        return "Look-ahead and look-behind are not supported here; search for the plain part and filter the matches."
    if "backreferences" in text:
        return "Back-references are not supported here; search for the plain part and filter the matches."
    if "size limit" in text:
        return "This pattern becomes too large: use smaller counted repeats, or [a-z] in place of \\w inside them."
    reason = text.rpartition("error: ")[2].strip().splitlines()[0][:200] if "error: " in text else "it cannot be parsed"
    return f"This is not a valid regular expression: {reason}. To search for the text as it is, leave regex off."


def compile_glob(pattern: str, *, ignore_case: bool = False) -> Matcher:
    """Compile a glob: `*` and `?` within a name, `**` over directories, `[a-z]`, `{one,two}`.

    A pattern with a `/` before its end matches whole paths. Other patterns match the last name. Raise FileProblem for
    an invalid pattern.
    """
    _check([pattern])
    matches = _expression(_alternatives(pattern.strip("/")), ignore_case, _one_at_a_time)
    return matches if _is_path(pattern) else lambda path: matches(path.rpartition("/")[2])


def _is_path(glob: str) -> bool:
    return "/" in glob.rstrip("/")


def _check(globs: Iterable[str]) -> None:
    for glob in globs:
        if not glob.strip("/") or len(glob) > MAX_PATTERN:
            raise FileProblem(f"A glob must have 1 to {MAX_PATTERN} characters.")


def _expression(globs: Iterable[str], ignore_case: bool, compiled: Callable[[str], Matcher]) -> Matcher:
    body = "|".join(map(_translated, globs))
    if size_of(body).cost > MAX_COST:
        raise FileProblem("This glob is too large: use fewer * and ? and shorter lists in braces.")
    try:
        return compiled(f"(?s{'i' if ignore_case else ''})\\A(?:{body})\\z")
    except SchemaError:
        raise FileProblem("This is not a valid glob: use *, ?, **, [abc] and {one,two}.") from None


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of `{one,two}`, including nested braces."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        glob = waiting.pop()
        close = glob.find("}")
        begin = glob.rfind("{", 0, max(close, 0))
        if begin < 0:
            done.append(glob)
        else:
            waiting += [glob[:begin] + middle + glob[close + 1 :] for middle in glob[begin + 1 : close].split(",")]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise FileProblem(f"The braces of this glob give more than {MAX_ALTERNATIVES} patterns.")
    return done


def _translated(glob: str) -> str:
    parts: list[str] = []
    names = glob.split("/")
    for index, name in enumerate(names):
        last = index == len(names) - 1
        if name == "**":
            parts.append(".*" if last else "(?:.*/)?")
        else:
            parts.append(_translated_name(name) + ("" if last else "/"))
    return "".join(parts)


def _translated_name(name: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(name):
        sign = name[at]
        close = name.find("]", at + 2) if sign == "[" else -1
        if close > 0:
            inner = name[at + 1 : close]
            negated = _CLASS_ENDS.get(inner[0], "")
            chars = inner[1:] if negated else inner
            out.append(f"[{negated}{_class_escaped(chars)}]" if chars else _escaped(name[at : close + 1]))
            at = close
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(sign) or _escaped(sign))
        at += 1
    return "".join(out)


def _class_escaped(chars: str) -> str:
    return "".join(c if c == "-" or c.isalnum() else _escaped(c) for c in chars)


def _escaped(text: str) -> str:
    return "".join(c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\x{{{ord(c):x}}}" for c in text)


class Globs:
    """Several globs that are matched together, ignoring case. See `compile_glob` for names and paths.

    Most globs are plain names, prefixes or suffixes. These are compared as strings, which is faster than an expression
    and needs no compiling.
    """

    def __init__(self, globs: Sequence[str]) -> None:
        """Sort and compile the globs. Raise FileProblem for an invalid glob."""
        _check(globs)
        written_out = [
            (alternative.strip("/"), _is_path(glob)) for glob in globs for alternative in _alternatives(glob)
        ]
        self._names = _Texts(glob for glob, is_path in written_out if not is_path)
        self._paths = _Texts((glob for glob, is_path in written_out if is_path), are_paths=True)

    def match(self, parts: Sequence[str]) -> bool:
        """Return True if the path or a directory above it matches a glob."""
        return any(self.match_last(parts[: count + 1]) for count in range(len(parts)))

    def match_last(self, *views: Sequence[str]) -> bool:
        """Return True if the path itself matches a glob. `views` are its forms relative to several directories."""
        if self._names.some and self._names.match(views[0][-1]):
            return True
        return self._paths.some and any(self._paths.match("/".join(parts)) for parts in views)


class _Texts:
    """Globs for names or for paths: exact strings, suffixes, prefixes, and expressions for all others."""

    def __init__(self, globs: Iterable[str], *, are_paths: bool = False) -> None:
        equal: set[str] = set()
        ends: set[str] = set()
        begins: set[str] = set()
        others = []
        for glob in globs:
            if not _WILD & set(glob):
                equal.update(_forms(glob))
            elif are_paths and glob.startswith("**/") and not _WILD & set(glob[3:]):
                equal.update(_forms(glob[3:]))
                ends.update(_forms(glob[2:]))
            elif not are_paths and glob[0] == "*" and not _WILD & set(glob[1:]):
                ends.update(_forms(glob[1:]))
            elif not are_paths and glob[-1] == "*" and not _WILD & set(glob[:-1]):
                begins.update(_forms(glob[:-1]))
            else:
                others.append(glob)
        self.some = bool(equal or ends or begins or others)
        self._equal = frozenset(equal)
        self._ends = tuple(ends)
        self._begins = tuple(begins)
        self._other = _expression(others, True, _matcher) if others else None

    def match(self, text: str) -> bool:
        return self._match(text.lower()) if text.isascii() else any(map(self._match, _forms(text)))

    def _match(self, form: str) -> bool:
        return (
            form in self._equal
            or form.endswith(self._ends)
            or form.startswith(self._begins)
            or (self._other is not None and self._other(form))
        )


def _forms(text: str) -> tuple[str, ...]:
    """Return the forms of a name that a case-insensitive file system may treat as equal.

    Some file systems also ignore Unicode composition and invisible characters.
    """
    if text.isascii():
        return (text.lower(),)
    from unicodedata import category, normalize

    seen = "".join(char for char in normalize("NFKC", text) if category(char) != "Cf" and char not in _UNSEEN)
    return (text.casefold(), normalize("NFKC", seen.casefold()))
