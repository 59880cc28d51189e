"""Rare losses by themselves: what is proven is above exact sums, whatever is estimated."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.lattice_sums import exact_bound, exact_rare_part, lattice_loss

from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.integrals.contour_ends import ends_of
from shuffledp.accounting.upper.integrals.divided_loss import divided_ends
from shuffledp.accounting.upper.integrals.rare_integrand import RareIntegrand
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import SaddleEstimate, saddle_estimate

# As the caller does: what overflows is far from where anything is decided.
pytestmark = pytest.mark.usefixtures("quiet")
OTHERS, PROBABILITY = 60, 0.7
LOG_G = LogProduct(np.array([PROBABILITY]), np.array([float(OTHERS)]))


@pytest.fixture
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def many_rare(shift: int, rare: float) -> Atoms:
    """A loss of which many values above 60 are rare, the larger the rarer."""
    loss = lattice_loss(shift, rare)
    values = np.arange(70.0, 900.0, 20.0)
    masses = rare * np.exp(-values / 100.0)
    usual = loss.masses * (1.0 - masses.sum())
    return Atoms(
        np.concatenate([loss.losses[:-1], values]),
        np.concatenate([usual[:-1], masses + usual[-1] / values.size]),
        400.0,
        300,
    )


def scaled(loss: Atoms, unit: float) -> Atoms:
    return Atoms(
        loss.losses / unit, loss.masses, loss.telling / unit**2, loss.num_terms
    )


@given(
    losses=st.lists(st.integers(-6, 9), min_size=3, max_size=5, unique=True),
    weights=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    number=st.integers(1, 4),
    place=st.integers(0, 4),
    in_its_place=st.integers(-9, 3),
)
def test_sums_are_at_most_those_with_rare_losses_apart(
    losses: list[int],
    weights: list[int],
    number: int,
    place: int,
    in_its_place: int,
) -> None:
    values = sorted(losses)
    total = sum(weights[: len(values)])
    chances = [Fraction(weight, total) for weight in weights[: len(values)]]
    border = max(values[min(place, len(values) - 1)], 0)
    left, right = Fraction(0), Fraction(0)
    for some in itertools.product(range(len(values)), repeat=number):
        chance = math.prod((chances[i] for i in some), start=Fraction(1))
        sums = [values[i] for i in some]
        usual = [value if value <= border else 0 for value in sums]
        is_rare = [value > border for value in sums]
        if_none = [in_its_place if value > border else value for value in sums]
        left += chance * max(sum(sums), 0)
        right += chance * max(sum(if_none), 0)
        for i, far in enumerate(is_rare):
            if far:
                right += chance * max(sums[i] + sum(usual) - usual[i], 0)
    rare = [(c, v) for c, v in zip(chances, values, strict=True) if v > border]
    pairs = Fraction(number * (number - 1), 2)
    right += pairs * sum(c for c, _ in rare) * sum(c * v for c, v in rare)
    assert left <= right


@pytest.mark.parametrize("part", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("rare", [1e-6, 1e-8, 1e-14, 1e-20])
@pytest.mark.parametrize("shift", [0, 10, 20])
@pytest.mark.parametrize("of_many", [False, True])
def test_what_is_proven_is_above_the_exact_sum_and_near(
    of_many: bool, shift: int, rare: float, part: float
) -> None:
    loss = many_rare(shift, rare) if of_many else lattice_loss(shift, rare)
    unit = float(loss.losses.max())
    exact = exact_bound(loss, PROBABILITY, OTHERS)
    about = saddle_estimate(scaled(loss, unit), LOG_G.probabilities, LOG_G.counts)
    about = about._replace(size=exact / unit, has_rare=True)

    # What messages with two of the rarest losses alone may add.
    by_two = 0.5 * OTHERS * PROBABILITY * loss.masses[-1] ** 2 * loss.losses[-1]
    part = max(part, 2.0 * by_two / exact)

    upper, lower = divided_ends(
        scaled(loss, unit), about, unit, LOG_G, smoother=1.0, part=part
    )

    assert exact * (1.0 - 1e-9) <= upper <= exact * (1.0 + 10.0 * part + 2e-3)
    assert lower <= exact * (1.0 + 3.0 * part + 1e-3)


@pytest.mark.parametrize("size", [0.1, 10.0, 1e3])
@pytest.mark.parametrize("bend", [1e-6, 1.0, 1e6])
def test_wrong_estimates_make_nothing_wrong(size: float, bend: float) -> None:
    loss = many_rare(10, 1e-8)
    unit = float(loss.losses.max())
    exact = exact_bound(loss, PROBABILITY, OTHERS)
    right = saddle_estimate(scaled(loss, unit), LOG_G.probabilities, LOG_G.counts)
    about = SaddleEstimate(size * exact / unit, bend * right.bend, True)

    upper, _ = divided_ends(
        scaled(loss, unit), about, unit, LOG_G, smoother=1.0, part=1e-4
    )

    assert upper >= exact * (1.0 - 1e-9)


def test_without_rare_losses_nothing_is_divided() -> None:
    about = SaddleEstimate(0.1, 1.0, False)

    with pytest.raises(OverflowError):
        divided_ends(
            lattice_loss(0, 1e-8),
            about,
            1.0,
            LOG_G,
            smoother=1.0,
            part=1e-4,
        )


def usual_and_rare(shift: int) -> tuple[Atoms, Atoms]:
    loss = many_rare(shift, 1e-6)
    is_rare = loss.losses > 65.0
    usual = Atoms(np.where(is_rare, 0.0, loss.losses), loss.masses, 400.0, 300)
    return usual, Atoms(loss.losses[is_rare], loss.masses[is_rare], 400.0, 300)


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize("shift", [0, 10, 20])
def test_the_integral_of_rare_losses_is_above_the_exact_sum(
    shift: int, noise: float
) -> None:
    usual, rare = usual_and_rare(shift)

    upper, lower = ends_of(RareIntegrand(usual, rare, LOG_G, noise=noise), 1.0)

    exact = exact_rare_part(usual, rare, PROBABILITY, OTHERS)
    assert exact * (1.0 - 1e-9) <= upper
    assert lower <= upper <= lower * (1.0 + 1e-6)
    if noise <= 1e-3:
        assert upper <= exact * (1.0 + 1e-3)


def test_wide_steps_and_short_lines_are_paid_for_by_the_error() -> None:
    usual, rare = usual_and_rare(10)
    integrand = RareIntegrand(usual, rare, LOG_G)
    fine_step = 0.05 * min(integrand.saddle, 1.0 / integrand.deviation)
    fine, doubt = integrand.trapezoid(fine_step, 100_000)

    seen = 0
    for factor, height in itertools.product([1, 10, 40, 80, 160], [0.5, 1, 2, 4, 500]):
        step = factor * fine_step
        value, error = integrand.trapezoid(
            step, int(height / integrand.deviation / step)
        )
        difference = abs(value - fine)
        assert difference <= error + doubt
        seen += difference > 10.0 * doubt

    # Most of these are so crude that their error shows.
    assert doubt <= 1e-5 * fine
    assert seen > 10
