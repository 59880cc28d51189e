"""The nearest tables of all pairs of attributes that agree, and are not negative.

Tables of pairs state each attribute several times, as margins. With v for the estimated
cells and n for the people in each table, the tables x minimize the sum of (x - v)^2 over
all cells such that

    (1) each table adds up to n, and all margins of an attribute agree;
    (2) x >= 0.

(1) alone is a linear projection. Let T be the table of attributes a and b with s_a and s_b
categories, and m_a the margin that all tables of a are to have. The nearest table with
margins m_a and m_b is T + r / s_b + c / s_a - g / (s_a s_b), where r, c and g are what its
rows, columns and total lack. The squared distance separates into attributes: m_a is the
average of its margins in all tables, weighted by 1 / s_b, moved to the sum n.

Dykstra's algorithm alternates (1) and (2): Boyle and Dykstra, "A method for finding
projections onto the intersection of convex sets in Hilbert spaces" (1986).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# About 50 steps suffice for 120 tables of 20 by 20; nothing is returned half done.
_MOST_STEPS = 20_000


def agreeing_tables(
    tables: Sequence[Floats], sizes: Sequence[int], total: float
) -> list[Floats]:
    """Returns the nearest tables of all pairs that are not negative and agree.

    Args:
        tables: Of each pair of attributes, as of `itertools.combinations`, with the shape
            (categories of the first, categories of the second).
        sizes: Numbers of categories.
        total: n, above 0.

    Returns:
        Tables, none negative, in which conditions hold up to 1e-9 n in each cell.

    Raises:
        InvalidInputError: If the search does not end.
    """
    corrections = [np.zeros_like(table) for table in tables]
    positive = list(tables)
    for _ in range(_MOST_STEPS):
        agreed = _agreed(positive, sizes, total)
        shifted = [
            table + shift for table, shift in zip(agreed, corrections, strict=True)
        ]
        positive = [np.maximum(table, 0.0) for table in shifted]
        # Only the half-line x >= 0 needs its corrections: (1) is an affine space.
        corrections = [
            before - after for before, after in zip(shifted, positive, strict=True)
        ]
        gaps = zip(positive, agreed, strict=True)
        if (
            max(float(np.abs(table - near).max()) for table, near in gaps)
            < 1e-9 * total
        ):
            return positive
    raise InvalidInputError("Expected tables that are near possible ones.")


def _agreed(
    tables: Sequence[Floats], sizes: Sequence[int], total: float
) -> list[Floats]:
    """Returns the nearest tables for which (1) holds."""
    pairs = list(combinations(range(len(sizes)), 2))
    sums = [np.zeros(size) for size in sizes]
    weights = np.zeros(len(sizes))
    for (a, b), table in zip(pairs, tables, strict=True):
        sums[a] += table.sum(axis=1) / sizes[b]
        sums[b] += table.sum(axis=0) / sizes[a]
        weights[a] += 1.0 / sizes[b]
        weights[b] += 1.0 / sizes[a]
    means = [
        answers / weight for answers, weight in zip(sums, weights.tolist(), strict=True)
    ]
    margins = [mean + (total - mean.sum()) / mean.size for mean in means]
    return [
        table
        + ((margins[a] - table.sum(axis=1)) / sizes[b])[:, None]
        + (margins[b] - table.sum(axis=0)) / sizes[a]
        - (total - table.sum()) / (sizes[a] * sizes[b])
        for (a, b), table in zip(pairs, tables, strict=True)
    ]
