"""The bound of right guesses against small mechanisms, enumerated, and against noise."""

import itertools
import math

import numpy as np
import pytest
from canary_oracles import some_canaries, some_seen
from scipy.optimize import linprog
from scipy.stats import norm

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_services.evidence.canary_guessing_test import (
    guess_scores,
    guesses_finding,
    guessing_p_value,
    knapsack,
    select_guesses,
)
from shuffledp_services.evidence.e_values import calibrated
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles


def promise(*rows: tuple[float, float]) -> PrivacyProfiles:
    epsilons, deltas = (np.array(column)[:, None] for column in zip(*rows, strict=True))
    return PrivacyProfiles(np.array([1.0]), epsilons, deltas)


def chances_of_right_guesses(channel: Floats, count: int) -> Floats:
    """P(W = w) of the best guess about each bit sent through a channel of its own.

    Args:
        channel: P(message | bit), shape (2, messages).
        count: Bits, each guessed from its own message by the likelier value.
    """
    found = np.zeros(count + 1)
    messages = range(channel.shape[1])
    for bits in itertools.product((0, 1), repeat=count):
        for seen in itertools.product(messages, repeat=count):
            chance = math.prod(channel[b, y] for b, y in zip(bits, seen, strict=True))
            right = sum(
                int(channel[1, y] >= channel[0, y]) == b
                for b, y in zip(bits, seen, strict=True)
            )
            found[right] += chance / 2**count
    return found


def profile(channel: Floats, epsilon: float) -> float:
    both = channel, channel[::-1]
    return max(
        float(np.maximum(c[0] - math.exp(epsilon) * c[1], 0.0).sum()) for c in both
    )


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_randomized_response_meets_the_bound_exactly(count: int) -> None:
    epsilon = 0.8
    keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    channel = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])

    exact = chances_of_right_guesses(channel, count)[::-1].cumsum()[::-1]

    for wanted in range(count + 1):
        bound = guessing_p_value(
            wanted,
            np.array([count]),
            np.array([count]),
            promises=promise((epsilon, 0.0)),
        )
        # No mechanism with this epsilon is more telling: the bound is reached.
        assert exact[wanted] * (1.0 - 1e-12) <= bound <= exact[wanted] * (1.0 + 1e-6)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_channel_with_a_whole_profile_stays_below_every_point_of_it(
    count: int,
) -> None:
    # Reveals the bit once in ten times, says little otherwise.
    channel = np.array([[0.1, 0.0, 0.5, 0.4], [0.0, 0.1, 0.4, 0.5]])
    exact = chances_of_right_guesses(channel, count)[::-1].cumsum()[::-1]
    rows = [(e, profile(channel, e)) for e in (0.0, 0.1, math.log(1.25), 1.0, 3.0)]

    for wanted in range(count + 1):
        sizes = np.array([count]), np.array([count])
        each = [guessing_p_value(wanted, *sizes, promises=promise(r)) for r in rows]
        together = guessing_p_value(wanted, *sizes, promises=promise(*rows))
        assert exact[wanted] * (1.0 - 1e-12) <= min(each)
        assert together == min(each)


@pytest.mark.parametrize("count", [2, 4, 6])
def test_a_mechanism_that_reveals_all_or_nothing_is_bounded(count: int) -> None:
    # (0, 0.3)-private for each bit; all guesses are right at once.
    delta = 0.3
    for wanted in range(count + 1):
        coins = sum(math.comb(count, w) for w in range(wanted, count + 1)) / 2**count
        exact = delta + (1.0 - delta) * coins
        bound = guessing_p_value(
            wanted, np.array([count]), np.array([count]), promises=promise((0.0, delta))
        )
        assert exact <= bound * (1.0 + 1e-12)


def test_guessing_half_and_abstaining_from_the_rest_is_bounded() -> None:
    # Each bit comes with normal noise; those that say most are guessed.
    rng, sigma, count, runs = np.random.default_rng(7), 1.0, 60, 4_000
    bits = rng.integers(2, size=(runs, count))
    scores = (2.0 * bits - 1.0) + 2.0 * sigma * rng.normal(size=bits.shape)
    levels = np.zeros(count, dtype=np.int64)
    rows = []
    for epsilon in np.linspace(0.0, 4.0, 17).tolist():
        delta = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
        rows.append((epsilon, float(delta)))

    p_values = []
    for one, held in zip(scores, bits, strict=True):
        chosen = select_guesses(one, levels)
        right = int(((one[chosen] >= 0.0) == (held[chosen] == 1)).sum())
        p_values.append((right, chosen.size))

    assert {size for _, size in p_values} == {30}
    known = {
        right: guessing_p_value(
            right, np.array([30]), np.array([60]), promises=promise(*rows)
        )
        for right in {right for right, _ in p_values}
    }
    found = np.array([known[right] for right, _ in p_values])
    for alpha in (0.5, 0.1, 0.01):
        # Five standard errors: a false alarm once in 10^6 times.
        assert (found <= alpha).mean() <= alpha + 5.0 * math.sqrt(alpha / runs)
    assert np.mean([right for right, _ in p_values]) > 22.0  # They do tell.


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
def test_bets_on_guesses_win_nothing_on_average(delta: float) -> None:
    # All bits are revealed with chance delta, and sent by coins otherwise.
    count, epsilon = 6, 0.8
    keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    coins = chances_of_right_guesses(
        np.array([[keep, 1.0 - keep], [1.0 - keep, keep]]), count
    )
    law = (1.0 - delta) * coins
    law[-1] += delta

    sizes = np.array([count]), np.array([count])
    mean = sum(
        chance
        * calibrated(guessing_p_value(w, *sizes, promises=promise((epsilon, delta))))
        for w, chance in enumerate(law.tolist())
    )

    assert 0.5 < mean <= 1.0


def test_levels_of_different_budgets_are_guessed_together() -> None:
    # Of two bits, one at each level: enumerated by hand.
    keep = [math.exp(e) / (1.0 + math.exp(e)) for e in (0.5, 2.0)]
    both = PrivacyProfiles(
        np.array([1.0, 2.0]), np.array([[0.5, 2.0]]), np.zeros((1, 2))
    )

    found = [
        guessing_p_value(w, np.array([1, 1]), np.array([1, 1]), promises=both)
        for w in (0, 1, 2)
    ]

    expected = [1.0, 1.0 - (1.0 - keep[0]) * (1.0 - keep[1]), keep[0] * keep[1]]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("wanted", [1, 3, 5])
@pytest.mark.parametrize("bought", [0.0, 0.05, 0.7, 9.0])
def test_the_knapsack_is_a_linear_program(wanted: int, bought: float) -> None:
    law = np.array([0.1, 0.2, 0.3, 0.2, 0.15, 0.05])

    # Variables: with which chance the missing guesses are bought, for each B < wanted.
    missing = np.arange(wanted, 0, -1)
    mass = law[:wanted]
    solved = linprog(
        -mass, A_ub=[(mass * missing).tolist()], b_ub=[bought], bounds=(0, 1)
    )

    assert knapsack(law, wanted, bought) == pytest.approx(
        law[wanted:].sum() - solved.fun
    )


def test_bits_are_guessed_from_the_larger_of_two_estimates() -> None:
    canaries = some_canaries(40, receipts=np.ones(40, np.bool_))
    leaked = np.zeros(80)
    leaked[canaries.values.astype(np.int64)] = 1.0
    promises = promise((0.5, 1e-6))

    seen = some_seen(estimate=leaked)
    found = guesses_finding(canaries, seen, promises=promises)
    other = guesses_finding(canaries, some_seen(), promises=promises)

    assert "20 of 20" in found.sentence
    chance = (1.0 / (1.0 + math.exp(-0.5))) ** 20
    assert found.p_value is not None
    assert chance <= found.p_value <= 1.5 * chance
    assert other.p_value is None


def test_a_mean_says_something_of_all_canaries_at_once() -> None:
    canaries = some_canaries(6, pairs=np.array([[0.0, 1.0], [1.0, 0.0]] * 3))

    scores = guess_scores(canaries, some_seen(estimate=np.array([0.7]), center=0.5))

    assert np.sign(scores).tolist() == [1.0, -1.0] * 3


def test_canaries_without_a_promise_or_a_category_are_refused() -> None:
    seen = some_seen(estimate=np.ones(8))

    canaries = some_canaries(4, levels=np.full(4, 2.0))
    with pytest.raises(InvalidInputError, match="promise to the level"):
        guesses_finding(canaries, seen, promises=promise((0.5, 0.0)))
    with pytest.raises(InvalidInputError, match="categories in"):
        guesses_finding(some_canaries(5), seen, promises=promise((0.5, 0.0)))
