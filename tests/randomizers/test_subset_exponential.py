"""The subset exponential mechanism: densities by enumeration, and laws of draws."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.subset_exponential import (
    SubsetExponential,
    best_subset_exponential,
)
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.types import Floats

SMALL = [(6, 2, 2, 1.0), (7, 3, 2, 0.5), (6, 2, 4, 2.0), (5, 1, 2, 3.0), (6, 4, 1, 0.0)]


def enumerated(held: set[int], d: int, k: int, epsilon: float) -> Floats:
    """The chance of every message, of sets in lexicographic order."""
    weights = np.array(
        [
            math.exp(epsilon) if held & set(message) else 1.0
            for message in itertools.combinations(range(d), k)
        ]
    )
    law: Floats = weights / weights.sum()
    return law


@pytest.mark.parametrize(("d", "s", "k", "epsilon"), SMALL)
def test_densities_are_those_of_an_enumeration(
    d: int, s: int, k: int, epsilon: float
) -> None:
    mechanism = SubsetExponential(d, s, k, epsilon)
    messages = list(itertools.combinations(range(d), k))

    law = enumerated(set(range(s)), d, k, epsilon)
    other = enumerated(set(range(d - s, d)), d, k, epsilon)

    keep = law[[0 in message for message in messages]].sum()
    flip = law[[d - 1 in message for message in messages]].sum()
    assert mechanism.densities() == pytest.approx((keep, flip), rel=1e-12)
    variation = np.maximum(law - other, 0.0).sum()
    assert mechanism.total_variation == pytest.approx(variation, abs=1e-14)
    assert law.max() / law.min() <= math.exp(epsilon) * (1.0 + 1e-12)


@pytest.mark.parametrize(("d", "s", "k", "epsilon"), SMALL)
def test_messages_follow_the_law(d: int, s: int, k: int, epsilon: float) -> None:
    mechanism, n = SubsetExponential(d, s, k, epsilon), 60_000
    held = np.random.default_rng(3).permutation(d)[:s]
    numbers = {m: i for i, m in enumerate(itertools.combinations(range(d), k))}

    drawn = mechanism.randomize(np.tile(held, (n, 1)), rng=np.random.default_rng(4))

    seen = np.bincount(
        [numbers[tuple(row)] for row in np.sort(drawn, axis=1).tolist()],
        minlength=len(numbers),
    )
    law = enumerated(set(held.tolist()), d, k, epsilon)
    # Five standard errors each of some 70: a false alarm in 25,000 seeds.
    assert np.all(np.abs(seen - n * law) <= 5.0 * np.sqrt(n * law * (1.0 - law)))


def test_with_one_item_it_is_subset_selection() -> None:
    keep, flip = SubsetSelection(12, 3).densities(np.array([1.5]))

    assert SubsetExponential(12, 1, 3, 1.5).densities() == pytest.approx(
        (keep[0], flip[0]), rel=1e-12
    )
    # The best size of subset selection is near k / (e^eps + 1).
    assert best_subset_exponential(100, 1, 1.0).subset_size in (26, 27, 28)


def test_a_budget_of_nothing_says_nothing() -> None:
    mechanism = SubsetExponential(8, 2, 3, 0.0)

    keep, flip = mechanism.densities()

    assert keep == pytest.approx(flip, rel=1e-12)
    assert mechanism.error(100) == math.inf
    assert mechanism.total_variation == 0.0


@pytest.mark.parametrize(
    ("d", "s", "k", "epsilon"),
    [(1, 1, 1, 1.0), (6, 6, 1, 1.0), (6, 2, 5, 1.0), (6, 2, 0, 1.0), (6, 2, 2, -1.0)],
)
def test_nonsense_is_refused(d: int, s: int, k: int, epsilon: float) -> None:
    with pytest.raises(InvalidInputError):
        SubsetExponential(d, s, k, epsilon)
    with pytest.raises(InvalidInputError):
        SubsetExponential(6, 2, 2, float("nan"))
