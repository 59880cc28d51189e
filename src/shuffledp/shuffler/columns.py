"""Shuffle of each column apart, which unlinks the numbers of a report from each other.

People hide within their cohort. There, every column of the reports gets an order of its
own. Privacy levels get yet another order, or stay with each single number.
"""

import itertools

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports


def shuffled_columns(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Shuffles every column within its cohort, and within its level if that is linked."""
    levels, flat = reports.levels, reports.messages.ndim == 1
    if levels is None:
        raise InvalidInputError("Expected levels where columns are shuffled apart.")
    cohorts = reports.cohorts
    if cohorts is None:
        cohorts = np.zeros(levels.size, dtype=np.uint8)
    # People of one group - a cohort or, with linked levels, a level of one - are made
    # contiguous, and each group is permuted.
    if reports.linked:
        order = np.lexsort((levels, cohorts))
    else:
        order = np.argsort(cohorts, kind="stable")
    cohorts, levels = cohorts[order], levels[order]
    new = cohorts[1:] != cohorts[:-1]
    if reports.linked:
        new |= levels[1:] != levels[:-1]
    ends = [0, *(np.flatnonzero(new) + 1).tolist(), order.size]
    entries = reports.messages[:, None] if flat else reports.messages
    messages = np.empty_like(entries, order="C")
    for start, end in itertools.pairwise(ends):
        # One row per column while they are permuted: a column itself is not contiguous.
        columns = np.ascontiguousarray(entries[order[start:end]].T)
        for column in columns:
            column[:] = column[rng.permutation(end - start)]
        messages[start:end] = columns.T
        if not reports.linked:
            levels[start:end] = levels[start:end][rng.permutation(end - start)]
    return ShuffledReports(
        reports.identity,
        messages[:, 0] if flat else messages,
        levels,
        "columns",
        None if reports.cohorts is None else cohorts,
    )
