"""Repeated effects: a call that asks runs again with each answer (2026-07-28) and must not repeat an effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from pegboard_testing.effects import Effect, Watch
from pegboard_testing.in_memory_host import Observed


class RepeatedEffects(AssertionError):
    """A tool that asks questions repeats an effect with each answer, because it runs again from the start.

    Attributes:
        name: the name of the tool or prompt on the wire, or the URI of the resource.
        effects: the repeated effects.
    """

    def __init__(self, name: str, effects: Iterable[Effect]) -> None:
        self.name = name
        self.effects: tuple[Effect, ...] = tuple(effects)
        lines = "".join(f"\n  {effect}\n{_places(effect)}" for effect in self.effects)
        super().__init__(
            f"{name} runs again from the start with each answer, and repeated an effect:{lines}\n"
            "move it into a step, `await context.once(key, function, ...)`, or after the last question"
        )


def _places(effect: Effect) -> str:
    return "\n".join(f"    {place}" for place in effect.places) or "    in unknown code"


class Replay:
    """The rounds of one call.

    Args:
        name: the name of the tool or prompt, or the URI.
        observed: the observations within the host's calls.
        repeats: the kinds of effects that may be repeated, as globs.
    """

    def __init__(self, name: str, observed: Observed, repeats: Collection[str]) -> None:
        self._name = name
        self._observed = observed
        self._repeats = repeats
        self._watches: list[Watch] = []

    def begin(self, request_id: int) -> None:
        """Watch a round, by the id of its request."""
        self._observed.watches[request_id] = watch = Watch()
        self._watches.append(watch)

    def check(self) -> None:
        """Check a round that has ended.

        Raises:
            RepeatedEffects: it repeated an effect of an earlier round.
        """
        *before, last = self._watches
        done = {effect.key for watch in before for effect in watch.effects}
        again = {effect.key: effect for effect in last.effects if effect.key in done and not self._may(effect.kind)}
        if again:
            raise RepeatedEffects(self._name, again.values())

    def _may(self, kind: str) -> bool:
        return any(fnmatchcase(kind, pattern) for pattern in self._repeats)
