"""The similarity of two texts, and dates and times that models write."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import product

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
