"""The assignment problem: pairs of rows and columns with the greatest sum."""

from __future__ import annotations

import math
from collections.abc import Sequence


def best_pairs(scores: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row of a square matrix, so that the sum of the scores is the greatest.

    Each row takes its column along the shortest augmenting path (D. F. Crouse, "On implementing 2D rectangular
    assignment algorithms", 2016). Of equal paths, the one to a free column is taken.
    """
    size = len(scores)
    row_prices = [0.0] * size
    column_prices = [0.0] * size
    row_of = [-1] * size
    column_of = [-1] * size
    for start in range(size):
        lengths = [math.inf] * size
        previous = [-1] * size
        open_columns = list(reversed(range(size)))
        visited = []
        row, reached, end = start, 0.0, -1
        while end < 0:
            for column in open_columns:
                length = reached - scores[row][column] - row_prices[row] - column_prices[column]
                if length < lengths[column]:
                    previous[column] = row
                    lengths[column] = length
            place = _nearest(open_columns, lengths, row_of)
            column = open_columns[place]
            reached = lengths[column]
            open_columns[place] = open_columns[-1]
            open_columns.pop()
            visited.append(column)
            row, end = row_of[column], column if row_of[column] < 0 else -1
        row_prices[start] += reached
        for column in visited[:-1]:
            row_prices[row_of[column]] += reached - lengths[column]
        for column in visited:
            column_prices[column] -= reached - lengths[column]
        row = -1
        while row != start:
            row = previous[end]
            row_of[end] = row
            column_of[row], end = end, column_of[row]
    return column_of


def _nearest(columns: Sequence[int], lengths: Sequence[float], row_of: Sequence[int]) -> int:
    """Return the place of the column with the shortest path. Of equal ones, prefer the last free, else the first."""
    best = 0
    for place, column in enumerate(columns):
        is_free = row_of[column] < 0
        if lengths[column] < lengths[columns[best]] or (is_free and lengths[column] == lengths[columns[best]]):
            best = place
    return best
