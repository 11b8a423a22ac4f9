"""Calls that ask are made again with each answer (2026-07-28); this finds what they do again that they must not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from pegboard.testing.effects import Effect, Watch
from pegboard.testing.in_memory_host import Observed


class RepeatedEffects(AssertionError):
    """A tool that asks does something again with each answer, as it runs again from the top.

    Attributes:
        name: the tool's name on the wire, or the URI or name of what else asked.
        effects: what it did again.
    """

    def __init__(self, name: str, effects: Iterable[Effect]) -> None:
        self.name = name
        self.effects = tuple(effects)
        lines = "".join(f"\n  {effect}\n{_places(effect)}" for effect in self.effects)
        super().__init__(
            f"{name} runs again from the top with each answer, and did again what it had done before:{lines}\n"
            "put it into a step, `await context.once(key, function, ...)`, or after the last question"
        )


def _places(effect: Effect) -> str:
    return "\n".join(f"    {place}" for place in effect.places) or "    in code that cannot be told"


class Replay:
    """The rounds of one call.

    Args:
        name: of what is called.
        observed: what sees into the host's calls.
        repeats: the kinds of effects that may be repeated, as globs.
    """

    def __init__(self, name: str, observed: Observed, repeats: Collection[str]) -> None:
        self._name = name
        self._observed = observed
        self._repeats = repeats
        self._watches: list[Watch] = []

    def begin(self, request_id: int) -> None:
        """A round begins, by this request."""
        self._observed.watches[request_id] = watch = Watch()
        self._watches.append(watch)

    def check(self) -> None:
        """A round has ended.

        Raises:
            RepeatedEffects: it did again what one before it did.
        """
        *before, last = self._watches
        done = {effect.key for watch in before for effect in watch.effects}
        again = {effect.key: effect for effect in last.effects if effect.key in done and not self._may(effect.kind)}
        if again:
            raise RepeatedEffects(self._name, again.values())

    def _may(self, kind: str) -> bool:
        return any(fnmatchcase(kind, pattern) for pattern in self._repeats)
