"""A loss on few values bounds no less, and composed integrals are above exact sums."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.multiprecision import BlanketSum

from shuffledp import Population
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms
from shuffledp.accounting.upper.integrals import contour_integral, first_integral
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.laplace import Laplace


@pytest.fixture(params=[0.0, math.inf])
def _much_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composed bounds with fewer points, and as others."""
    monkeypatch.setattr(first_integral, "_MUCH_WORK", request.param)


def positive_part(loss: Atoms, threshold: float) -> Fraction:
    """E[(L - threshold)_+], exactly."""
    return sum(
        (
            Fraction(mass) * max(Fraction(value) - Fraction(threshold), Fraction(0))
            for value, mass in zip(
                loss.losses.tolist(), loss.masses.tolist(), strict=True
            )
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_few_values_keep_means_and_lie_above(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    losses = np.sinh(scale * rng.uniform(-1.0, 1.0, 2_000)) / math.sinh(scale)
    masses = rng.dirichlet(np.ones(losses.size))
    loss = Atoms(losses, masses, 1.0, losses.size)

    few = fewer_atoms(loss)

    assert few.losses.size <= losses.size / 1.5
    assert few.num_terms >= losses.size
    size = float(masses @ np.abs(losses))
    # From -1 on this is the mean: no smaller, and larger by rounding alone.
    for threshold in [-1.0, *np.quantile(losses, [0.1, 0.5, 0.9, 0.99]).tolist()]:
        before, after = positive_part(loss, threshold), positive_part(few, threshold)
        assert after >= before - Fraction(1e-13 * size)
    assert positive_part(few, -2.0) <= positive_part(loss, -2.0) + Fraction(1e-12)
    variances = [
        float(each.masses @ each.losses**2 - (each.masses @ each.losses) ** 2)
        for each in (loss, few)
    ]
    assert variances[1] <= variances[0] * (1.0 + 2.1e-5)


def test_few_values_are_left_as_they_are() -> None:
    loss = Atoms(np.array([-1.0, 0.0, 2.0]), np.array([0.5, 0.3, 0.2]), 1.0, 3)

    assert fewer_atoms(loss) is loss


@pytest.mark.few_cases(4)
@pytest.mark.usefixtures("_much_work")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(
    ("num_categories", "counts", "target"),
    [(2, {0.3: 12, 1.0: 9, 2.5: 9}, 2.5), (17, {1.0: 40}, 1.0)],
)
def test_composed_integrals_are_above_the_double_sum_in_fifty_digits(
    num_categories: int, counts: dict[float, int], target: float, share: float
) -> None:
    people = Population.from_counts(counts)
    others = people.counts.astype(np.float64)
    others[people.epsilons == target] -= 1.0
    ((cover,),) = KRandomizedResponse(num_categories).covers(
        [target], people, delta=1e-6
    )
    bound = ContourBound(cover, cover.blanket_probabilities, others, is_composed=True)

    exact = BlanketSum(counts, target, num_categories).delta(share * target)

    assert exact <= mp.mpf(bound.delta(share * target)) <= 1.1 * exact


@pytest.mark.usefixtures("_much_work")
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2])
def test_composed_bounds_of_noise_are_larger_by_next_to_nothing(epsilon: float) -> None:
    people = Population.from_counts({1.0: 2_000})
    ((cover, *_),) = Laplace().covers([1.0], people, delta=1e-6)
    others = np.array([1_999.0])
    plain, composed = (
        ContourBound(cover, cover.blanket_probabilities, others, is_composed)
        for is_composed in (False, True)
    )

    upper = composed.delta(epsilon)

    assert plain.delta(epsilon) <= upper <= 1.002 * plain.delta(epsilon)


def test_composed_bounds_are_those_of_one_collection_where_these_are_quick() -> None:
    people = Population.from_counts({1.0: 10_000})
    ((cover, *_),) = KRandomizedResponse(10).covers([1.0], people, delta=1e-6)
    others = np.array([9_999.0])
    plain, composed = (
        ContourBound(cover, cover.blanket_probabilities, others, is_composed)
        for is_composed in (False, True)
    )

    assert composed.delta(0.01) == plain.delta(0.01)


def test_a_slow_integral_of_a_composition_has_fewer_points() -> None:
    people = Population.from_counts({1.0: 40})
    ((cover,),) = KRandomizedResponse(10).covers([1.0], people, delta=1e-6)
    bound = ContourBound(cover, cover.blanket_probabilities, np.array([39.0]), True)

    few = bound.delta(0.2)

    plain = replace(bound, is_composed=False).delta(0.2)
    # So few people do not smooth the sum, and points are as many as the noise takes.
    assert plain < few <= 1.1 * plain


def test_long_integrals_of_a_composition_are_not_tried_between_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []
    integrated = contour_integral._integrated

    def counted(*args: Any, most_work: float = math.inf, **options: Any) -> Any:
        tried.append(most_work)
        return integrated(*args, most_work=most_work, **options)

    monkeypatch.setattr(contour_integral, "_integrated", counted)
    people = Population.from_counts({1.0: 40})
    ((cover,),) = KRandomizedResponse(10).covers([1.0], people, delta=1e-6)
    bounds = [
        ContourBound(cover, cover.blanket_probabilities, np.array([39.0]), True)
        for _ in range(3)
    ]

    deltas = [bounds[0].delta(epsilon) for epsilon in (0.2, 0.4, 0.3)]

    # The first is too long: those beyond it are not tried, and their bounds are the same.
    assert [most_work < math.inf for most_work in tried] == [True, False, False, False]
    assert deltas[1:] == [bounds[1].delta(0.4), bounds[2].delta(0.3)]
