from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import clipped_chances, clipped_density
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.statistics.single_message import SingleMessage

LEVELS = [0.01, 0.5, 2.0, 20.0]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99, 1.0, 1.5])
def test_local_delta_is_the_integral_over_the_range(level: float, share: float) -> None:
    rate, epsilon = mp.mpf(level) / 2, mp.mpf(share * level)
    norm = -mp.expm1(-2 * rate) / rate

    def positive(y: Any) -> Any:
        here = mp.exp(-rate * (1 + y)) - mp.exp(epsilon - rate * (1 - y))
        return max(here / norm, mp.mpf(0))

    exact = mp.quad(positive, [-1, max(-1, -epsilon / (2 * rate))])

    local = ClipLaplace().local_delta(level, share * level)

    # The quadrature has some twelve digits.
    assert local == pytest.approx(float(exact), rel=1e-9, abs=1e-20)
    assert (local > 0.0) == (share < 1.0)


@pytest.mark.parametrize("level", LEVELS)
def test_budget_measured_from_the_densities_is_the_level(level: float) -> None:
    y = np.linspace(-1.0, 1.0, 201)
    densities = [clipped_density(level / 2.0, z, y) for z in np.linspace(-1, 1, 41)]
    logs = np.log(densities)

    measured = float((logs.max(axis=0) - logs.min(axis=0)).max())

    assert measured == pytest.approx(level, rel=1e-11)  # rounding of logarithms
    assert ClipLaplace().delta_local == 0.0


@pytest.mark.parametrize("level", [1e-300, 1.0, 700.0])
def test_local_delta_is_0_however_far_beyond_the_level(level: float) -> None:
    for epsilon in (level, 2.0 * level, 5_000.0, 1e300):
        assert ClipLaplace().local_delta(level, epsilon) == 0.0


# Bins end where cells of the public grid do.
EDGES = np.round(np.linspace(-1.0, 1.0, 41) * 2048.0) / 2048.0


def test_nobody_is_seen_at_budget_zero() -> None:
    assert ClipLaplace().local_delta(0.0, 0.0) == 0.0

    bins = ClipLaplace().bins(np.array([0.0]), 0.3)

    assert bins[0] == pytest.approx(np.diff(EDGES) / 2.0, rel=1e-3)


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_bins_are_those_of_the_distribution(value: float) -> None:
    bins = ClipLaplace().bins(np.array(LEVELS), value)

    for row, level in zip(bins, LEVELS, strict=True):
        exact = laplace_parts(level / 2.0, value, EDGES)
        # Far from the value, the oracle's are differences of numbers near 1.
        assert row == pytest.approx(exact, rel=1e-9, abs=1e-14)
        assert row.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("level", [1e-6, 3.0, 45.0, 80.0])
def test_bins_far_from_a_value_have_all_their_digits(level: float) -> None:
    bins = ClipLaplace().bins(np.array([level]), 1.0)[0]

    with mp.workdps(60):
        rate = mp.mpf(level) / 2
        areas = [mp.exp(-rate * (1 - mp.mpf(edge))) for edge in EDGES.tolist()]
        whole = 1 - mp.exp(-2 * rate)
        for part, low, high in zip(bins.tolist(), areas[:-1], areas[1:], strict=True):
            assert abs(part * whole / (high - low) - 1) < 1e-11


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
@pytest.mark.parametrize("level", [46.0, 50.0, 60.0, 80.0])
def test_large_budgets_beside_a_small_one_are_certified(
    level: float, delta: float
) -> None:
    # Parts that were rounded to 0 made an attack out of nothing, and a contradiction.
    people = Population.from_counts({1.0: 1, level: 1})

    (answer,) = account(ClipLaplace(), people, delta=delta, levels=[level]).levels

    assert answer.epsilon_central_lower <= answer.epsilon_central <= level


def test_no_attack_shows_what_no_message_does() -> None:
    # No cell is more than e^52.5 times as likely for one value as for another.
    people = Population.from_counts({2.0: 1, 60.0: 1})

    (answer,) = account(
        ClipLaplace(cells=8), people, epsilon=58.8, levels=[60.0]
    ).levels

    assert answer.delta_central_lower == 0.0


def laplace_parts(
    rate: float, value: float, edges: np.typing.NDArray[np.float64]
) -> np.typing.NDArray[np.float64]:
    """A value within a bin cuts it in two."""
    split = np.unique(np.append(edges, value))
    parts = clipped_chances(rate, value, split)
    starts = np.searchsorted(split, edges[:-1])
    result: np.typing.NDArray[np.float64] = np.add.reduceat(parts, starts)
    return result


CROWDS = [{2.0: 2}, {0.5: 1, 3.0: 1}, {1.0: 3}, {0.5: 1, 2.0: 2}, {0.4: 2, 2.0: 2}]


@pytest.mark.parametrize("crowd", CROWDS, ids=str)
def test_binned_messages_of_few_people_never_exceed_the_certificate(
    crowd: dict[float, int],
) -> None:
    people, protocol = Population.from_counts(crowd), SingleMessage(ClipLaplace())
    size = {2: 300, 3: 50, 4: 16}[people.num_users]
    edges = np.linspace(-1.0, 1.0, size + 1)

    def sends(level: float, value: float) -> np.typing.NDArray[np.float64]:
        return laplace_parts(level / 2.0, value, edges)

    for victim in crowd:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon = 0.3 * victim
        (answer,) = account(protocol, people, epsilon=epsilon, levels=[victim]).levels
        for value in (-1.0, 0.0, 1.0):
            others = shuffled([sends(level, value) for level in levels])
            for x, other in [(-1.0, 1.0), (1.0, -1.0), (-1.0, 0.2), (0.6, -0.5)]:
                worlds = [with_victim(others, sends(victim, v)) for v in (x, other)]
                exact = divergence(worlds[0], worlds[1], epsilon)
                assert exact <= answer.delta_central * (1.0 + 1e-12)


@pytest.mark.parametrize("crowd", CROWDS[:4], ids=str)
def test_attack_is_reached_by_the_histogram_of_its_own_bins(
    crowd: dict[float, int],
) -> None:
    people, protocol = Population.from_counts(crowd), SingleMessage(ClipLaplace())
    edges = np.linspace(-1.0, 1.0, 41)

    for victim in crowd:
        epsilons = [0.0, 0.3 * victim]
        levels = people.budgets().tolist()
        levels.remove(victim)
        best = np.zeros(len(epsilons))
        for value in (-1.0, 0.0, 1.0):
            others = shuffled(
                [laplace_parts(level / 2.0, value, edges) for level in levels]
            )
            left, right = (
                with_victim(others, laplace_parts(victim / 2.0, v, edges))
                for v in (-1.0, 1.0)
            )
            found = [divergence(left, right, epsilon) for epsilon in epsilons]
            best = np.maximum(best, found)

        for epsilon, reached in zip(epsilons, best, strict=True):
            (answer,) = account(
                protocol, people, epsilon=epsilon, levels=[victim]
            ).levels
            # Sums of up to 10^5 doubles.
            assert answer.delta_central_lower <= reached * (1.0 + 1e-9) + 1e-13


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    level=st.floats(0.1, 5.0),
    others=st.floats(0.0, 3.0),
    size=st.integers(1, 3000),
    log_delta=st.floats(-12.0, -1.0),
)
def test_attack_never_exceeds_the_certificate(
    level: float, others: float, size: int, log_delta: float
) -> None:
    counts = {others: size, level: 1} if others != level else {level: size + 1}

    (answer,) = account(
        SingleMessage(ClipLaplace()),
        Population.from_counts(counts),
        delta=10.0**log_delta,
        levels=[level],
    ).levels

    assert 0.0 <= answer.epsilon_central_lower <= answer.epsilon_central <= level


def test_clip_does_not_matter() -> None:
    people = Population.from_counts({0.5: 200, 2.0: 300})

    first, second = (
        account(SingleMessage(ClipLaplace(clip)), people, delta=1e-6)
        for clip in (1.0, 1e-5)
    )

    assert first.levels == second.levels


@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan"), float("inf")])
def test_clips_that_make_no_sense_are_refused(clip: float) -> None:
    with pytest.raises(InvalidInputError, match="clip"):
        ClipLaplace(clip)
