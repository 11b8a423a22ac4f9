"""A small grammar as a regular expression, and whether some text can be read by it in two ways. It knows no URIs.

Each piece is a regular expression and, beside it, its positions (Glushkov's automaton): a grammar is ambiguous when two
different walks over positions read the same text, which a walk over pairs of positions finds.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_UNRESERVED = r"A-Za-z0-9\-._~\u0080-\U0010ffff"
_UNIT = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)


class Alphabet(NamedTuple):
    """What the characters of a value may be: unreserved, an encoded octet, or one of a few more."""

    more: frozenset[str]
    regex: str

    @classmethod
    def of(cls, more: set[str]) -> Alphabet:
        """An alphabet with these reserved characters."""
        return cls(frozenset(more), rf"(?:[{_UNRESERVED}{re.escape(''.join(sorted(more)))}]|%[0-9A-F]{{2}})")


class Piece(NamedTuple):
    """A part of a grammar.

    Attributes:
        regex: what it matches.
        nullable: it matches nothing, too.
        first: the positions it may begin with.
        last: those it may end with.
    """

    regex: str
    nullable: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING: frozenset[int] = frozenset()


class Grammar:
    """Makes pieces, and remembers which position may follow which."""

    def __init__(self) -> None:
        self._accepts: list[str | Alphabet] = []
        self._owners: list[str | None] = []
        self._follow: list[set[int]] = []
        self._first: frozenset[int] = _NOTHING
        self._last: frozenset[int] = _NOTHING

    def literal(self, text: str) -> Piece:
        """Just this text, in which encoded octets are one character."""
        units = [unit.upper() if len(unit) > 1 else unit for unit in _UNIT.findall(text)]
        positions = [self._position(unit, None) for unit in units]
        for one, following in pairwise(positions):
            self._follow[one].add(following)
        regex = "".join(map(re.escape, units))
        return Piece(regex, not units, frozenset(positions[:1]), frozenset(positions[-1:]))

    def several(self, alphabet: Alphabet, owner: str) -> Piece:
        """One or more characters of an alphabet, the value of `owner`."""
        position = self._position(alphabet, owner)
        self._follow[position].add(position)
        return Piece(f"{alphabet.regex}+", False, frozenset((position,)), frozenset((position,)))

    def then(self, *pieces: Piece) -> Piece:
        """One after the other."""
        whole = Piece("", True, _NOTHING, _NOTHING)
        for piece in pieces:
            self._link(whole.last, piece.first)
            whole = Piece(
                whole.regex + piece.regex,
                whole.nullable and piece.nullable,
                whole.first | piece.first if whole.nullable else whole.first,
                whole.last | piece.last if piece.nullable else piece.last,
            )
        return whole

    def maybe(self, piece: Piece) -> Piece:
        """Once or not at all."""
        return piece._replace(regex=f"(?:{piece.regex})?", nullable=True)

    def many(self, piece: Piece) -> Piece:
        """One time or more."""
        self._link(piece.last, piece.first)
        return piece._replace(regex=f"(?:{piece.regex})+")

    def group(self, name: str, piece: Piece) -> Piece:
        """The same, captured by that name."""
        return piece._replace(regex=f"(?P<{name}>{piece.regex})")

    def finish(self, whole: Piece) -> None:
        """Say which piece is the whole."""
        self._first, self._last = whole.first, whole.last

    def ambiguity(self) -> tuple[str | None, str | None] | None:
        """The owners of two positions that one text may lead to, on its way to an end by both; None without any."""
        pairs = self._reachable()
        alive = {(one, other) for one in self._last for other in self._last} & pairs.keys()
        waiting = list(alive)
        while waiting:
            for before in pairs[waiting.pop()]:
                if before not in alive:
                    alive.add(before)
                    waiting.append(before)
        clashes = sorted(pair for pair in alive if pair[0] != pair[1])
        owned = [(self._owners[one], self._owners[other]) for one, other in clashes]
        return max(owned, key=lambda names: len({name for name in names if name}), default=None)

    def _reachable(self) -> dict[tuple[int, int], set[tuple[int, int]]]:
        """Every pair of positions that one text leads to, with the pairs before it."""
        pairs: dict[tuple[int, int], set[tuple[int, int]]] = {}
        waiting = []
        for pair in self._together(self._first, self._first):
            pairs[pair] = set()
            waiting.append(pair)
        while waiting:
            pair = waiting.pop()
            for following in self._together(self._follow[pair[0]], self._follow[pair[1]]):
                if following not in pairs:
                    pairs[following] = set()
                    waiting.append(following)
                pairs[following].add(pair)
        return pairs

    def _together(self, ones: frozenset[int] | set[int], others: frozenset[int] | set[int]) -> list[tuple[int, int]]:
        return [(one, other) for one in ones for other in others if _meet(self._accepts[one], self._accepts[other])]

    def _link(self, last: frozenset[int], first: frozenset[int]) -> None:
        for position in last:
            self._follow[position] |= first

    def _position(self, accepts: str | Alphabet, owner: str | None) -> int:
        self._accepts.append(accepts)
        self._owners.append(owner)
        self._follow.append(set())
        return len(self._accepts) - 1


def _meet(one: str | Alphabet, other: str | Alphabet) -> bool:
    """Whether some character is accepted by both."""
    if isinstance(one, Alphabet):
        return isinstance(other, Alphabet) or _holds(one, other)
    return _holds(other, one) if isinstance(other, Alphabet) else one == other


def _holds(alphabet: Alphabet, unit: str) -> bool:
    return len(unit) > 1 or unit in alphabet.more or unit not in ":/?#[]@!$&'()*+,;="
