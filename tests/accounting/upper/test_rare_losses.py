"""Losses that are rare and far from all others: bounds are above exact sums, and near."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles.lattice_sums import exact_bound, lattice_loss

from shuffledp import Population
from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.upper.atoms import (
    Atoms,
    atoms,
    bounded_above,
    bounded_below,
    raised_to,
)
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.fewer_atoms import fewer_atoms
from shuffledp.accounting.upper.integrals import contour_integral
from shuffledp.accounting.upper.integrals.contour_integral import integral_ends
from shuffledp.accounting.upper.log_product import LogProduct
from shuffledp.accounting.upper.saddle_estimate import rough_saddle, saddle_estimate
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.types import Floats

OTHERS, PROBABILITY = 60, 0.7


def positive_part(loss: Atoms, number: int) -> Fraction:
    """E[(L_1 + ... + L_number)_+], exactly, by all values of all losses."""
    pairs = [
        (Fraction(value), Fraction(mass))
        for value, mass in zip(loss.losses.tolist(), loss.masses.tolist(), strict=True)
    ]
    total = Fraction(0)
    for some in itertools.product(pairs, repeat=number):
        sum_of_all = sum((value for value, _ in some), Fraction(0))
        if sum_of_all > 0:
            total += sum_of_all * math.prod(
                (mass for _, mass in some), start=Fraction(1)
            )
    return total


def loss_of(values: list[float], masses: list[float], telling: float = 1.0) -> Atoms:
    return Atoms(np.array(values), np.array(masses), telling, len(values))


def test_values_that_others_never_outweigh_change_no_sum() -> None:
    loss = loss_of([-1e12, -30.0, -2.0, 0.5, 1.0], [0.125, 0.125, 0.25, 0.25, 0.25])

    bounded = bounded_below(loss, 3.0)

    assert bounded.losses.tolist() == [-4.0, -4.0, -2.0, 0.5, 1.0]
    for number in (1, 2, 3, 4):
        assert positive_part(bounded, number) == positive_part(loss, number)


def test_values_are_as_far_below_as_noise_for_smoothing_reaches() -> None:
    # The differences are larger than the losses, and noise is as large as these.
    loss = loss_of([-1e6, -2.0, 1e-3], [0.25, 0.25, 0.5], telling=4.0)

    assert bounded_below(loss, 9.0).losses.tolist() == [-20.0, -2.0, 1e-3]
    assert bounded_below(loss_of([-9.0, -1.0], [0.5, 0.5]), 3.0).losses.tolist() == [
        -9.0,
        -1.0,
    ]


@pytest.mark.parametrize("least", [-1e3, -9.0, -3.0, -0.7, 0.0])
def test_values_that_are_raised_to_one_lower_no_sum(least: float) -> None:
    loss = loss_of([-40.0, 1.0, -3.0, -8.0, 0.5], [0.125, 0.125, 0.25, 0.25, 0.25])

    raised = raised_to(loss, least)

    assert raised.losses.tolist() == [
        *(value for value in loss.losses.tolist() if value > least),
        least,
    ]
    assert math.fsum(raised.masses.tolist()) == 1.0
    for number in (1, 2, 3, 4):
        before, after = positive_part(loss, number), positive_part(raised, number)
        assert before <= after
        # No sum that has such a value is positive, or it is alone.
        assert (before == after) == (least <= -3.0 or number == 1)


@pytest.mark.parametrize("is_coarse", [False, True])
@pytest.mark.parametrize("is_composed", [False, True])
@pytest.mark.parametrize("lowest", [-1e5, -1e7, -1e9])
def test_few_messages_with_values_far_below_are_bounded_closely(
    lowest: float, is_composed: bool, is_coarse: bool
) -> None:
    # Half of all messages outweigh any others.
    usual = lattice_loss(3, 1e-8)
    half = Atoms(usual.losses, 0.5 * usual.masses, 400.0, 182)
    loss = Atoms(
        np.append(half.losses, lowest), np.append(half.masses, 0.5), 400.0, 183
    )
    unit = float(loss.losses.max())
    scaled = bounded_below(
        Atoms(loss.losses / unit, loss.masses, loss.telling / unit**2, 183),
        float(OTHERS),
    )

    upper, lower = integral_ends(
        scaled,
        unit,
        log_product(),
        0.1,
        coarse=is_coarse,
        long=FailedTrials() if is_composed else None,
    )

    # A sum with such a value is not positive.
    exact = exact_bound(half, PROBABILITY, OTHERS)
    assert exact * (1.0 - 1e-9) <= upper
    # Composed bounds have more noise, by as much as the values seem to vary.
    if not is_composed:
        assert lower <= upper <= 1.03 * exact


@pytest.mark.parametrize("most_taken", [0.0, 1e-9, 1e-3, 0.5])
def test_what_the_largest_values_lose_is_paid_for(most_taken: float) -> None:
    loss = loss_of(
        [-3.0, -1.0, 0.5, 7.0, 1e5], [0.5, 0.25, 0.25 - 2.0**-20, 2.0**-20, 2.0**-40]
    )

    bounded, taken = bounded_above(loss, most_taken)

    assert 0.0 <= taken <= most_taken * (1.0 + 1e-11)
    assert (taken == 0.0) == (most_taken < 1e-7)
    for number in (1, 2, 3, 4):
        before, after = positive_part(loss, number), positive_part(bounded, number)
        assert after <= before <= after + number * Fraction(taken)


def log_product() -> LogProduct:
    return LogProduct(np.array([PROBABILITY]), np.array([float(OTHERS)]))


@pytest.mark.parametrize("is_composed", [False, True])
@pytest.mark.parametrize(
    "attempt", ["usual_ends", "divided_ends", "_eased", "_integrated"]
)
@pytest.mark.parametrize("rare", [1e-8, 1e-20, 1e-30])
@pytest.mark.parametrize("shift", [0, 10])
def test_integrals_of_rare_losses_are_above_exact_sums(
    shift: int,
    rare: float,
    attempt: str,
    is_composed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss = lattice_loss(shift, rare)
    unit = float(loss.losses.max())
    scaled = Atoms(loss.losses / unit, loss.masses, loss.telling / unit**2, 182)

    def refuse(*_: object, **__: object) -> tuple[float, float]:
        raise OverflowError

    # All attempts before this one fail.
    before = {"usual_ends": 0, "divided_ends": 2, "_eased": 3, "_integrated": 4}[
        attempt
    ]
    for name in ("usual_ends", "quick_ends", "divided_ends", "_eased")[:before]:
        monkeypatch.setattr(contour_integral, name, refuse)

    upper, lower = integral_ends(
        scaled,
        unit,
        log_product(),
        0.1,
        coarse=False,
        long=FailedTrials() if is_composed else None,
    )

    exact = exact_bound(loss, PROBABILITY, OTHERS)
    assert exact * (1.0 - 1e-9) <= upper
    # Up to the noise for smoothing, of which composed bounds have more.
    assert lower <= exact * (1.0 + 1e-2)
    if attempt in {"usual_ends", "divided_ends"}:
        assert upper <= 1.02 * exact


def test_an_attempt_that_fails_takes_nothing_from_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contour_integral, "usual_ends", lambda *_: (0.5, 0.1))
    for name in ("divided_ends", "_eased"):
        monkeypatch.setattr(
            contour_integral, name, lambda *_, **__: (math.nan, math.nan)
        )
    monkeypatch.setattr(contour_integral, "_integrated", lambda *_, **__: (0.7, 0.2))

    ends = integral_ends(
        lattice_loss(0, 1e-8), 1.0, log_product(), 0.1, coarse=False, long=None
    )

    assert ends == (0.5, 0.1)


@pytest.mark.parametrize("rare", [1e-30, 1e-20, 1e-14, 1e-8, 1e-5])
@pytest.mark.parametrize("shift", [0, 5, 10, 20])
def test_estimates_of_rare_losses_are_near_exact_sums(shift: int, rare: float) -> None:
    loss = lattice_loss(shift, rare)
    one = np.array([PROBABILITY]), np.array([float(OTHERS)])

    estimate, exact = (
        saddle_estimate(loss, *one).size,
        exact_bound(loss, PROBABILITY, OTHERS),
    )

    assert exact / 2.0 < estimate < exact * 2.0


def moment(loss: Atoms, tilt: float) -> float:
    largest = float(loss.losses.max())
    exponents: Floats = np.exp(tilt * (loss.losses - largest))
    return float(loss.masses @ exponents)


def test_few_values_keep_the_moment_that_decides() -> None:
    rng = np.random.default_rng(1)
    body = np.sort(rng.normal(0.0, 0.003, 1_500))
    far = np.linspace(0.1, 1.0, 300)
    masses = np.concatenate([rng.dirichlet(np.ones(1_500)), np.exp(-80.0 * far) / 300])
    loss = Atoms(np.concatenate([body, far]), masses / masses.sum(), 1.0, 1_800)
    probabilities, counts = np.array([0.5]), np.array([200.0])
    tilt = rough_saddle(loss, probabilities, counts)

    few, plain = fewer_atoms(loss, tilt), fewer_atoms(loss)

    before = moment(loss, tilt)
    assert few.losses.size < loss.losses.size / 1.5
    assert before <= moment(few, tilt) <= before * (1.0 + 0.01)
    assert moment(plain, tilt) > before * 1.1


def test_a_tail_of_noise_is_as_small_as_it_was_before_it_was_composed() -> None:
    people = Population.from_counts({0.84: 1_000})
    ((cover, *_),) = Gaussian().covers([0.84], people, delta=1e-101)
    bound = ContourBound(
        cover, cover.blanket_probabilities, np.array([999.0]), is_composed=True
    )

    deltas = [bound.delta(epsilon) for epsilon in (0.05, 0.1, 0.2, 0.3, 0.5)]

    # Values that stood for many others made it 1e-24 from 0.2 on.
    assert deltas[0] > deltas[1] > 1e-60
    assert max(deltas[2:]) < 1e-100


def test_epsilons_above_the_number_of_people_are_no_worse_than_smaller_ones() -> None:
    people = Population.from_counts({1.3: 954, 2.2: 12, 14.4: 5, 36.0: 29, 48.0: 352})
    ((cover, *_),) = Laplace().covers([48.0], people, delta=1e-14)
    others = people.counts - (people.epsilons == 48.0)
    bound = ContourBound(cover, cover.blanket_probabilities, others.astype(np.float64))

    deltas = [bound.delta(epsilon) for epsilon in (2.0, 5.0, 8.0, 20.0, 40.0)]

    # Losses of -e^40 decided on how much noise was added.
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] < 1e-80
    assert bound.estimate(40.0) < 1e-80


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.4])
def test_few_values_do_where_few_losses_are_far_above_those_of_a_million(
    epsilon: float,
) -> None:
    people = Population.from_counts({12.1284: 1_000_000})
    ((cover, *_),) = Gaussian().covers([12.1284], people, delta=1e-7)
    probabilities, counts = cover.blanket_probabilities, np.array([999_999.0])
    loss = atoms(cover, float(np.abs(cover.differences).max()), epsilon)
    tilt = rough_saddle(loss, probabilities, counts)

    few = fewer_atoms(loss, tilt, float(probabilities @ counts))

    # The largest losses decide on the saddle, far from that of a normal loss.
    assert 10.0 < tilt < 50.0
    assert few.losses.size < loss.losses.size / 2.0
    growth = moment(few, tilt) / moment(loss, tilt) - 1.0
    assert 0.0 <= growth * float(probabilities @ counts) < 2e-3


def test_where_no_values_keep_the_moment_the_loss_is_as_it_was() -> None:
    # None is above 0, and the largest ones, which decide, have next to no probability.
    losses = -np.geomspace(140.0, 5e-6, 1_000)
    masses = np.abs(losses) ** 8
    loss = Atoms(losses, masses / masses.sum(), 1.0, losses.size)

    for tilt in np.geomspace(1.0, 1e9, 19):
        few = fewer_atoms(loss, float(tilt), 95.0)

        assert moment(few, tilt) >= moment(loss, tilt) * (1.0 - 1e-9)
        assert few is loss or few.losses.size <= loss.losses.size / 1.5
