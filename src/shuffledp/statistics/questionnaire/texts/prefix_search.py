"""A search for codes that many people share, by prefixes that grow layer by layer.

A prefix that m people share has, on every layer, a count of about m above the others. On
layer l, with deviation s, it stays if for each number w of last layers

    sum of the last w counts >= w m - z s sqrt(w),

where counts above m + s are cut to that. A single layer is a weak test, and siblings that
pass it fail on the next layers; sums over several are a strong one. Sums over the last
layers alone matter because a sibling shares the counts of all layers before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.statistics.questionnaire.hashed.bucket_hash import Codes
from shuffledp.statistics.questionnaire.hashed.score_test import bulk
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.types import Floats

# z: deviations by which the sum of a window may fall short.
SHORTFALL = 3.0
# Prefixes of a layer that are searched further: those of the widest margins.
MOST_CANDIDATES = 2**17
# Children that are tried at once: a few times 30 MB.
_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Candidates:
    """Codes that passed all layers.

    Attributes:
        codes: Shape (candidates,).
        left_out: Prefixes that passed and were left out, as too many did.
    """

    codes: Codes
    left_out: int


def search_codes(
    counts: Sequence[Floats],
    noise_deviations: Sequence[float],
    layout: PrefixLayout,
    *,
    least: float,
) -> Candidates:
    """Returns codes that about `least` people share, or more.

    Args:
        counts: Unbiased counts of each layer's buckets.
        noise_deviations: Of each layer's counts, without other people's texts.
        layout: Of the collection.
        least: m, above 0.
    """
    prefixes = _Prefixes(np.zeros(1, np.uint64), np.zeros((1, 0)), np.full(1, np.inf))
    variances: list[float] = []
    left_out = 0
    for layer, values in enumerate(counts):
        middle, spread = bulk(values)
        deviation = max(spread, noise_deviations[layer])
        variances.append(deviation**2)
        scores = np.minimum(values - middle, least + deviation)
        floor = least - SHORTFALL * deviation
        step = layout.widths[layer] - (layout.widths[layer - 1] if layer else 0)
        rows = max(_AT_ONCE >> step, 1)
        parts = [
            _children(
                prefixes.at(slice(first, first + rows)), scores, layout, layer, floor
            ).passing(variances, least)
            # An empty layer has an empty part.
            for first in range(0, max(prefixes.codes.size, 1), rows)
        ]
        children = _Prefixes.joined(parts)
        prefixes = children.best(MOST_CANDIDATES)
        left_out += children.codes.size - prefixes.codes.size
    return Candidates(prefixes.codes, left_out)


@dataclass(frozen=True, eq=False)
class _Prefixes:
    """Prefixes, with scores of each layer so far and the margin of their worst window."""

    codes: Codes
    history: Floats
    margins: Floats

    @staticmethod
    def joined(parts: "Sequence[_Prefixes]") -> "_Prefixes":
        return _Prefixes(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.history for part in parts]),
            np.concatenate([part.margins for part in parts]),
        )

    def best(self, num_kept: int) -> "_Prefixes":
        if self.codes.size <= num_kept:
            return self
        order = np.argsort(-self.margins, kind="stable")[:num_kept]
        return self.at(np.sort(order))

    def passing(self, variances: Sequence[float], least: float) -> "_Prefixes":
        """Returns the prefixes whose windows all reach the least."""
        remaining = self
        for width in range(1, len(variances) + 1):
            deviation = math.sqrt(math.fsum(variances[-width:]))
            sums = remaining.history[:, -width:].sum(axis=1)
            margins = (sums - width * least) / deviation
            worst_margins = np.minimum(remaining.margins, margins)
            remaining = _Prefixes(remaining.codes, remaining.history, worst_margins)
            remaining = remaining.at(margins >= -SHORTFALL)
        return remaining

    def at(
        self, selection: slice | NDArray[np.bool_] | NDArray[np.int64]
    ) -> "_Prefixes":
        return _Prefixes(
            self.codes[selection], self.history[selection], self.margins[selection]
        )


def _children(
    parents: "_Prefixes",
    scores: Floats,
    layout: PrefixLayout,
    layer: int,
    floor: float,
) -> _Prefixes:
    """Returns children whose own score is high enough, with it added to their history."""
    width = layout.widths[layer] - (layout.widths[layer - 1] if layer else 0)
    last = np.arange(2**width, dtype=np.uint64)
    children = ((parents.codes[:, None] << np.uint64(width)) | last).ravel()
    own_scores = scores[layout.layer_buckets(children, layer)]
    # A window of one layer: most children end here.
    stays = np.flatnonzero(own_scores >= floor)
    history = np.column_stack([parents.history[stays // last.size], own_scores[stays]])
    return _Prefixes(children[stays], history, np.full(stays.size, np.inf))
