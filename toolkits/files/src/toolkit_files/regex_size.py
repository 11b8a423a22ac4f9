r"""The estimated size of a regular expression before it is compiled.

Compiling holds the interpreter's lock, so that nothing else runs meanwhile. The size is that of the pattern with its
counted repeats written out. A class of Unicode such as `\w` takes 300 microseconds to compile, each time it occurs. A
letter takes one microsecond, and a wide range that ignores case takes milliseconds. The time of a match grows with the
number of states.
"""

import re
from typing import NamedTuple

__all__ = ["MAX_COST", "MAX_STATES", "Size", "size_of"]

MAX_STATES = 500
MAX_COST = 2500

_PART = re.compile(
    r"""\\[pP](?:\{[^}]*\}|.)       # a class of Unicode
      | \\[xuU]\{[^}]*\}            # a character by its number
      | \\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})
      | \\b\{[a-z-]*\}
      | \\.
      | \{[\s0-9,]*\}               # a counted repeat
      | \(\?[A-Za-z-]*(?=[:)])      # a group with flags
      | \[\^?\]?                    # in a class, a bracket at its beginning is a character
      | .
    """,
    re.VERBOSE | re.DOTALL,
)
_COSTS = {r"\w": 100, r"\W": 100, r"\p": 100, r"\P": 100, r"\d": 15, r"\D": 15, r"\s": 5, r"\S": 5, ".": 5}
_CODE_POINTS_PER_COST = 800  # for a range that ignores case, as a flag inside the pattern may request
_IN_CHARACTER = re.compile(r"\\[xuU]\{?([0-9A-Fa-f]{1,8})\}?|\\?(.)", re.DOTALL)


class Size(NamedTuple):
    """The size of a pattern with its counted repeats expanded.

    Attributes:
        states: characters and classes.
        cost: the time to compile the pattern, in units of about three microseconds.
        verbose: True if a flag makes spaces meaningless. The size cannot be estimated then.
    """

    states: int = 0
    cost: int = 0
    verbose: bool = False


def size_of(pattern: str) -> Size:
    """Estimate the size of a pattern. The pattern may be invalid."""
    return _Estimate(_PART.findall(pattern)).run()


class _Estimate:
    def __init__(self, parts: list[str]) -> None:
        self.parts = iter(parts)
        self.groups = [Size()]
        self.last = Size()  # of the last character, class or group
        self.verbose = False

    def run(self) -> Size:
        for part in self.parts:
            if part[0] == "(":
                self.verbose = self.verbose or "x" in part.partition("-")[0]
                self.groups.append(Size())
            elif part == ")" and len(self.groups) > 1:
                states, cost, _ = self.groups.pop()
                self.add(max(1, states), max(1, cost))
            elif count := _count(part):
                self.repeat(count)
            elif part not in "*+?|":
                self.add(1, self.class_cost(part) if part[0] == "[" else _cost(part))
        return Size(sum(group.states for group in self.groups), sum(group.cost for group in self.groups), self.verbose)

    def add(self, states: int, cost: int) -> None:
        self.last = Size(states, cost)
        self.groups[-1] = Size(self.groups[-1].states + states, self.groups[-1].cost + cost)

    def repeat(self, count: int) -> None:
        states, cost, _ = self.last
        self.add(states * (count - 1), cost * (count - 1))
        self.last = Size(states * count, cost * count)

    def class_cost(self, first: str) -> int:
        """Parse a class and the classes in it to its end, and return its cost."""
        depth, total, before = 1, 5 if "^" in first else 1, ""
        in_range = False
        for part in self.parts:
            depth += {"[": 1, "]": -1}.get(part[0], 0)
            if not depth:
                break
            total += _range_cost(before, part) if in_range else _cost(part) - 1
            in_range = part == "-"
            before = before if in_range else part
        return total


def _cost(part: str) -> int:
    return _COSTS.get(part[:2], 1)


def _range_cost(first: str, last: str) -> int:
    ends = [_IN_CHARACTER.fullmatch(end) for end in (first, last)]
    codes = [int(end[1], 16) if end[1] else ord(end[2]) for end in ends if end]
    return (codes[-1] - codes[0]) // _CODE_POINTS_PER_COST if len(codes) == 2 else 1


def _count(part: str) -> int:
    """Return the larger number of a repetition: 5 for `{2,5}`. Return 0 for other parts."""
    if part[0] != "{":
        return 0
    return max((int(number[:9]) for number in re.findall("[0-9]+", part)), default=0)
