"""Reports that are shuffled in parts: composition, ceilings and inverse problems."""

import itertools
from collections.abc import Callable

import mpmath as mp  # type: ignore[import-untyped]
import pytest

from shuffledp import InvalidInputError, Laplace, Population, UnaryEncoding, account
from shuffledp.accounting.calibration.calibration import (
    largest_budget,
    most_rounds,
    smallest_crowd,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.privacy_profile import privacy_profile
from shuffledp.accounting.rounds.composed_profile import composed_ceiling
from shuffledp.accounting.rounds.total_budget import divergence_of_budget, total_budget
from shuffledp.errors import CertificationError
from shuffledp.statistics.single_message import SingleMessage

mp.mp.dps = 50
BITS = SingleMessage(UnaryEncoding(6))


@pytest.mark.parametrize("budget", [1e-9, 0.5, 3.0, 700.0])
def test_a_budget_allows_no_more_than_binary_response(budget: float) -> None:
    for share in (0.0, 0.1, 0.5, 0.999):
        epsilon = share * budget

        found = divergence_of_budget(budget, epsilon)

        most = (mp.exp(budget) - mp.exp(epsilon)) / (mp.exp(budget) + 1)
        assert most <= found <= most * (1 + 1e-11) + 1e-300
    assert divergence_of_budget(budget, budget) == 0.0


def test_several_budgets_are_never_rounded_downward() -> None:
    for times, level in [(1, 0.1), (3, 0.1), (10**8, 1 / 3), (7, 1e-300)]:
        found = total_budget(times, level)

        exact = times * mp.mpf(level)
        assert exact <= found <= exact * (1 + 1e-15)
    assert total_budget(1, 0.1) == 0.1
    assert total_budget(10, 0.5) == 5.0


@pytest.mark.parametrize("points", [1, 251, 10**9])
def test_profiles_have_a_number_of_points_that_ends(points: int) -> None:
    people = Population.from_counts({1.0: 1_000})

    with pytest.raises(
        InvalidInputError, match=r"points, at least 2|at most 250 points"
    ):
        privacy_profile(BITS, people, 1.0, num_points=points)


def test_the_profile_of_a_report_ends_at_its_budget() -> None:
    people = Population.from_counts({0.5: 1, 1.0: 3})
    bits = SingleMessage(UnaryEncoding(6, "optimized"))

    profile = privacy_profile(bits, people, 1.0, num_points=9)

    assert profile.epsilons[-1] <= 1.0
    assert profile.certified[-1] <= 1e-12
    for epsilon, certified, attacked in zip(
        profile.epsilons, profile.certified, profile.attacked, strict=True
    ):
        assert attacked <= certified <= divergence_of_budget(1.0, float(epsilon))


@pytest.mark.slow
def test_bits_keep_what_others_hide_at_the_smallest_delta() -> None:
    people = Population.from_counts({1.0: 10_000})

    (found,) = account(BITS, people, delta=1e-300).levels

    # Each bit's own numbers reach as far as delta; the device alone is worth 1.
    assert found.epsilon_central_lower <= found.epsilon_central <= 0.275
    assert found.rests_on == "two messages"


@pytest.mark.slow
def test_certified_delta_falls_where_caution_is_all_that_is_left() -> None:
    people, device = Population.from_counts({12.0: 100_000}), Laplace()

    deltas = [
        account(device, people, epsilon=epsilon).levels[0].delta_central
        for epsilon in (9.0, 9.5, 10.3, 11.0, 11.9)
    ]

    for smaller, larger in itertools.pairwise(deltas):
        assert larger <= 1.01 * smaller


@pytest.mark.slow
def test_budgets_found_for_bits_use_up_their_target() -> None:
    promise = Promise(BITS, delta=1e-6)

    people = Population.from_counts({0.5: 100, 1.0: 900})
    found = largest_budget(promise, people, 1.0, 0.3)

    level = found.guarantee.levels[-1]
    assert 0.3 * 0.999 <= level.epsilon_central <= 0.3 * (1.0 + 1.1e-5)
    assert level.chosen > 1.0


@pytest.mark.slow
def test_crowds_found_for_bits_are_the_smallest() -> None:
    promise = Promise(BITS, delta=1e-6, rounds=2)
    people = Population.from_counts({1.0: 100})

    found = smallest_crowd(promise, people, [0.5])

    size = found.people.num_users
    one_less = account(
        BITS, Population.from_counts({1.0: size - 1}), epsilon=0.5, rounds=2
    )
    assert found.guarantee.worst.epsilon_central <= 0.5
    assert one_less.worst.delta_central > 1e-6


@pytest.mark.slow
def test_rounds_found_for_bits_are_the_most() -> None:
    promise = Promise(BITS, delta=1e-6)
    people = Population.from_counts({1.0: 5_000})

    rounds, found = most_rounds(promise, people, [0.4])

    more = account(BITS, people, delta=1e-6, rounds=rounds + 1).worst
    assert found.guarantee.worst.epsilon_central <= 0.4 * (1.0 + 1.1e-5)
    # Smoothing and dropped tails differ a little with the number of rounds.
    assert more.epsilon_central > 0.4 * 0.999


def test_too_many_shuffles_are_refused() -> None:
    people = Population.from_counts({1.0: 10})

    with pytest.raises(InvalidInputError, match="rounds times coordinates"):
        account(BITS, people, delta=1e-6, rounds=10**8)


def test_an_epsilon_beyond_a_million_is_no_promise() -> None:
    def falls_beyond(last: float) -> Callable[[float], float]:
        return lambda epsilon: 0.5 if epsilon < last else 0.0

    assert 3e5 <= composed_ceiling(falls_beyond(3e5), 1.0, 1e-6) <= 1e6
    with pytest.raises(CertificationError, match="ask for a larger one"):
        composed_ceiling(falls_beyond(3e6), 1.0, 1e-6)
