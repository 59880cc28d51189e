import itertools
import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from oracles.bit_vectors import (
    bloom,
    filters,
    largest_divergences,
    measured_budget,
    one_hot,
)
from scipy.stats import binom

from shuffledp import (
    InvalidInputError,
    Population,
    Rappor,
    UnaryEncoding,
    account,
)
from shuffledp.accounting.certificate import read_certificate
from shuffledp.statistics.single_message import SingleMessage

LEVELS = [1e-12, 0.1, 1.0, 5.0, 700.0]
NOISES = [(1.0, 0.0), (0.75, 0.25), (0.9, 0.0), (0.5, 0.35)]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_permanent_response_keeps_the_budget_and_a_report_shows_no_more(
    noise: tuple[float, float], level: float, hashes: int
) -> None:
    q, p = noise
    device = Rappor(7, hashes, one_given_one=q, one_given_zero=p)
    # Bits that no value sets say nothing: they are left out.
    patterns = [(1,) * hashes + (0,) * hashes, (0,) * hashes + (1,) * hashes]

    budgets = []
    for one in (device.permanent, device):
        chances = one.drawn(np.array([level]))
        lost, stray = float(chances.lost[0]), float(chances.stray[0])
        budgets.append(measured_budget(patterns, lost, stray))

    permanent, report = budgets
    assert permanent <= level
    assert float(permanent) == pytest.approx(level, rel=1e-12, abs=1e-13)
    # Chances of a report are rounded, by less than this.
    assert report <= permanent * (1 + 1e-12) + 1e-13


@pytest.mark.parametrize("level", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(("q", "p"), NOISES)
def test_two_reports_from_one_permanent_response_keep_its_budget(
    level: float, q: float, p: float
) -> None:
    device = Rappor(3, 1, one_given_one=q, one_given_zero=p)
    flip = mp.mpf(float(device.permanent.drawn(np.array([level])).lost[0]))

    def both(bits: tuple[int, ...], held: int) -> Any:
        """Chance of this pair of reported bits for a bit of the filter."""
        total = mp.mpf(0)
        for kept in (0, 1):
            one = mp.mpf(q if kept else p)
            reported = mp.fprod(one if bit else 1 - one for bit in bits)
            total += (flip if kept != held else 1 - flip) * reported
        return total

    pairs = list(itertools.product((0, 1), repeat=2))
    ratios = []
    for outcome in itertools.product(pairs, repeat=3):
        here, there = (
            mp.fprod(
                both(bits, held) for bits, held in zip(outcome, value, strict=True)
            )
            for value in one_hot(3)[:2]
        )
        if here > 0 and there > 0:
            ratios.append(mp.log(here / there))
        else:
            assert here == there == 0

    assert 0 < max(ratios) <= level


@pytest.mark.few_cases(2)
@covering(
    (("q", "p"), NOISES),
    (
        ("bits", "hashes", "crowd"),
        [
            (3, 1, {1.0: 4}),
            (3, 1, {0.5: 2, 3.0: 1}),
            (5, 2, {2.0: 2}),
            (5, 2, {0.5: 1, 3.0: 1}),
        ],
    ),
)
def test_exact_divergence_lies_between_attack_and_certificate(
    q: float, p: float, bits: int, hashes: int, crowd: dict[float, int]
) -> None:
    people = Population.from_counts(crowd)
    device = SingleMessage(Rappor(bits, hashes, one_given_one=q, one_given_zero=p))
    chances = [bloom(level, hashes, q, p) for level in crowd]
    # The last value's hashes collide, so that there is room for a third one.
    values = sorted({*filters(bits, hashes), one_hot(bits)[-1]})

    for position, level in enumerate(crowd):
        epsilons = [0.0, 0.1 * level, 0.5 * level, 0.9 * level]
        exact = largest_divergences(
            values, chances, list(crowd.values()), position, epsilons
        )
        for epsilon, worst in zip(epsilons, exact, strict=True):
            (answer,) = account(device, people, epsilon=epsilon, levels=[level]).levels
            # Sums of a few thousand doubles.
            assert worst <= answer.delta_central + 1e-14
            assert answer.delta_central_lower <= worst + 1e-14


def _count(others: float, own: float, people: int) -> Any:
    """Probabilities of all numbers of ones that may arrive in a coordinate."""
    return np.convolve(
        binom.pmf(np.arange(people), people - 1, others), [1.0 - own, own]
    )


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_no_test_of_two_counts_shows_more_than_the_attack(delta: float) -> None:
    people, device = 300, Rappor(32, 1)
    crowd = Population.from_counts({4.0: people})
    shown = account(device, crowd, delta=delta).worst.epsilon_central_lower
    kept, stray = (float(c[0]) for c in device.effective_probabilities(np.array([4.0])))

    # All others hold x; every pair of counts, if she holds x and if she holds x'.
    first, second = (
        np.outer(_count(kept, here, people), _count(stray, there, people))
        for here, there in ((kept, stray), (stray, kept))
    )

    def largest(epsilon: float) -> float:
        pairs = ((first, second), (second, first))
        return max(
            float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum()) for p, q in pairs
        )

    # What is shown is true, and the best test of all shows less than 0.02% more.
    assert largest(shown * (1.0 - 1e-5)) > delta
    assert largest(shown * (1.0 + 2e-4)) < delta


@pytest.mark.slow
def test_one_hash_and_no_later_noise_is_unary_encoding() -> None:
    people = Population.from_counts({0.5: 300, 2.0: 700})

    filters_, unary = (
        account(SingleMessage(device), people, delta=1e-6)
        for device in (Rappor(9, 1).permanent, UnaryEncoding(9))
    )

    assert filters_.levels == unary.levels


@pytest.mark.slow
def test_reports_are_worth_more_than_the_permanent_response() -> None:
    people, device = Population.from_counts({1.0: 10**4}), Rappor(128, 2)

    report, permanent, many = (
        account(SingleMessage(one), people, delta=1e-6, rounds=rounds)
        for one, rounds in [(device, 1), (device.permanent, 1), (device, 10_000)]
    )

    assert report.worst.epsilon_central_lower >= 0.0035
    assert report.worst.epsilon_central <= 0.0037
    assert permanent.worst.epsilon_central_lower >= 0.0159
    assert permanent.worst.epsilon_central <= 0.0171
    # Fresh permanent responses for every report would use up far more.
    assert many.worst.epsilon_central_lower > 10.0 * permanent.worst.epsilon_central
    assert read_certificate(report.to_dict()) == report


@pytest.mark.slow
@pytest.mark.parametrize(
    "hashes",
    [
        pytest.param(1, marks=pytest.mark.slow),
        2,
        pytest.param(16, marks=pytest.mark.slow),
    ],
)
def test_certificates_never_exceed_the_budgets_of_the_reports(hashes: int) -> None:
    for device, level in itertools.product(
        (Rappor(64, hashes), Rappor(64, hashes).permanent), (0.01, 6.0, 700.0)
    ):
        for num_users in (2, 50):
            people = Population.from_counts({level: num_users})
            one, two = (
                account(SingleMessage(device), people, delta=1e-6, rounds=rounds).worst
                for rounds in (1, 2)
            )

            assert one.epsilon_central_lower <= one.epsilon_central <= level
            assert two.epsilon_central_lower <= two.epsilon_central
            # The total is rounded upward.
            assert two.epsilon_central <= 2.0 * level * (1.0 + 1e-15)
            assert one.epsilon_central <= two.epsilon_central


@pytest.mark.parametrize(("q", "p"), NOISES)
def test_bits_are_drawn_as_often_as_they_say(q: float, p: float) -> None:
    device, n = Rappor(5, 2, one_given_one=q, one_given_zero=p), 100_000
    rng = np.random.default_rng(6)
    held = np.tile(np.array([1, 0, 1, 0, 0], dtype=bool), (n, 1))
    epsilons = np.full(n, 2.0)

    permanent = device.permanent_response(held, epsilons, rng=rng)
    reports = device.instantaneous_response(permanent, rng=rng)

    kept = device.permanent.effective_probabilities(np.array([2.0]))
    sent = device.effective_probabilities(np.array([2.0]))
    for drawn, chances in ((permanent, kept), (reports, sent)):
        for bit in range(5):
            chance = float(chances[0 if held[0, bit] else 1][0])
            error = math.sqrt(chance * (1.0 - chance) / n)
            # Ten checks, 5 standard errors: a false alarm in 6e-6 of all seeds.
            assert abs(drawn[:, bit].mean() - chance) <= 5.0 * error
    assert sent[0][0] == pytest.approx(bloom(2.0, 2, q, p)[0], rel=1e-13)
    assert sent[1][0] == pytest.approx(bloom(2.0, 2, q, p)[1], rel=1e-13, abs=1e-16)


def test_a_permanent_response_is_repeated_where_no_noise_follows() -> None:
    device, rng = Rappor(6, 2).permanent, np.random.default_rng(8)
    held = np.zeros((4, 6), dtype=bool)

    permanent = device.permanent_response(held, np.ones(4), rng=rng)

    assert np.array_equal(device.instantaneous_response(permanent, rng=rng), permanent)
    assert not held.any()
    assert device.permanent == device


@pytest.mark.parametrize(
    "parameters",
    [
        (2, 1),
        (4, 2),
        (5, 0),
        (5, 2.0),
        (5.0, 1),
        (5, True),
        (200, 65),
        (2**22 + 1, 1),
        (5, 1, 0.5, 0.5),
        (5, 1, 0.2, 0.7),
        (5, 1, 1.1, 0.0),
        (5, 1, 1.0, -0.1),
        (5, 1, math.nan, 0.0),
        (5, 1, "high", 0.0),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any) -> None:
    bits, hashes, *noise = parameters
    q, p = noise or (0.75, 0.25)

    with pytest.raises(InvalidInputError, match="Expected"):
        Rappor(bits, hashes, one_given_one=q, one_given_zero=p)


@pytest.mark.parametrize(
    ("held", "levels"),
    [
        (np.zeros((2, 5), dtype=bool), [1.0]),
        (np.zeros((1, 4), dtype=bool), [1.0]),
        (np.zeros((1, 5)), [1.0]),
        (np.zeros(5, dtype=bool), [1.0]),
        ([[False] * 5], [1.0]),
        (np.ones((1, 5), dtype=bool), [1.0]),
        (np.zeros((1, 5), dtype=bool), [-1.0]),
    ],
)
def test_filters_and_levels_that_make_no_sense_are_refused(
    held: Any, levels: Any
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Rappor(5, 2).permanent_response(held, levels, rng=np.random.default_rng(1))


def test_responses_of_another_shape_are_refused() -> None:
    rng = np.random.default_rng(1)

    with pytest.raises(InvalidInputError, match="permanent responses"):
        Rappor(5, 2).instantaneous_response(np.zeros((3, 4), dtype=bool), rng=rng)
