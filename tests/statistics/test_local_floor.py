"""Answers randomized before they are counted: what is left to coalitions, and errors."""

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

import shuffledp as sdp
from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.counts.counts_exposure import CountsExposure
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.statistics.counts.local_floor import keep_and_flip
from shuffledp.types import Floats

TARGETS = (1.0, 2.0)
PEOPLE = sdp.Population.from_counts({1.0: 300, 2.0: 700})
GROUPS = (
    sdp.CountGroup(3, 1, sdp.PoissonNoise(60.0)),
    sdp.CountGroup(1, 1, sdp.PoissonNoise(40.0)),
)
HOLDERS = [np.array([[150, 50, 60], [100, 400, 0]]), np.array([[200], [100]])]


def counts_at(local_epsilon: float | None, rates: tuple[float, float]) -> sdp.Counts:
    return sdp.Counts(
        GROUPS, TARGETS, rates, PEOPLE.num_users, local_epsilon=local_epsilon
    )


@pytest.mark.slow
@pytest.mark.parametrize("local_epsilon", [1e-3, 1.0, 5.0, 40.0])
def test_reports_of_any_two_people_are_alike_up_to_the_floor(
    local_epsilon: float,
) -> None:
    counts = counts_at(local_epsilon, (0.5, 1.0))

    # The likeliest ratio of all randomized answers: in each group one is kept.
    ratio = 0.0
    for group in GROUPS:
        keep, flip = keep_and_flip(counts.parameters, group.buckets)
        assert keep + (group.buckets + 1) * flip == pytest.approx(1.0)
        ratio += math.log1p(keep / flip)

    assert ratio <= local_epsilon
    assert ratio == pytest.approx(local_epsilon, rel=1e-9)
    levels = sdp.account(counts, PEOPLE, delta=1e-6, rounds=3).levels
    for level in levels:
        assert level.epsilon_coalition is not None
        assert 3.0 * local_epsilon <= level.epsilon_coalition
        assert level.epsilon_coalition <= 3.0 * local_epsilon * (1.0 + 1e-4)
        assert level.epsilon_central_lower == 0.0


@pytest.mark.slow
def test_without_a_floor_a_coalition_learns_everything() -> None:
    (level, _) = sdp.account(counts_at(None, (0.5, 1.0)), PEOPLE, delta=1e-6).levels

    assert level.epsilon_coalition is None


def law_of(shares: Floats, noise: Floats) -> Floats:
    """The law of three counts if the answer is each bucket, or none, with these shares."""
    alone = np.einsum("i,j,k->ijk", noise, noise, noise)
    law: Floats = shares[3] * alone
    for bucket in range(3):
        law += shares[bucket] * np.roll(alone, 1, axis=bucket)
    return law


@pytest.mark.parametrize("local_epsilon", [0.5, 3.0])
def test_the_certificate_bounds_every_pair_of_answers(local_epsilon: float) -> None:
    people = sdp.Population.from_counts({1.0: 2})
    group = sdp.CountGroup(3, 1, sdp.PoissonNoise(1.5))
    counts = sdp.Counts((group,), (1.0,), (1.0,), 2, local_epsilon=local_epsilon)
    (exposure,) = counts.exposures(people)
    assert isinstance(exposure, CountsExposure)
    query = AccountingQuery({}, people.counts, 1e-3, None)
    bounds = exposure.bounds(1.0, query)
    # Beyond 24 messages of noise there is less than 1e-20.
    noise = stats.poisson.pmf(np.arange(25), 1.5)
    growth = math.exp(local_epsilon)
    shares = (np.ones((4, 4)) + (growth - 1.0) * np.eye(4)) / (growth + 3.0)
    laws = [law_of(row, noise) for row in shares]

    for epsilon in (0.0, 0.4, 1.0):
        exact = max(
            float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum())
            for one, other in itertools.permutations(laws, 2)
        )
        assert 0.0 < exact <= bounds.upper(epsilon) or epsilon > local_epsilon
        assert bounds.lower(epsilon) == 0.0


def yes_or_no(local_epsilon: float | None) -> sdp.Counts:
    rates = (1.0, 1.0)
    return sdp.Counts(GROUPS[1:], TARGETS, rates, 1_000, local_epsilon=local_epsilon)


def most_of(budget: Fraction, epsilon: float) -> mpmath.mpf:
    """The divergence that a pure budget allows at most, to 50 digits."""
    with mpmath.workdps(50):
        top = mpmath.mpf(budget.numerator) / budget.denominator
        gap = mpmath.exp(top) - mpmath.exp(mpmath.mpf(epsilon))
        return max(gap / (mpmath.exp(top) + 1), mpmath.mpf(0))


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.49, 0.5, 0.6])
def test_with_little_noise_the_floor_decides_and_is_tight(epsilon: float) -> None:
    people = sdp.Population.from_counts({1.0: 2})
    group = sdp.CountGroup(1, 1, sdp.PoissonNoise(1e-6))
    counts = sdp.Counts((group,), (1.0,), (1.0,), 2, local_epsilon=0.5)
    # A message or none among noise, after binary response.
    noise = stats.poisson.pmf(np.arange(-1, 9), 1e-6)
    keep = math.exp(0.5) / (1.0 + math.exp(0.5))
    one, none = np.roll(noise, 1), noise
    laws = keep * one + (1 - keep) * none, keep * none + (1 - keep) * one
    exact = max(
        float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum())
        for a, b in itertools.permutations(laws)
    )

    (level,) = sdp.account(counts, people, epsilon=epsilon).levels

    # The enumeration adds up doubles.
    assert exact - 1e-15 <= level.delta_central
    most = most_of(Fraction(1, 2), epsilon)
    assert most <= level.delta_central <= float(most) * (1.0 + 1e-5)
    assert level.delta_central <= exact + 2e-5
    assert level.rests_on == "device"
    assert level.delta_central_lower == 0.0


@pytest.mark.parametrize(
    ("local_epsilon", "times"), [(1e-6, 1), (0.1, 10), (0.5, 3), (700.0, 1)]
)
def test_the_smaller_of_both_bounds_is_certified(
    local_epsilon: float, times: int
) -> None:
    query: dict[str, Any] = {"delta": 1e-6, "rounds": times}
    without = sdp.account(yes_or_no(None), PEOPLE, **query).levels
    floored = sdp.account(yes_or_no(local_epsilon), PEOPLE, **query).levels
    budget = times * Fraction(local_epsilon)

    for level, before in zip(floored, without, strict=True):
        epsilon = level.epsilon_central
        assert level.epsilon_coalition is not None
        assert budget <= Fraction(level.epsilon_coalition) <= budget * (1 + 2**-52)
        assert epsilon <= level.epsilon_coalition
        if level.rests_on == "device":
            assert epsilon < before.epsilon_central
            assert most_of(budget, epsilon) <= 1e-6
            # A smaller number of six digits would not do.
            assert epsilon == 0.0 or most_of(budget, epsilon * (1 - 2e-5)) > 1e-6
        else:
            assert (epsilon, level.rests_on) == (before.epsilon_central, "counts")
            assert most_of(budget, epsilon) > 1e-6


def test_a_floor_holds_where_noise_proves_nothing() -> None:
    few = sdp.Population.from_counts({1.0: 100})
    noise = sdp.GeometricNoise(0.6, pairs=100.0, shape=8.0)
    terms = ((sdp.CountGroup(3, 1, noise),), (1.0,), (1.0,), 200)

    (level,) = sdp.account(
        sdp.Counts(*terms, local_epsilon=0.5), few, delta=1e-6
    ).levels

    assert (level.epsilon_central, level.rests_on) == (0.499999, "device")
    with pytest.raises(CertificationError, match="as many honest people"):
        sdp.account(sdp.Counts(*terms), few, delta=1e-6)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("query", [{"delta": 1e-6}, {"epsilon": 0.39}])
@pytest.mark.parametrize(
    ("local_epsilon", "rests_on"), [(0.2, "device"), (40.0, "composition")]
)
def test_floors_of_several_protocols_add_up(
    local_epsilon: float, rests_on: str, query: dict[str, Any]
) -> None:
    both = [yes_or_no(local_epsilon)] * 2
    before = sdp.account([yes_or_no(None)] * 2, PEOPLE, **query).levels

    levels = sdp.account(both, PEOPLE, **query).levels

    for level, other in zip(levels, before, strict=True):
        central = level.epsilon_central, level.delta_central
        assert level.epsilon_coalition == 2.0 * local_epsilon
        assert level.rests_on == rests_on
        # One of both is given.
        if rests_on == "device":
            assert central < (other.epsilon_central, other.delta_central)
            assert most_of(2 * Fraction(0.2), central[0]) <= central[1]
        else:
            assert central == (other.epsilon_central, other.delta_central)


def test_a_floor_of_one_protocol_says_nothing_of_another() -> None:
    both = [yes_or_no(None), yes_or_no(0.3)]

    levels = sdp.account(both, PEOPLE, delta=1e-6).levels

    assert {level.rests_on for level in levels} == {"composition"}
    assert {level.epsilon_coalition for level in levels} == {None}


@pytest.mark.slow
def test_estimates_are_unbiased_and_their_errors_honest() -> None:
    rng, runs = np.random.default_rng(11), 4_000
    counts = counts_at(3.0, (0.4, 0.9))
    truth = np.concatenate([held.sum(axis=0) for held in HOLDERS])

    # Targets are dealt out independent of answers: the estimate rests on it.
    values = []
    for _ in range(runs):
        dealt = []
        for held in HOLDERS:
            cells = [*held.sum(axis=0), PEOPLE.num_users - held.sum()]
            first = rng.multivariate_hypergeometric(cells, 300)[:-1]
            dealt.append(np.stack([first, held.sum(axis=0) - first]))
        tally = counts.draw_tally(dealt, PEOPLE, rng=rng)
        values.append(np.concatenate(counts.estimate(tally, PEOPLE).value))

    shares = [held.sum(axis=0) / PEOPLE.num_users for held in HOLDERS]
    errors = np.concatenate(counts.predicted_errors(PEOPLE, shares))
    # Five standard errors: a false alarm in 400,000 seeds.
    off = np.abs(np.mean(values, axis=0) - truth)
    assert np.all(off < 5.0 * errors / math.sqrt(runs))
    np.testing.assert_allclose(
        np.std(values, axis=0), errors, rtol=5.0 / math.sqrt(2 * runs)
    )


def test_devices_randomize_by_the_law_of_the_tally() -> None:
    rng, runs = np.random.default_rng(12), 40
    counts = counts_at(2.0, (0.4, 0.9))
    answers = np.tile([[0, -1], [-1, 0]], (500, 1))
    targets = np.repeat(TARGETS, PEOPLE.counts)
    holders = [
        np.array([[150, 0, 0], [350, 0, 0]]),
        np.array([[150], [350]]),
    ]

    by_devices, at_once = [], []
    for _ in range(runs):
        reports = counts.randomize(answers, targets, rng=rng)
        tally = counts.tally(sdp.shuffle(reports, rng=rng))
        by_devices.append(tally.counts[0, 0, ::2])
        at_once.append(counts.draw_tally(holders, PEOPLE, rng=rng).counts[0, 0, ::2])

    error = np.std(at_once, axis=0) * math.sqrt(2.0 / runs)
    off = np.abs(np.mean(by_devices, axis=0) - np.mean(at_once, axis=0))
    # A false alarm in 400,000 seeds.
    assert np.all(off < 5.0 * error)


def test_liars_move_more_where_answers_are_randomized() -> None:
    group = sdp.CountGroup(3, 1, sdp.PoissonNoise(20.0))
    terms = ((group,), (1.0,), (1.0,), 1_000, 30)
    people = sdp.Population.from_counts({1.0: 1_000})
    plain = sdp.Counts(*terms)
    floored = sdp.Counts(*terms, local_epsilon=1.0)
    keep, _ = keep_and_flip(floored.parameters, 3)

    (before,), (after,) = (each.manipulation(people) for each in (plain, floored))

    np.testing.assert_allclose(after, before / keep)


def test_the_floor_is_part_of_the_identity() -> None:
    counts = counts_at(4.0, (0.5, 1.0))

    assert sdp.Counts.from_record(counts.identity.record) == counts
    assert counts.identity != counts_at(None, (0.5, 1.0)).identity


@pytest.mark.parametrize("local_epsilon", [0.0, -1.0, math.nan, math.inf, 701.0, "1"])
def test_floors_of_no_sense_are_refused(local_epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="local epsilon"):
        counts_at(local_epsilon, (0.5, 1.0))


def test_several_answers_of_a_group_have_no_floor() -> None:
    group = sdp.CountGroup(3, 2, sdp.PoissonNoise(20.0))

    with pytest.raises(InvalidInputError, match="may coincide"):
        sdp.Counts((group,), (1.0,), (1.0,), 100, local_epsilon=1.0)


def test_more_holders_than_people_are_refused() -> None:
    held = [np.array([[200, 200, 0], [0, 0, 0]]), np.zeros((2, 1), int)]

    with pytest.raises(InvalidInputError, match="one bucket of a person"):
        counts_at(4.0, (0.5, 1.0)).draw_tally(
            held, PEOPLE, rng=np.random.default_rng(1)
        )
