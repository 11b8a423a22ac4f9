"""The assignment problem: pairs of rows and columns with the greatest sum."""

from __future__ import annotations

import math
from collections.abc import Sequence


def best_pairs(scores: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row of a square matrix, so that the sum of the scores is the greatest.

    Each row takes its column along the shortest augmenting path (D. F. Crouse, "On implementing 2D rectangular
    assignment algorithms", 2016). Of equal paths, the one to a free column is taken: the last, else the first.
    """
    size = len(scores)
    row_prices = [0.0] * size
    column_prices = [0.0] * (size + 1)
    row_of = [-1] * (size + 1)
    for start in range(size):
        column = size  # a column beside the matrix, where the path of the row begins
        row_of[column] = start
        lengths = [*([math.inf] * size), 0.0]
        previous = [size] * size
        open_columns = list(reversed(range(size)))
        visited: list[int] = []
        while row_of[column] >= 0:
            row = row_of[column]
            reached = lengths[column]
            visited.append(column)
            for other in open_columns:
                length = reached - scores[row][other] - row_prices[row] - column_prices[other]
                if length < lengths[other]:
                    lengths[other] = length
                    previous[other] = column
            ends = [(lengths[other], row_of[other] >= 0) for other in open_columns]
            place = min(range(len(ends)), key=lambda end: (ends[end], end if ends[end][1] else -end))
            column = open_columns[place]
            open_columns[place] = open_columns[-1]
            open_columns.pop()
        for other in visited:
            row_prices[row_of[other]] += lengths[column] - lengths[other]
            column_prices[other] -= lengths[column] - lengths[other]
        while column != size:
            row_of[column] = row_of[previous[column]]
            column = previous[column]
    return sorted(range(size), key=row_of.__getitem__)
