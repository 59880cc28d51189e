"""The enumerated bound, against exact rational sums, and the integral of the same."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from shuffledp.accounting.upper import blanket, enumerated
from shuffledp.accounting.upper.blanket import blanket_bounds
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.cover_count import CountDistribution, cover_count
from shuffledp.accounting.upper.enumerated import (
    EnumeratedBound,
    can_enumerate,
    enumerated_bound,
)
from shuffledp.cover import CellBounds, Cover
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.randomizers.local_hashing import LocalHashing


def random_cover(rng: np.random.Generator, kinds: int) -> Cover:
    """Returns densities of two values against omega, and of omega itself."""
    masses = rng.dirichlet(np.ones(kinds))
    first, second = rng.uniform(0.2, 2.0, (2, kinds))
    first, second = first / (first @ masses), second / (second @ masses)
    return Cover(np.ones(1), masses, first - second, second)


def ways(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in ways(total - first, kinds - 1):
            yield first, *rest


def exact(cover: Cover, distribution: CountDistribution, growth: Fraction) -> Fraction:
    """Returns the sum in rational numbers, at e^epsilon - 1 = growth."""
    losses = [
        Fraction(difference) - growth * Fraction(base)
        for difference, base in zip(
            cover.differences.tolist(), cover.bases.tolist(), strict=True
        )
    ]
    masses = [Fraction(mass) for mass in cover.masses.tolist()]
    total = Fraction(0)
    for others, chance in enumerate(distribution.weights.tolist(), distribution.start):
        messages = others + 1
        for counts in ways(messages, len(masses)):
            weight = Fraction(math.factorial(messages))
            for count, mass in zip(counts, masses, strict=True):
                weight *= mass**count / math.factorial(count)
            pairs = zip(counts, losses, strict=True)
            loss = sum((count * each for count, each in pairs), Fraction(0))
            total += Fraction(chance) * weight * max(loss, Fraction(0)) / messages
    return total


@pytest.mark.parametrize("growth", [0.0, 0.125, 0.75, 3.0])
@pytest.mark.parametrize("kinds", [2, 3, 4])
def test_it_is_just_above_the_exact_sum(kinds: int, growth: float) -> None:
    rng = np.random.default_rng(kinds)
    cover = random_cover(rng, kinds)
    people = np.array([3, 2])
    count = cover_count(rng.uniform(0.2, 0.9, 2), people, tail=1e-30)

    bound = enumerated_bound(cover, count)

    epsilon = math.log1p(growth)
    truth = exact(cover, count, Fraction(math.expm1(epsilon)))
    upper = bound.delta(epsilon)
    assert truth <= Fraction(upper) <= truth * Fraction(1 + 3e-9) + Fraction(1, 10**28)
    assert bound.estimate(epsilon) == upper
    if upper > 1e-12:
        assert 0.0 <= bound.slack(epsilon) <= 1e-8
        assert upper * (1.0 - bound.slack(epsilon)) <= truth * Fraction(1 + 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_integrals_of_the_same_are_no_smaller(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    cover = random_cover(rng, 4)
    probabilities, people = rng.uniform(0.1, 0.9, 3), rng.integers(1, 15, 3)
    count = cover_count(probabilities, people, tail=1e-30)

    bound = enumerated_bound(cover, count)
    integral = ContourBound(cover, probabilities, people.astype(np.float64))

    for epsilon in (0.0, 0.05, 0.3, 1.0):
        upper = bound.delta(epsilon)
        # Both have a margin of about one part in 10^9; smoothing raises the integral.
        assert upper <= integral.delta(epsilon) * (1.0 + 3e-9)
        assert integral.delta(epsilon) <= upper * (1.0 + 1e-4) + 1e-20


def test_numbers_of_messages_that_are_left_out_count_in_full() -> None:
    cover = random_cover(np.random.default_rng(5), 3)
    whole = CountDistribution(0, np.array([0.5, 0.5]), 0.0)
    cut = CountDistribution(1, np.array([0.5]), 0.5)

    assert enumerated_bound(cover, whole).delta(0.1) == pytest.approx(
        enumerated_bound(cover, cut).delta(0.1), rel=1e-9
    )


def test_kinds_that_nobody_sends_and_underflow_are_no_matter() -> None:
    masses = np.array([0.5, 0.5, 0.0, 1e-200])
    cover = Cover(
        np.ones(1),
        masses,
        np.array([0.5, -0.5, 1.0, 1.0]),
        np.array([0.75, 1.25, 0, 0]),
    )
    count = cover_count(np.array([0.5]), np.array([6]), tail=1e-30)
    usual = Cover(np.ones(1), masses[:2], cover.differences[:2], cover.bases[:2])

    bound = enumerated_bound(cover, count)

    assert np.all(bound.weights > 0.0)
    expected = enumerated_bound(usual, count).delta(0.2)
    assert expected * (1.0 - 1e-12) <= bound.delta(0.2) <= expected * (1.0 + 1e-12)


def test_what_nobody_else_sends_is_added() -> None:
    plain = random_cover(np.random.default_rng(6), 3)
    uncovered = np.array([[0.25], [0.0625]])
    cover = Cover(
        np.ones(1), plain.masses, plain.differences, plain.bases, uncovered=uncovered
    )
    count = cover_count(np.array([0.5]), np.array([6]), tail=1e-30)

    more = enumerated_bound(cover, count).delta(0.0)

    assert more == pytest.approx(enumerated_bound(plain, count).delta(0.0) + 0.1875)


def test_large_epsilons_are_refused() -> None:
    cover = random_cover(np.random.default_rng(7), 3)
    bound = enumerated_bound(cover, CountDistribution(0, np.ones(1), 0.0))

    # Never 0: it might have been rounded down to that.
    assert 0.0 < bound.delta(20.0) < 1e-300
    with pytest.raises(CertificationError, match="too large"):
        bound.delta(1e4)


def test_few_messages_of_few_kinds_are_enumerated() -> None:
    probabilities, cells = np.array([0.5]), np.ones((2, 2))

    def may(kinds: int, people: int = 60, *, is_coarse: bool = False) -> bool:
        masses = np.full(kinds, 1.0 / kinds)
        bounds = CellBounds(cells, cells) if is_coarse else None
        cover = Cover(np.ones(1), masses, 0.0 * masses, 1.0 + masses, cells=bounds)
        return can_enumerate(cover, probabilities, np.array([people]), 1e-12)

    assert may(3)
    assert not may(4)
    assert not may(3, 1_000)
    assert may(2, 300)
    assert not may(5, 4)
    assert may(4, 30)
    assert not may(3, is_coarse=True)
    assert len(enumerated._ways(30, 4)) == math.comb(33, 3)


@pytest.mark.parametrize(
    ("users", "kind"),
    [(8, EnumeratedBound), (40, blanket._Prepared), (2_000, ContourBound)],
)
def test_hashed_messages_of_few_people_are_enumerated(
    users: int, kind: type[object]
) -> None:
    crowd = Population.from_counts({0.5: users // 2, 2.0: users // 2})
    covers = LocalHashing(64, 5).covers([0.5, 2.0], crowd, delta=1e-8)

    bounds = blanket_bounds(covers, crowd.counts, [0, 1], tail=1e-20)

    assert [type(bound) for bound in bounds] == [kind, kind]
