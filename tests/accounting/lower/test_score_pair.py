"""Pairs of score sums are dominated by the exact distributions, which mpmath sums up."""

from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles.score_sums import exact_distributions

import shuffledp as sdp
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower.score_pair import score_pair
from shuffledp.accounting.lower.score_sum import score_sum
from shuffledp.cover import ScoreAttack

# Ratios of probabilities, E = e^epsilon, on both sides of 1.
GROWTHS = [0.2, 0.7, 0.97, 0.999, 1.0, 1.001, 1.03, 1.4, 5.0]
# Of masses in double precision, which who composes them pays for.
ROUNDING = 1e-15
NEARLY_NOTHING = 1e-10
RESPONSES = ScoreAttack(
    np.array([[0.1, 0.8, 0.1], [0.2, 0.55, 0.25]]),
    np.array([0.5, 0.3, 0.2]),
    np.array([-0.3, 0.0, 0.3]),
)
BITS = ScoreAttack(
    np.array([[0.7, 0.3]]), np.array([0.6, 0.4]), np.array([-0.15, 0.15])
)
RARE = ScoreAttack(
    np.array([[0.999, 1e-3]]), np.array([0.9999, 1e-4]), np.array([-1e-3, 1e-3])
)
SKEWED = ScoreAttack(
    np.array([[0.5, 0.25, 0.0, 0.0, 0.25]]),
    np.array([0.1, 0.2, 0.3, 0.4, 0.0]),
    np.array([0.0, 0.1, -0.2, 0.0, 0.1]),
)
FAINT = ScoreAttack(
    np.array([[0.3, 0.4, 0.3]]), np.array([0.4, 0.3, 0.3]), np.array([0.0, -1e-9, 1e-9])
)
CASES = [
    (RESPONSES, (0, 0)),
    (RESPONSES, (2, 1)),
    (RESPONSES, (30, 20)),
    (BITS, (1,)),
    (BITS, (400,)),
    (RARE, (300,)),
    (SKEWED, (3,)),
    (SKEWED, (60,)),
    (FAINT, (50,)),
]


def pair_of(attack: ScoreAttack, counts: tuple[int, ...]) -> AttackedPair:
    pair = score_pair(attack, score_sum(attack.others, np.array(counts)), 1)
    assert pair is not None
    return pair


def divergence(first: Any, second: Any, growth: float) -> Any:
    """sum of (P - E Q)_+ in 60 digits."""
    with mp.workdps(60):
        return mp.fsum(
            max(mp.mpf(p) - mp.mpf(growth) * mp.mpf(q), 0)
            for p, q in zip(first, second, strict=True)
        )


@pytest.mark.parametrize(("attack", "counts"), CASES)
def test_no_divergence_of_the_pair_is_larger(
    attack: ScoreAttack, counts: tuple[int, ...]
) -> None:
    exact = exact_distributions(attack, counts)

    pair = pair_of(attack, counts)

    for growth in GROWTHS:
        largest = divergence(*exact, growth)
        shown = divergence(pair.first.tolist(), pair.second.tolist(), growth)
        paid = 2.0 * (1.0 + growth) * pair.missing
        tells = pair.first > growth * pair.second
        paid += ROUNDING * (pair.first + growth * pair.second)[tells].sum()
        assert shown - paid <= largest


@pytest.mark.parametrize(("attack", "counts"), CASES)
def test_hardly_any_is_smaller(attack: ScoreAttack, counts: tuple[int, ...]) -> None:
    exact = exact_distributions(attack, counts)

    pair = pair_of(attack, counts)

    for growth in GROWTHS:
        largest = divergence(*exact, growth)
        shown = divergence(pair.first.tolist(), pair.second.tolist(), growth)
        # One block where little changes is given away.
        assert shown >= 0.998 * largest - NEARLY_NOTHING * abs(attack.difference).sum()


@pytest.mark.parametrize(("attack", "counts"), CASES)
def test_both_distributions_have_a_mass_of_1(
    attack: ScoreAttack, counts: tuple[int, ...]
) -> None:
    pair = pair_of(attack, counts)

    assert pair.first.sum() == pytest.approx(1.0, abs=1e-13 + pair.missing)
    assert pair.second.sum() == pytest.approx(1.0, abs=1e-13 + pair.missing)
    assert pair.first.min() >= 0.0
    assert pair.missing < 1e-11


def test_an_attack_that_sees_no_change_is_none() -> None:
    nothing = ScoreAttack(BITS.others, BITS.second, np.zeros(2))

    assert score_pair(nothing, score_sum(BITS.others, np.array([5])), 1) is None


@pytest.mark.filterwarnings("error")
def test_tilts_of_which_nothing_is_known_are_left_out_without_a_warning() -> None:
    budgets = np.random.default_rng(2).uniform(4.0, 80.0, 50)
    people = sdp.Population.from_budgets(budgets)
    protocols: list[Any] = [sdp.Frequency(17), sdp.Mean(0, 1)]

    guarantee = sdp.account(protocols, people, delta=1e-6)

    assert guarantee.worst.epsilon_central_lower > 4.0
