"""Regular expressions and globs that cannot hang the host. It reads no files.

Python's `re` goes back and tries again, so `(a+)+$` on forty characters never ends, and nothing can interrupt it: it
keeps the interpreter's lock while it works. The engine used here is the one that pydantic brings (the Rust crate
`regex`): its time is linear in the text for every pattern, at the price of look-around and back-references, which it
refuses. Counted repeats can still make it slow, by a constant factor: `a[ab]{1000}c` takes 20 microseconds for each
character of a text made for it. `compile_regex` bounds them, and a search gives it a few thousand characters at a time.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pydantic_core import SchemaError, SchemaValidator, core_schema

from toolkit_files.problems import FileProblem

__all__ = ["Globs", "Matcher", "compile_glob", "compile_regex"]

MAX_PATTERN = 1000
MAX_UNFOLDED = 500
MAX_ALTERNATIVES = 64
_CLASS_ENDS = {"!": "^", "^": "^"}


Matcher: TypeAlias = Callable[[str], bool]
"""Says whether a pattern is found anywhere in a text."""


def _matcher(pattern: str) -> Matcher:
    schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True)
    return SchemaValidator(schema).isinstance_python


def compile_regex(pattern: str, *, ignore_case: bool = False) -> Matcher:
    r"""Compile a regular expression in the syntax of Rust's `regex`: no look-around or back-references, `\z` for `\Z`.

    Raises FileProblem, which says what to change.
    """
    if not pattern or len(pattern) > MAX_PATTERN:
        raise FileProblem(f"A pattern has 1 to {MAX_PATTERN} characters.")
    if _unfolded(pattern) > max(MAX_UNFOLDED, len(pattern)):
        raise FileProblem("The counted repeats of this pattern, such as {1000}, are too large; use + or * instead.")
    try:
        return _matcher("(?i)" + pattern if ignore_case else pattern)
    except SchemaError as error:
        raise FileProblem(_why(str(error))) from None


def _why(text: str) -> str:
    if "look-around" in text:
        return "Look-ahead and look-behind are not supported here; search for the plain part and filter the matches."
    if "backreferences" in text:
        return "Back-references are not supported here; search for the plain part and filter the matches."
    if "size limit" in text:
        return "This pattern becomes too large; use smaller counted repeats, or [a-z] in place of \\w inside them."
    reason = text.rpartition("error: ")[2].strip().splitlines()[0][:200] if "error: " in text else "it cannot be parsed"
    return f"This is not a valid regular expression: {reason}. To search for the text as it is, leave regex off."


def _unfolded(pattern: str) -> int:
    """Estimate how many characters and classes a pattern has once its counted repeats are written out."""
    groups = [0]
    last = 0  # the same for the last atom or group
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        step = 2 if sign == "\\" else 1
        if sign == "[":
            step = _class_length(pattern, at)
        if sign == "(":
            groups.append(0)
        elif sign == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] += last
        elif sign == "{" and (found := _count(pattern, at)):
            count, step = found
            groups[-1] += last * (count - 1)
            last *= count
        elif sign not in "*+?|":
            last = 1
            groups[-1] += 1
        at += step
    return sum(groups)


def _class_length(pattern: str, start: int) -> int:
    at, depth = start, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        depth += {"[": 1, "]": -1}.get(sign, 0)
        at += 1
        if depth == 0:
            break
    return at - start


def _count(pattern: str, start: int) -> tuple[int, int] | None:
    """Give the larger number of `{2,5}` and how many characters it takes; None where a brace is no repeat."""
    inside, found, _ = pattern[start + 1 :].partition("}")
    numbers = [part.strip() for part in inside.split(",")]
    if not found or len(numbers) > 2 or not all(part == "" or (part.isascii() and part.isdigit()) for part in numbers):
        return None
    count = max((int(part[:9]) for part in numbers if part), default=0)
    return (count, len(inside) + 2) if count else None


def compile_glob(pattern: str, *, ignore_case: bool = False) -> Matcher:
    """Compile a glob: `*` and `?` within a name, `**` over directories, `[a-z]`, `{one,two}`.

    A pattern with a `/` before its end is for a whole path, another one for a last name. Raises FileProblem.
    """
    matches = _compiled([pattern], ignore_case)
    return matches if _is_path(pattern) else lambda path: matches(path.rpartition("/")[2])


def _is_path(glob: str) -> bool:
    return "/" in glob.rstrip("/")


def _compiled(globs: list[str], ignore_case: bool) -> Matcher:
    for glob in globs:
        if not glob.strip("/") or len(glob) > MAX_PATTERN:
            raise FileProblem(f"A glob has 1 to {MAX_PATTERN} characters.")
    body = "|".join(_translated(one.strip("/")) for glob in globs for one in _alternatives(glob))
    try:
        return _matcher(f"(?s{'i' if ignore_case else ''})\\A(?:{body})\\z")
    except SchemaError:
        raise FileProblem("This is not a valid glob; use *, ?, **, [abc] and {one,two}.") from None


def _alternatives(pattern: str) -> list[str]:
    """Write out `{one,two}`; nested braces too."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        close = one.find("}")
        begin = one.rfind("{", 0, max(close, 0))
        if begin < 0:
            done.append(one)
        else:
            waiting += [one[:begin] + middle + one[close + 1 :] for middle in one[begin + 1 : close].split(",")]
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
    """Several globs as one question, case ignored; each is for last names or for whole paths, as in `compile_glob`."""

    def __init__(self, globs: Sequence[str]) -> None:
        """Compile them; raises FileProblem."""
        paths = [glob for glob in globs if _is_path(glob)]
        names = [glob for glob in globs if not _is_path(glob)]
        self._names = _compiled(names, ignore_case=True) if names else None
        self._paths = _compiled(paths, ignore_case=True) if paths else None

    def match(self, parts: Sequence[str]) -> bool:
        """Say whether this path, or a directory above it, matches one."""
        return any(self.match_last(parts[: count + 1]) for count in range(len(parts)))

    def match_last(self, parts: Sequence[str]) -> bool:
        """Say whether this path matches one, whatever is above it."""
        if self._names is not None and self._names(parts[-1]):
            return True
        return self._paths is not None and self._paths("/".join(parts))
