"""Convergence bounds, against quadratic losses solved exactly and integrals of noise."""

from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp_papers.apes.convergence import (
    Factors,
    Landscape,
    aggregation_bound,
    factors,
    training_bound,
)
from shuffledp_papers.apes.figures import noise_sizes as noise
from shuffledp_papers.apes.noise_size import (
    corrected_noise,
    ideal_noise,
    noise_length,
    squared_noise,
)
from shuffledp_papers.figures.result import Effort
from shuffledp_papers.outside_preconditions import OutsidePreconditions


def change(
    curvature: Fraction, mu: Fraction, start: Fraction, noise: Fraction
) -> Fraction:
    """Returns the change of F(w) = curvature w^2 / 2 by one exact aggregation."""
    found = start * mu / (curvature + mu) + noise
    return curvature * (found**2 - start**2) / 2


def moments(epsilon: float, value: float) -> tuple[mp.mpf, mp.mpf]:
    """Mean and mean square of the noise at C = 1, by integrals of 30 digits."""
    with mp.workdps(30):
        rate, at = mp.mpf(epsilon) / 2, mp.mpf(value)

        def density(z: mp.mpf) -> mp.mpf:
            return mp.exp(-rate * abs(z - at))

        ends = [-1, at, 1] if abs(value) < 1.0 else [-1, 1]
        mass = mp.quad(density, ends)
        mean = mp.quad(lambda z: (z - at) * density(z), ends) / mass
        square = mp.quad(lambda z: (z - at) ** 2 * density(z), ends) / mass
        return mean, square


@pytest.mark.parametrize("seed", range(3))
def test_no_quadratic_loss_changes_by_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        curvature, start, noise = (
            Fraction(int(n), 16) for n in rng.integers([1, -64, -64], [48, 64, 64])
        )
        mu = Fraction(int(rng.integers(1, 320)), 16)
        landscape = Landscape(smoothness=float(curvature), proximal=float(mu))

        bound = aggregation_bound(
            landscape, gradient=float(curvature * abs(start)), noise=float(abs(noise))
        )

        # A few roundings of terms of up to 1e4.
        assert float(change(curvature, mu, start, noise)) <= bound + 1e-9


def test_concave_losses_of_people_who_differ_change_by_no_more() -> None:
    # F_i(w) = a_i w^2 / 2 + b_i w: exact minimizers, curvatures of both signs.
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(500):
        curvatures = rng.uniform(-1.0, 2.0, size=6)
        slopes = rng.normal(1.0, 0.3, size=6)
        mu, start, noise = rng.uniform(2.0, 20.0), rng.normal(), rng.normal()
        gradients = curvatures * start + slopes
        gradient = abs(float(gradients.mean()))
        if gradient < 0.2:
            continue
        tried += 1
        landscape = Landscape(
            smoothness=float(np.abs(curvatures).max()),
            proximal=float(mu),
            concavity=max(0.0, -float(curvatures.min())),
            dissimilarity=max(1.0, float(np.sqrt((gradients**2).mean())) / gradient),
        )
        found = float(np.mean((mu * start - slopes) / (curvatures + mu)) + noise)

        def f(w: float, a: np.ndarray = curvatures, b: np.ndarray = slopes) -> float:
            return float(np.mean(a * w**2 / 2 + b * w))

        bound = aggregation_bound(landscape, gradient=gradient, noise=abs(noise))
        assert f(found) - f(start) <= bound + 1e-9
    assert tried > 300


def test_the_printed_bound_is_refuted_in_one_dimension() -> None:
    landscape = Landscape(smoothness=1.0, proximal=10.0)

    raised = change(Fraction(1), Fraction(10), Fraction(1), Fraction(1))

    # (10/11 + 1)^2 / 2 - 1/2.
    assert raised == Fraction(160, 121)
    printed = aggregation_bound(landscape, gradient=1.0, noise=1.0, as_printed=True)
    assert printed < 0.61 < raised
    assert raised <= aggregation_bound(landscape, gradient=1.0, noise=1.0)


def test_the_printed_factors_are_refuted_by_the_same_example() -> None:
    landscape = Landscape(smoothness=1.0, proximal=10.0)
    after = Fraction(1, 2) + change(Fraction(1), Fraction(10), Fraction(1), Fraction(1))
    # The steepest that this round comes by: |w| = 10 / 11 + 1.
    bounds = [
        training_bound(
            factors(landscape, steepness=1.0, lipschitz=21 / 11, as_printed=printed),
            rounds=1,
            gap=0.5,
            noise=1.0,
            noise_square=1.0,
        )
        for printed in (True, False)
    ]

    assert bounds[0] < 1.29 < after == Fraction(441, 242) < bounds[1]


@pytest.mark.parametrize("mu", [3, 10, 40])
def test_a_quadratic_training_stays_below_its_bound(mu: int) -> None:
    # f* = 0, beta = L = 1; every start is in [-2, 2], so that l = 2 holds on the way.
    landscape = Landscape(smoothness=1.0, proximal=float(mu))
    noise = Fraction(1, 100)
    found = factors(landscape, steepness=1.0, lipschitz=2.0)
    w = Fraction(2)

    for rounds in range(30):
        bound = training_bound(
            found, rounds=rounds, gap=2.0, noise=0.01, noise_square=1e-4
        )
        assert float(w**2 / 2) <= bound
        w = w * mu / (1 + mu) + noise

    # Printed, a1 lacks what the curvature of h_i is overstated by; with mu = 3 it even
    # says that less than half of what is left stays.
    printed = factors(landscape, steepness=1.0, lipschitz=2.0, as_printed=True)
    assert printed.noise_factor < found.noise_factor
    assert printed.square_factor == found.square_factor


def test_where_f_need_not_fall_nothing_is_stated() -> None:
    apart = Landscape(smoothness=1.0, proximal=2.0, dissimilarity=3.0)

    assert apart.descent() > 0.0
    with pytest.raises(OutsidePreconditions, match="need not fall"):
        factors(apart, steepness=1.0, lipschitz=1.0)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 2.0, 4.0])
def test_noise_is_at_most_what_the_corrected_formulas_say(epsilon: float) -> None:
    found = {v: moments(epsilon, v) for v in (-1.0, -0.6, 0.0, 0.3, 0.9, 1.0)}
    clip = 0.1

    largest = max(float(square) for _, square in found.values())
    variance = max(float(square - mean**2) for mean, square in found.values())
    apart = max(
        float(one[1] + two[1] - 2 * one[0] * two[0])
        for one in found.values()
        for two in found.values()
    )

    # Attained at the ends; digits cancel where epsilon is small.
    formulas = {squared_noise: largest, corrected_noise: apart}
    if epsilon <= 2.0:
        formulas[ideal_noise] = variance
    for formula, exact in formulas.items():
        assert formula(clip, epsilon) == pytest.approx(clip**2 * exact, rel=1e-9)
    assert corrected_noise(clip, epsilon, as_printed=True) > clip**2 * apart


@pytest.mark.parametrize("formula", [squared_noise, corrected_noise, ideal_noise])
def test_smaller_budgets_have_more_noise(formula: object) -> None:
    assert callable(formula)
    sizes = [formula(1.0, epsilon) for epsilon in (0.05, 0.1, 0.5, 1.0, 1.5, 2.0)]

    assert sizes == sorted(sizes, reverse=True)


def test_printed_sizes_of_noise_are_negative() -> None:
    for formula in (squared_noise, ideal_noise):
        printed = formula(0.1, 1.0, as_printed=True)
        assert printed < 0.0
        with pytest.raises(OutsidePreconditions, match="mean square >= 0"):
            noise_length(printed)
    with pytest.raises(OutsidePreconditions, match="epsilon <= 2"):
        ideal_noise(0.1, 4.0)
    assert noise_length(0.25, coordinates=4) == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"smoothness": 0.0},
        {"proximal": 0.0},
        {"concavity": 2.0},
        {"dissimilarity": 0.5},
        {"inexactness": 1.0},
        {"smoothness": float("nan")},
    ],
)
def test_assumptions_that_cannot_be_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(OutsidePreconditions, match="Expected"):
        Landscape(**({"smoothness": 1.0, "proximal": 2.0} | change))


def test_a_bound_of_rounds_is_the_sum_by_hand() -> None:
    found = Factors(0.5, 2.0, 4.0)

    # ((8 / 2 + 3) / 2 + 3) = 6.5, noise 2 * 0.5 + 4 * 0.5 = 3.
    assert training_bound(found, rounds=2, gap=8.0, noise=0.5, noise_square=0.5) == 6.5
    assert training_bound(found, rounds=0, gap=8.0, noise=0.5, noise_square=0.5) == 8.0


@pytest.mark.slow
def test_printed_sizes_below_the_noise_are_marked() -> None:
    result = noise.run(Effort(1, 1, False, lambda _share: None))

    for cells in result.table.records():
        # C = 0.1: C is ten times C^2. (28) is larger than need be.
        assert cells["(26) printed: exceeded"] is True
        assert cells["(28) printed: exceeded"] is False
        assert cells["exact bias printed: exceeded"] is True
        for name in ("(26)", "(28)", "exact bias"):
            exact, bound = cells[f"{name} exact"], cells[f"{name} corrected"]
            assert isinstance(exact, float)
            assert exact == pytest.approx(bound, rel=1e-9)
