"""The first summands of the bound, against sums over all combinations of losses."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.cover_count import CountDistribution, cover_count
from shuffledp.accounting.upper.few_messages import FewMessagesBound
from shuffledp.cover import CellBounds, Cover
from shuffledp.errors import CertificationError

MASSES = np.array([0.2, 0.3, 0.1, 0.4])
DIFFERENCES = np.array([0.9, -0.4, -0.6, 0.0])
BASES = np.array([0.3, 1.1, 1.3, 1.2])
COVER = Cover(np.ones(1), MASSES, DIFFERENCES, BASES)
CHANCE = 0.07


def binomial(trials: int) -> list[float]:
    return [
        math.comb(trials, m) * CHANCE**m * (1 - CHANCE) ** (trials - m)
        for m in range(trials + 1)
    ]


def exact(trials: int, epsilon: float, cover: Cover = COVER) -> float:
    losses = cover.differences - math.expm1(epsilon) * cover.bases
    total = 0.0
    for m, chance in enumerate(binomial(trials)):
        for kinds in itertools.product(range(4), repeat=m + 1):
            weight = math.prod(MASSES[kind] for kind in kinds)
            total += chance * weight * max(sum(losses[list(kinds)]), 0.0) / (m + 1)
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("trials", [0, 1, 5])
def test_all_summands_are_there(trials: int, epsilon: float) -> None:
    count = cover_count(np.array([CHANCE]), np.array([trials]), tail=1e-20)

    bound = FewMessagesBound(COVER, count).delta(epsilon)

    truth = exact(trials, epsilon)
    assert truth <= bound <= truth * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("base", [3.0, 30.0, 1e6, 1e100])
@pytest.mark.parametrize("trials", [1, 3, 5])
def test_losses_far_below_those_above_0_do_not_make_the_lattice_coarse(
    trials: int, base: float
) -> None:
    # No loss above 0 makes up for the second one, once it is low enough.
    steep = replace(COVER, bases=np.array([0.3, base, 1.3, 1.2]))
    count = cover_count(np.array([CHANCE]), np.array([trials]), tail=1e-20)

    bound = FewMessagesBound(steep, count).delta(0.4)

    truth = exact(trials, 0.4, steep)
    assert truth <= bound <= truth * (1 + 1e-3)


def test_more_messages_than_are_looked_at_count_as_the_last_ones() -> None:
    certain = CountDistribution(60, np.ones(1), 0.0)
    fewer = CountDistribution(16, np.ones(1), 0.0)

    assert FewMessagesBound(COVER, certain).delta(0.2) == pytest.approx(
        FewMessagesBound(COVER, fewer).delta(0.2), rel=1e-9
    )


def test_what_was_dropped_counts_in_full() -> None:
    whole = CountDistribution(0, np.array([0.5, 0.5]), 0.0)
    part = CountDistribution(0, np.array([0.5, 0.4]), 0.1)

    full, less = (FewMessagesBound(COVER, c).delta(0.2) for c in (whole, part))

    assert full <= less


def test_losses_that_vary_within_cells_only_raise_the_bound() -> None:
    count = cover_count(np.array([CHANCE]), np.array([20]), tail=1e-20)
    first = np.stack([DIFFERENCES + BASES, BASES])
    cells = CellBounds(0.9 * first, 1.1 * first)
    wide = Cover(np.ones(1), MASSES, DIFFERENCES, BASES, cells)

    bound = FewMessagesBound(wide, count)

    assert FewMessagesBound(COVER, count).delta(0.2) < bound.delta(0.2)
    assert 0.0 < bound.slack(0.2) < 0.2


@pytest.mark.parametrize("people", [60, 150])
def test_the_integral_agrees_where_both_apply(people: int) -> None:
    chances, counts = np.array([CHANCE]), np.array([people])
    few = FewMessagesBound(COVER, cover_count(chances, counts, tail=1e-20))
    integral = ContourBound(COVER, chances, counts.astype(np.float64))

    for epsilon in (0.05, 0.3):
        assert integral.delta(epsilon) <= few.delta(epsilon) * (1 + 1e-6)
        if people == 60:
            assert few.delta(epsilon) <= integral.delta(epsilon) * 1.01


def test_uncovered_messages_are_added() -> None:
    count = cover_count(np.array([CHANCE]), np.array([5]), tail=1e-20)
    uncovered = np.array([[0.01, 0.0], [0.001, 0.02]])
    cover = Cover(np.ones(1), MASSES, DIFFERENCES, BASES, None, uncovered)

    more = FewMessagesBound(cover, count).delta(0.3)

    less = FewMessagesBound(COVER, count).delta(0.3)
    assert more - less == pytest.approx(0.01 - 0.001 * math.exp(0.3), rel=1e-6)


def test_overflow_is_refused() -> None:
    huge = Cover(np.ones(1), MASSES, 1e300 * DIFFERENCES, 1e300 * BASES)
    count = cover_count(np.array([CHANCE]), np.array([5]), tail=1e-20)

    with pytest.raises(CertificationError, match="overflow"):
        FewMessagesBound(huge, count).delta(300.0)
