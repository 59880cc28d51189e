"""Type-I errors of any densities and any mechanisms, against formulas and enumeration."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.testing.message_distribution import message_distribution
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.feldman2023 import Feldman2023Numerical
from shuffledp_papers.hypothesis_testing.any_density import (
    MessageDensity,
    density_clone_probabilities,
    density_target_error,
)
from shuffledp_papers.hypothesis_testing.any_mechanism import (
    _mistaken_probabilities,
    mechanism_clone_probabilities,
)
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)
from shuffledp_papers.hypothesis_testing.type_one_errors import (
    gaussian_clone_probabilities,
    gaussian_target_error,
    laplace_clone_probabilities,
    laplace_target_error,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

BUDGETS = st.floats(0.1, 6.0)


def laplace(budget: float, value: float) -> MessageDensity:
    def density(z: Floats) -> Floats:
        return 0.5 * budget * np.exp(-budget * np.abs(z - value))

    reach = 36.0 / budget
    return MessageDensity(density, value - reach, value + reach, kinks=[value])


def normal(deviation: float, value: float, failure: float = 0.0) -> MessageDensity:
    def density(z: Floats) -> Floats:
        scale = deviation * math.sqrt(2.0 * math.pi)
        return np.exp(-0.5 * ((z - value) / deviation) ** 2) / scale

    reach = 8.5 * deviation
    return MessageDensity(density, value - reach, value + reach, failure=failure)


def apart(own: float, victim: float) -> bool:
    """Densities that cross twice within a cell are not told apart there."""
    return own == victim or abs(own / victim - 1.0) > 0.1


@given(BUDGETS, BUDGETS)
@example(2.0, 2.0)
@settings(max_examples=25, deadline=None)
def test_laplace_errors_are_those_of_the_formula(own: float, victim: float) -> None:
    assume(apart(own, victim))
    ends = laplace(victim, 0.0), laplace(victim, 1.0)

    found = min(density_clone_probabilities(laplace(own, 0.0), *ends))

    expected = laplace_clone_probabilities(np.array([own]), victim)[0]
    assert found == pytest.approx(expected, abs=1e-9)
    assert density_target_error(*ends) == pytest.approx(
        laplace_target_error(victim), abs=1e-12
    )


@given(BUDGETS, BUDGETS, st.sampled_from([0.0, 1e-10, 1e-3, 0.2]))
@example(2.0, 2.0, 1e-10)
@settings(max_examples=8, deadline=None)
@pytest.mark.slow
def test_gaussian_errors_are_those_of_the_formula(
    own: float, victim: float, failure: float
) -> None:
    assume(apart(own, victim))
    sigma, other = 1.0 / own, 1.0 / victim
    ends = normal(other, 0.0, failure), normal(other, 1.0, failure)

    found = min(density_clone_probabilities(normal(sigma, 0.0, failure), *ends))

    expected = gaussian_clone_probabilities(
        np.array([sigma]), other, tail=failure / 2.0
    )[0]
    assert found == pytest.approx(expected, abs=1e-8)
    assert density_target_error(*ends) == pytest.approx(
        gaussian_target_error(other, tail=failure / 2.0), abs=1e-10
    )


@pytest.mark.slow
@pytest.mark.parametrize("value", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("own", "victim"), [(0.5, 2.0), (3.0, 1.0), (1.0, 1.0)])
def test_any_value_against_many_digits(value: float, own: float, victim: float) -> None:
    with mp.workdps(50):
        e, v, x = mp.mpf(own), mp.mpf(victim), mp.mpf(value)

        def f(rate: Any, z: Any, at: Any) -> Any:
            return rate / 2 * mp.exp(-rate * abs(z - at))

        # Logarithms are linear between 0, x and 1: crossings are exact.
        marks = sorted(
            {mp.mpf(-60), mp.mpf(0), mp.mpf(1) / 2, x, mp.mpf(1), mp.mpf(61)}
        )
        cuts = set(marks)
        for low, high in pairwise(marks):
            for at in (mp.mpf(0), mp.mpf(1)):
                gaps = [mp.log(f(e, z, x) / f(v, z, at)) for z in (low, high)]
                if gaps[0] * gaps[1] < 0:
                    cuts.add(low + (high - low) * gaps[0] / (gaps[0] - gaps[1]))
        edges, chances = sorted(cuts), [mp.mpf(0), mp.mpf(0)]
        for low, high in pairwise(edges):
            middle = (low + high) / 2
            mine, zero, one = f(e, middle, x), f(v, middle, 0), f(v, middle, 1)
            part = mp.quad(lambda z: f(e, z, x), [low, high])
            chances[0] += part if mine <= zero and one < zero else 0
            chances[1] += part if mine <= one and zero < one else 0

    found = density_clone_probabilities(
        laplace(own, value), laplace(victim, 0.0), laplace(victim, 1.0)
    )

    # What lies beyond 36 exponents; and where values are equal, so are densities.
    assert found == pytest.approx([float(chance) for chance in chances], abs=1e-10)


def test_densities_with_jumps_are_cut_there() -> None:
    def steps(high: float) -> MessageDensity:
        def density(z: Floats) -> Floats:
            return np.where(z < 0.3, high, (1.0 - 0.3 * high) / 0.7)

        return MessageDensity(density, 0.0, 1.0, kinks=[0.3])

    found = density_clone_probabilities(steps(1.0), steps(2.0), steps(0.5))

    # She is more likely below 0.3 with the first value, above it with the second.
    assert found == pytest.approx((0.3, 0.7), abs=1e-12)
    assert density_target_error(steps(2.0), steps(0.5)) == pytest.approx(
        0.15, abs=1e-12
    )


@pytest.mark.parametrize(
    "density",
    [
        lambda z: np.full(z.shape, 0.9),
        lambda z: np.full(z.shape, np.nan),
        lambda z: np.where(z < 0.5, 3.0, -1.0),
    ],
)
def test_what_is_no_density_is_refused(density: Any) -> None:
    wrong = MessageDensity(density, 0.0, 1.0, kinks=[0.5])

    with pytest.raises(sdp.InvalidInputError, match="integrates to 1"):
        density_clone_probabilities(wrong, wrong, wrong)
    with pytest.raises(sdp.InvalidInputError, match="integrates to 1"):
        density_target_error(wrong, wrong)


@pytest.mark.parametrize(
    ("low", "high", "failure"),
    [(1.0, 1.0, 0.0), (0.0, math.inf, 0.0), (math.nan, 1.0, 0.0), (0.0, 1.0, 1.0)],
)
def test_ranges_that_make_no_sense(low: float, high: float, failure: float) -> None:
    with pytest.raises(sdp.InvalidInputError, match="Expected"):
        MessageDensity(np.ones_like, low, high, failure=failure)


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize(("own", "victim"), [(2, 5), (5, 5), (5, 2)])
def test_responses_by_enumeration(size: int, own: int, victim: int) -> None:
    def chances(ratio: int, value: int) -> list[Fraction]:
        whole = Fraction(1, ratio + size - 1)
        return [ratio * whole if z == value else whole for z in range(size)]

    first, second = chances(victim, 0), chances(victim, size - 1)
    smallest = min(
        sum(
            mine
            for mine, here, there in zip(chances(own, value), one, other, strict=True)
            if mine <= here and there < here
        )
        for value in range(size)
        for one, other in ((first, second), (second, first))
    )

    found, target_error = mechanism_clone_probabilities(
        sdp.KRandomizedResponse(size), np.log([float(own)]), math.log(victim)
    )

    assert found[0] == pytest.approx(float(smallest), abs=1e-12)
    assert target_error == pytest.approx(1.0 / (victim + size - 1), abs=1e-12)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("own", [2.0, 4.0])
def test_noise_on_its_grid_is_close_to_noise(own: float) -> None:
    victim, levels = 2.0, np.array([own])
    gaussian = sdp.Gaussian(delta_local=1e-3, calibration="classical")
    deviations = gaussian.deviations(np.array([own, victim])) / 2.0

    found, target_error = mechanism_clone_probabilities(sdp.Laplace(), levels, victim)
    normal_found, normal_target_error = mechanism_clone_probabilities(
        gaussian, levels, victim
    )

    # 4096 cells.
    cell = 4.0 / 4096
    assert found == pytest.approx(
        laplace_clone_probabilities(levels, victim), abs=2 * cell
    )
    assert target_error == pytest.approx(laplace_target_error(victim), abs=2 * cell)
    sigma = float(deviations[1])
    expected = gaussian_clone_probabilities(deviations[:1], sigma, tail=5e-4)
    assert normal_found == pytest.approx(expected, abs=2 * cell)
    assert normal_target_error == pytest.approx(
        gaussian_target_error(sigma, tail=5e-4), abs=2 * cell
    )


def test_a_density_of_ones_own_is_integrated() -> None:
    def density(messages: Floats, value: float, epsilon: float) -> Floats:
        rate = epsilon / 2.0
        sides = math.expm1(-rate * (1.0 + value)) + math.expm1(-rate * (1.0 - value))
        return np.exp(-rate * np.abs(messages - value)) * (rate / -sides)

    own = sdp.DensityRandomizer(density, (-1.0, 1.0), -1.0, 1.0, 2.0, 0.0)
    levels = np.array([0.5, 1.0])

    found, target_error = mechanism_clone_probabilities(own, levels, 1.0)
    cells, cells_target_error = mechanism_clone_probabilities(
        sdp.ClipLaplace(), levels, 1.0
    )

    # On 4096 cells.
    assert found == pytest.approx(cells, abs=1e-3)
    assert target_error == pytest.approx(cells_target_error, abs=1e-3)


@pytest.mark.parametrize("budget", [0.5, 1.0, 3.0])
def test_with_equal_bits_theorem_2_mended_bounds_the_exact_divergence(
    budget: float,
) -> None:
    people = sdp.Population.from_counts({budget: 500})
    setting = Setting(people, sdp.KRandomizedResponse(2))
    mended = HypothesisTesting(as_printed=False)

    for epsilon in (0.0, 0.01, 0.1, 0.5 * budget):
        stated = mended.delta(setting, epsilon)

        # Everybody is a clone with exactly the chance of a lie.
        exact = Feldman2023Numerical().delta(setting, epsilon)
        assert stated >= exact * (1.0 - 1e-9)
        if epsilon == 0.0:
            # What is revealed of lies costs nothing where nothing is forgiven.
            assert stated == pytest.approx(exact, rel=1e-9)


def test_the_ends_are_not_the_worst_case_of_clip_laplace() -> None:
    first, second = (
        message_distribution(sdp.ClipLaplace(), 1.0, value) for value in (-1.0, 1.0)
    )

    at_the_end, between = (
        min(
            _mistaken_probabilities(
                message_distribution(sdp.ClipLaplace(), 1.0, value), first, second, 0.0
            )
        )
        for value in (-1.0, -0.75)
    )

    assert at_the_end == pytest.approx(0.3775, abs=1e-3)
    assert between == pytest.approx(0.1521, abs=1e-3)


@pytest.mark.parametrize(
    "device",
    [
        sdp.SubsetSelection(6, 2),
        sdp.HadamardResponse(6),
        sdp.LocalHashing(6, 2),
        sdp.OneBit(0, 4),
        sdp.ClipLaplace(),
    ],
    ids=repr,
)
def test_every_mechanism_of_one_message_has_a_claim(device: Any) -> None:
    setting = Setting(sdp.Population.from_counts({0.5: 300, 1.0: 700}), device)

    clone_probabilities, target_error = HypothesisTesting().clone_probabilities(setting)

    assert np.all((clone_probabilities > 0.0) & (clone_probabilities <= 0.5))
    assert 0.0 < target_error < 0.5
    assert 0.0 < HypothesisTesting().epsilon(setting, 1e-6) < 1.0


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (sdp.Rappor(8, 2), "one message per person"),
        (sdp.UnaryEncoding(4), "one message per person"),
        (sdp.DeclaredRatios(q=2.0), "known chances"),
    ],
)
def test_mechanisms_of_several_messages_or_of_none_are_refused(
    device: Any, message: str
) -> None:
    setting = Setting(sdp.Population.from_counts({1.0: 10}), device)

    with pytest.raises(OutsidePreconditions, match=message):
        HypothesisTesting().delta(setting, 0.1)


def test_too_many_levels_are_refused() -> None:
    people = sdp.Population.from_budgets(np.linspace(0.1, 1.0, 1001))

    with pytest.raises(OutsidePreconditions, match="at most 1000 levels"):
        HypothesisTesting().delta(Setting(people, sdp.ClipLaplace()), 0.1)
