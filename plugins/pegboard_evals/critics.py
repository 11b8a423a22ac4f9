"""Critics: each scores one argument of a tool call, from 0 to its weight."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import product
from typing import Any

from pegboard_evals.weights import Weight, number_of

Verdict = dict[str, Any]
"""The members `match`, which is True, False, or None without a judgement, and `score`, from 0 to the weight."""


@dataclass
class Critic(ABC):
    """The base class of critics. Authors write their own by overriding `evaluate`.

    Attributes:
        critic_field: the name of the argument.
        weight: its importance: a number from 0, or a `FuzzyWeight`.

    Raises:
        WeightError: the weight is below 0.
    """

    critic_field: str
    weight: Weight

    def __post_init__(self) -> None:
        number_of(self.weight)

    @property
    def resolved_weight(self) -> float:
        """The weight as a number."""
        return number_of(self.weight)

    @abstractmethod
    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return `{"match": ..., "score": ...}` for two values. The score is at most `resolved_weight`."""

    def verdict(self, is_match: bool, share: float | None = None) -> Verdict:
        """Return a verdict.

        Args:
            is_match: True if the values agree.
            share: the part of the weight that the score is, from 0 to 1; by default all or nothing.
        """
        return {"match": is_match, "score": self.resolved_weight * (float(is_match) if share is None else share)}


@dataclass
class NoneCritic(Critic):
    """Does not judge the argument. Arguments without a critic have this one."""

    weight: Weight = 0.0

    def __post_init__(self) -> None:
        self.weight = 0.0

    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return a verdict without a judgement."""
        return {"match": None, "score": 0.0, "is_criticized": False}


@dataclass
class BinaryCritic(Critic):
    """Requires equal values. The actual value is converted to the type of the expected one, if that is possible."""

    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return the whole weight for equal values, otherwise 0."""
        actual = None if actual == "None" else actual
        if expected not in (None, "None") and actual is not None:
            with suppress(TypeError, ValueError):
                actual = type(expected)(actual)
        return self.verdict(bool(expected == actual))


@dataclass
class NumericCritic(Critic):
    """Scores numbers by their distance. A distance beyond the range scores below 0, as in `arcade_evals`.

    Attributes:
        value_range: the least and the greatest value. A distance of the whole range scores 0.
        match_threshold: the share of the weight from which the numbers agree.

    Raises:
        ValueError: the range is empty.
    """

    value_range: tuple[float, float]
    match_threshold: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value_range[0] >= self.value_range[1]:
            raise ValueError(f"value_range {self.value_range} is empty: write the least value, then the greatest")

    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return the weight, less the distance in parts of the range."""
        least, most = self.value_range
        places = [(float(value) - least) / (most - least) for value in (expected, actual)]
        share = 1 - abs(places[0] - places[1])
        return self.verdict(share >= self.match_threshold, share)


@dataclass
class SimilarityCritic(Critic):
    """Scores texts by the cosine of their TF-IDF vectors. The order of words does not count.

    Attributes:
        similarity_threshold: the similarity from which the texts agree.
        metric: the measure; only "cosine".

    Raises:
        ValueError: the measure is unknown.
    """

    similarity_threshold: float = 0.8
    metric: str = "cosine"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric != "cosine":
            raise ValueError(f"there is no metric {self.metric!r}: use 'cosine'")

    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return the similarity in parts of the weight. Lists are joined, other values are written out."""
        texts = [" ".join(map(str, value)) if isinstance(value, list) else str(value) for value in (expected, actual)]
        if not all(text.strip() for text in texts):
            return self.verdict(texts[0].strip() == texts[1].strip())
        similarity = cosine_similarity(*texts)
        if similarity is None:
            return self.verdict(texts[0] == texts[1])
        return self.verdict(similarity >= self.similarity_threshold, min(similarity, 1.0))


@dataclass
class DatetimeCritic(Critic):
    """Scores dates and times by their distance.

    Attributes:
        tolerance: the distance up to which they agree.
        max_difference: the distance from which the score is 0.
    """

    tolerance: timedelta = timedelta(seconds=500)
    max_difference: timedelta = timedelta(hours=2)

    def evaluate(self, expected: Any, actual: Any) -> Verdict:
        """Return the whole weight up to the tolerance, and a part above it.

        Zones are ignored unless both times have one.
        """
        try:
            moments = [read_datetime(value) for value in (expected, actual)]
        except (AttributeError, TypeError, ValueError):
            return self.verdict(False)
        if any(moment.tzinfo is None for moment in moments):
            moments = [moment.replace(tzinfo=None) for moment in moments]
        distance = abs(moments[0] - moments[1])
        if distance <= self.tolerance:
            return self.verdict(True)
        return self.verdict(False, max(0.0, 1 - distance / self.max_difference))


# --- The similarity of two texts, and dates and times that models write.


_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "")
_TIMES = ("", "%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I %p", "%I:%M%p", "%I%p")
_ZONES = ("", "%z")
_FILLING = (",", r"\bat\b", r"(?<=\d)(?:st|nd|rd|th)\b", r"(?<=\d)T(?=\d)", r"^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*")
_IDF_OF_ONE = 1 + math.log(3 / 2)
"""The weight of a word that only one of two texts has; that of a word in both is 1 (smoothed inverse frequency)."""


def cosine_similarity(first: str, second: str) -> float | None:
    """Return the cosine of the TF-IDF vectors of two texts, from 0 to 1. Words have at least two characters.

    Returns:
        The similarity, or None if no text has a word.
    """
    counts = [Counter(re.findall(r"\b\w\w+\b", text.lower())) for text in (first, second)]
    if not any(counts):
        return None
    shared = counts[0].keys() & counts[1].keys()
    vectors = [
        {word: count * (1 if word in shared else _IDF_OF_ONE) for word, count in counter.items()} for counter in counts
    ]
    lengths = [math.sqrt(sum(value * value for value in vector.values())) for vector in vectors]
    return sum(vectors[0][word] * vectors[1][word] for word in shared) / (math.prod(lengths) or 1)


def read_datetime(text: str) -> datetime:
    """Return the date and time of a text in ISO 8601, RFC 5322 or a usual form in English. A missing date is today.

    Raises:
        TypeError: the value is not a text.
        ValueError: the text has no known form.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        words = re.sub("|".join(_FILLING), " ", text)
        words = re.sub(r" (UTC|GMT|Z)$", " +0000", " ".join(words.split()))
        words = re.sub(r" (?![AP]M)[A-Z]{2,4}$", "", words)  # names of zones are ambiguous
    for date, time, zone in product(_DATES, _TIMES, _ZONES):
        try:
            moment = datetime.strptime(words or "-", " ".join(filter(None, (date, time, zone))))  # noqa: DTZ007 - see `zone`
        except ValueError:
            continue
        today = datetime.now()  # noqa: DTZ005 - a local date
        return moment if date else moment.replace(today.year, today.month, today.day)
    return parsedate_to_datetime(text)
