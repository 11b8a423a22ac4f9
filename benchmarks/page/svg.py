"""Bar charts and line charts as SVG, readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from benchmarks.results import Summary

WIDTH: Final = 760
_INK: Final = "#7a8394"
_LIGHT: Final = "#b9c0cc"
"""The color of an error bar, readable on each color of a bar and beside it."""
_HEAD: Final = 64
_BAR, _STEP = 20, 28
_BARS_LEFT, _BARS_RIGHT = 200, 640
_PLOT: Final = (100, 74, 570, 320)
"""Left, top, right and bottom of the area of lines."""
_LINE_OF_TEXT: Final = 17
_LESS: Final = "median and quartiles; less is better"


@dataclass(frozen=True, slots=True)
class Series:
    """A contender in a chart.

    Attributes:
        name: its name.
        color: its color.
        points: the positions and values of a line. A bar has one point, whose position is ignored.
    """

    name: str
    color: str
    points: tuple[tuple[float, Summary], ...]


def number(value: float) -> str:
    """Return a value in about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def between(value: Summary) -> str:
    """Return the quartiles of a value."""
    return " to ".join(map(number, value.quartiles))


def bars(title: str, unit: str, series: Sequence[Series]) -> str:
    """Return horizontal bars on a linear scale from zero, each with its median and its quartiles."""
    values = [row.points[0][1] for row in series]
    across = _Scale(0, max(value.quartiles[1] for value in values), _BARS_LEFT, _BARS_RIGHT, logarithmic=False)
    parts = []
    for place, (row, value) in enumerate(zip(series, values, strict=True)):
        top, end = _HEAD + place * _STEP, across(value.median)
        width = max(end - _BARS_LEFT, 1)
        first, third = map(across, value.quartiles)
        parts += [
            _text(_BARS_LEFT - 10, top + 15, row.name, "end"),
            f'<rect x="{_BARS_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2" fill="{row.color}"/>',
            _error(f"M{first:.1f} {top + 6}v8m0 -4H{third:.1f}m0 -4v8", _LIGHT),
            _text(max(end, third) + 8, top + 15, number(value.median)),
        ]
    return _picture(_HEAD + len(series) * _STEP + 8, title, f"{unit}; {_LESS}", parts)


def lines(title: str, unit: str, axis: str, series: Sequence[Series], *, logarithmic: bool) -> str:
    """Return lines, each with its name at its end.

    Args:
        title: the title.
        unit: the unit of the values.
        axis: the meaning of the positions.
        series: the lines; their positions are marked on the axis.
        logarithmic: True if both scales are logarithmic. Otherwise they are linear, and values begin at zero.
    """
    left, top, right, bottom = _PLOT
    positions = sorted({x for row in series for x, _ in row.points})
    values = [y for row in series for _, value in row.points for y in (*value.quartiles, value.median)]
    ticks = _powers(min(values), max(values)) if logarithmic else _steps(max(values))
    across = _Scale(positions[0], positions[-1], left, right, logarithmic)
    up = _Scale(ticks[0], ticks[-1], bottom, top, logarithmic)
    parts = []
    for tick in ticks:
        parts.append(f'<path d="M{left} {up(tick):.1f}H{right}" stroke="{_INK}" stroke-opacity=".3"/>')
        parts.append(_text(left - 8, up(tick) + 5, f"{tick:,.10g}", "end"))
    parts += [_text(across(x), bottom + 20, f"{x:,.10g}", "middle") for x in positions]
    parts.append(_text((left + right) / 2, bottom + 42, axis, "middle"))
    for row in series:
        places = [(across(x), up(value.median), *map(up, value.quartiles)) for x, value in row.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _, _ in places)
        parts.append(f'<path d="M{path}" fill="none" stroke="{row.color}" stroke-width="2.5"/>')
        for x, y, first, third in places:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{row.color}"/>')
            parts.append(_error(f"M{x - 4:.1f} {first:.1f}h8m-4 0V{third:.1f}m-4 0h8", row.color))
    ends = [(up(row.points[-1][1].median), row) for row in series]
    parts += [
        f'<path d="M{across(row.points[-1][0]) + 5:.1f} {at:.1f}L{right + 14} {y - 5:.1f}" stroke="{row.color}"'
        f' stroke-opacity=".5"/>' + _text(right + 18, y, row.name, color=row.color)
        for y, (at, row) in _apart(ends)
    ]
    scale = "both scales are logarithmic; " if logarithmic else ""
    return _picture(bottom + 58, title, f"{unit}; {scale}{_LESS}", parts)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def __call__(self, value: float) -> float:
        share = (
            math.log(value / self.low) / math.log(self.high / self.low)
            if self.logarithmic
            else (value - self.low) / (self.high - self.low)
        )
        return self.start + share * (self.end - self.start)


def _powers(least: float, largest: float) -> list[float]:
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(largest))
    return [10.0**power for power in range(first, last + 1)]


def _steps(largest: float) -> list[float]:
    """Return round values from zero to above the largest, three to six of them."""
    power = 10 ** math.floor(math.log10(largest))
    step = next(share * power for share in (0.2, 0.25, 0.5, 1, 2) if largest / (share * power) <= 5)
    return [step * place for place in range(math.ceil(largest / step) + 1)]


def _apart(ends: Sequence[tuple[float, Series]]) -> Iterator[tuple[float, tuple[float, Series]]]:
    """Yield the end of each line with the height of its name. Names keep their order and do not overlap."""
    ordered = sorted(ends, key=lambda end: end[0])
    heights: list[float] = []
    for at, _ in ordered:
        heights.append(max(at + 5, heights[-1] + _LINE_OF_TEXT if heights else 0))
    excess = max(heights[-1] - _PLOT[3] - 5, 0)
    for place in reversed(range(len(heights))):
        below = heights[place + 1] - _LINE_OF_TEXT if place + 1 < len(heights) else heights[place] - excess
        heights[place] = min(heights[place], below)
    yield from zip(heights, ordered, strict=True)


def _error(path: str, color: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'


def _picture(height: float, title: str, subtitle: str, parts: Sequence[str]) -> str:
    body = "\n  ".join(
        [
            f"<title>{escape(title)}</title>",
            _text(10, 24, title, weight=' font-weight="600"'),
            _text(10, 44, subtitle, weight=' font-size="13"'),
            *parts,
        ]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
        f' font-family="system-ui, sans-serif" font-size="14" role="img">\n  {body}\n</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str = "start", color: str = _INK, weight: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'
