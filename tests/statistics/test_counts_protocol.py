"""Collections of counts: unbiased, with honest intervals, and strict about inputs."""

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup, Noise
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.reports import ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.counts.protocol import Counts
from shuffledp.statistics.statistic_catalog import protocol_of
from shuffledp.tally import Tally
from shuffledp.types import Ints

PEOPLE = Population.from_counts({0.5: 300, 1.0: 500})
GEOMETRIC = GeometricNoise(0.5, 12.0, 4.0)
NOISES: list[Noise] = [
    GEOMETRIC,
    PoissonNoise(15.0),
    GeometricNoise(0.5, 12.0),
    SlotNoise(1600, 0.6, 5, 6.0),
]


def counts_of(noise: Noise, *, honest: int = 800) -> Counts:
    groups = (CountGroup(5, 2, noise), CountGroup(1, 1, noise))
    return Counts(groups, (0.5, 1.0), (0.4, 1.0), honest)


def answers_and_targets(seed: int = 1) -> tuple[Ints, Ints]:
    """Buckets of everybody, or none, independent of targets."""
    rng, n = np.random.default_rng(seed), PEOPLE.num_users
    several = np.argsort(rng.random((n, 6)) ** [1, 2, 3, 1, 4, 1], axis=1)[:, :2]
    single = rng.integers(-1, 1, n)
    return np.column_stack([several - 1, single]), rng.permutation(PEOPLE.budgets())


def holders_of(answers: Ints, targets: Any) -> tuple[Ints, Ints]:
    """People of each target in the five buckets of the first group, and in the other."""
    chosen = np.stack([targets == target for target in (0.5, 1.0)]).astype(float)
    # Numbers in doubles multiply quickly.
    inside = [(answers[:, :2] == b).any(axis=1) for b in range(5)]
    inside.append(answers[:, 2] == 0)
    held = np.rint(chosen @ np.stack(inside, axis=1).astype(float)).astype(np.int64)
    return held[:, :5], held[:, 5:]


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
def test_reports_have_the_moments_of_tallies(noise: Noise) -> None:
    counts, runs = counts_of(noise), 150
    answers, targets = answers_and_targets()
    held, rng = holders_of(answers, targets), np.random.default_rng(5)

    sent = np.empty((2, runs, 12))
    for run in range(runs):
        reports = counts.randomize(answers, targets, rng=rng)
        flat = reports.messages[reports.messages >= 0]
        sent[0, run] = np.bincount(flat, minlength=13)[:12]
        sent[1, run] = counts.draw_tally(held, PEOPLE, rng=rng).counts[0, 0]

    # Five standard errors, of 24 means and variances: a false alarm in 10,000 seeds; the
    # error of a variance is that of a long-tailed one, estimated.
    errors = np.sqrt(sent.var(axis=1).sum(axis=0) / runs)
    assert np.all(np.abs(sent[0].mean(axis=0) - sent[1].mean(axis=0)) <= 5.0 * errors)
    squares = (sent - sent.mean(axis=1, keepdims=True)) ** 2
    errors = np.sqrt(squares.var(axis=1).sum(axis=0) / runs)
    differences = squares[0].mean(axis=0) - squares[1].mean(axis=0)
    assert np.all(np.abs(differences) <= 5.0 * errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "honest"),
    [
        (GEOMETRIC, 800),
        *((noise, honest) for noise in NOISES for honest in (800, 400)),
    ],
)
def test_estimates_are_unbiased_and_intervals_cover(noise: Noise, honest: int) -> None:
    if isinstance(noise, SlotNoise):
        noise = replace(noise, slots=2 * honest)
    counts, runs, rng = counts_of(noise, honest=honest), 2000, np.random.default_rng(6)
    answers, _ = answers_and_targets()
    truth = [np.bincount(answers[:, :2].ravel() + 1, minlength=6)[1:]]
    truth.append(np.array([int((answers[:, 2] == 0).sum())]))

    errors, standard, covered = np.empty((runs, 6)), np.empty((runs, 6)), np.zeros(6)
    for run in range(runs):
        # Who chose which target is a matter of chance, too.
        targets = rng.permutation(PEOPLE.budgets())
        held = holders_of(answers, targets)
        estimate = counts.estimate(counts.draw_tally(held, PEOPLE, rng=rng), PEOPLE)
        errors[run] = np.concatenate(estimate.value) - np.concatenate(truth)
        standard[run] = np.concatenate(estimate.standard_error)
        low, high = np.concatenate(estimate.interval()).T
        covered += (low <= np.concatenate(truth)) & (np.concatenate(truth) <= high)

    spread = errors.std(axis=0)
    # Six buckets, eight settings: a false alarm in 10,000 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 5.0 * spread / math.sqrt(runs))
    # A spread is known to some 2%, of long tails.
    np.testing.assert_allclose(np.sqrt((standard**2).mean(axis=0)), spread, rtol=0.1)
    # 2000 draws of 0.95 deviate by 0.0049; few messages of noise are covered more often.
    assert np.all((covered / runs > 0.93) & (covered / runs < 0.98))
    shares = [each / PEOPLE.num_users for each in truth]
    predicted = np.concatenate(counts.predicted_errors(PEOPLE, shares))
    np.testing.assert_allclose(predicted, spread, rtol=0.1)


@pytest.mark.parametrize("system", [False, True])
@pytest.mark.parametrize("noise", NOISES)
def test_messages_give_the_same_estimates_as_their_tally(
    noise: Noise, system: bool
) -> None:
    rng = SystemRandom() if system else np.random.default_rng(9)
    counts, (answers, targets) = counts_of(noise), answers_and_targets()

    shuffled = shuffle(counts.randomize(answers, targets, rng=rng), rng=rng)
    tally = counts.tally(shuffled)
    estimate = counts.estimate(shuffled, PEOPLE)

    flat = shuffled.messages.ravel()
    by_hand = [int((flat == message).sum()) for message in range(12)]
    assert tally.counts[0, 0].tolist() == by_hand
    again = counts.estimate(Tally.from_bytes(tally.to_bytes()), PEOPLE)
    for one, other in zip(estimate.value, again.value, strict=True):
        np.testing.assert_array_equal(one, other)
    truth = np.bincount(answers[:, :2].ravel() + 1, minlength=6)[1:]
    # Six standard errors, of noise with long tails: a false alarm in 10,000.
    assert np.all(np.abs(estimate.value[0] - truth) < 6.0 * estimate.standard_error[0])
    assert estimate.identity == counts.identity


@pytest.mark.parametrize("noise", NOISES)
def test_tallies_of_parts_add_up(noise: Noise) -> None:
    counts, rng = counts_of(noise), np.random.default_rng(10)
    answers, targets = answers_and_targets()
    reports = counts.randomize(answers, targets, rng=rng)

    parts = [
        counts.tally(shuffle(replace(reports, messages=part), rng=rng))
        for part in np.split(reports.messages, [100, 300])
    ]

    total = sum(parts[1:], parts[0])
    assert total == counts.tally(shuffle(reports, rng=rng))
    assert total.num_users == PEOPLE.num_users


@pytest.mark.parametrize("noise", NOISES[:3])
def test_what_leaves_the_shuffle_is_counted_messages_alone(noise: Noise) -> None:
    # Neither dummies for what was not sent, nor the width of the largest report.
    counts, rng = counts_of(noise), np.random.default_rng(11)
    answers, targets = answers_and_targets()

    shuffled = shuffle(counts.randomize(answers, targets, rng=rng), rng=rng)

    tally = counts.tally(shuffled)
    assert shuffled.messages.shape == (int(tally.counts.sum()),)
    assert shuffled.messages.min() >= 0
    assert shuffled.messages.max() < counts.randomizer.dummy
    with_dummy = replace(
        shuffled, messages=np.append(shuffled.messages, counts.randomizer.dummy)
    )
    with pytest.raises(InvalidInputError, match="Expected messages in"):
        counts.tally(with_dummy)


@pytest.mark.parametrize("noise", NOISES)
def test_a_protocol_is_what_its_identity_says(noise: Noise) -> None:
    counts = counts_of(noise)

    assert protocol_of(counts.identity) == counts
    assert pickle.loads(pickle.dumps(counts)) == counts
    assert pickle.loads(pickle.dumps(counts)).identity == counts.identity
    assert counts.identity == counts.parameters.identity
    for change in ({"rates": (0.4, 0.9)}, {"honest": 400}, {"targets": (0.5, 1.1)}):
        if not (isinstance(noise, SlotNoise) and "honest" in change):
            assert replace(counts, **change).identity != counts.identity


@pytest.mark.slow
def test_certified_is_what_runs() -> None:
    counts = counts_of(GeometricNoise(0.9, 300.0, 8.0))

    guarantee = account(counts, PEOPLE, delta=1e-4)

    assert guarantee.protocol == counts.identity
    assert guarantee.levels == account(counts.parameters, PEOPLE, delta=1e-4).levels


def test_reports_and_tallies_of_others_are_refused() -> None:
    counts, rng = counts_of(NOISES[3]), np.random.default_rng(1)
    answers, targets = answers_and_targets()
    reports = counts.randomize(answers, targets, rng=rng)
    shuffled = shuffle(reports, rng=rng)
    size, n = counts.randomizer.report_size or 0, PEOPLE.num_users

    def handed_on(messages: Any, protocol: Counts = counts) -> ShuffledReports:
        messages = np.asarray(messages, dtype=np.int32)
        return ShuffledReports(protocol.identity, messages, None, "pool")

    counts.estimate(shuffled, PEOPLE)
    for bad in (
        reports,
        handed_on(shuffled.messages, replace(counts, rates=(0.4, 0.9))),
        replace(shuffled, arrangement="rows"),
        handed_on(np.zeros((n, size - 1))),
        handed_on(np.zeros(n)),
        handed_on(np.full((n, size), 13)),
        handed_on(np.full((n, size), -1)),
        handed_on(np.zeros((n - 1, size))),
        Tally(counts.identity, np.zeros(0), np.array([[n]]), np.full((1, 1, 12), -1)),
        Tally(counts.identity, np.zeros(0), np.array([[n]]), np.ones((1, 1, 11), int)),
    ):
        with pytest.raises(InvalidInputError):
            counts.estimate(bad, PEOPLE)  # type: ignore[arg-type]
    with pytest.raises(UnknownLevelError):
        counts.estimate(shuffled, Population.from_counts({0.7: n}))
    for wrong in (np.full(n, 0.7), np.full(n, np.nan), targets[:-1]):
        with pytest.raises(InvalidInputError):
            counts.randomize(answers, wrong, rng=rng)


def test_holders_must_be_those_of_the_people() -> None:
    counts, rng = counts_of(GEOMETRIC), np.random.default_rng(1)
    first, second = np.full((2, 5), 3), np.full((2, 1), 3)

    assert counts.draw_tally((first, second), PEOPLE, rng=rng).num_users == 800
    wrong: list[Any] = [
        (first,),
        (first[:, :4], second),
        (first, second[:1]),
        (-first, second),
        (first + 300, second),
    ]
    for holders in wrong:
        with pytest.raises(InvalidInputError):
            counts.draw_tally(holders, PEOPLE, rng=rng)
    with pytest.raises(InvalidInputError):
        counts.draw_tally((first, second), PEOPLE, rng=SystemRandom())  # type: ignore[arg-type]


def test_what_sends_nothing_is_not_estimated() -> None:
    group, people = CountGroup(3, 1, GEOMETRIC), Population.from_counts({0.5: 800})
    counts = Counts((group,), (0.5, 1.0), (0.0, 1.0), 800)
    tally = counts.draw_tally(
        (np.ones((1, 3), dtype=int),), people, rng=np.random.default_rng(1)
    )

    with pytest.raises(InvalidInputError, match="nothing but noise"):
        counts.estimate(tally, people)


def test_jumps_must_fit_into_slots() -> None:
    with pytest.raises(InvalidInputError, match="more slots"):
        Counts((CountGroup(9, 1, SlotNoise(50, 0.5, 4, 30.0)),), (1.0,), (1.0,), 50)
