"""Exact coverage of published intervals where noise changes few messages.

Every test adds up the probabilities of the numbers of messages whose interval holds the
truth: nothing is drawn.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, poisson

import shuffledp as sdp
from shuffledp.analyzer.counts import CountsChannel
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.types import Floats, Ints

CONFIDENCES = [0.8, 0.95, 0.99]
PEOPLE = {
    "500 at level 8": {8.0: 500},
    "100 at level 6": {6.0: 100},
    "990 at level 8, 10 at 1": {8.0: 990, 1.0: 10},
    "500 at level 8, 500 at 1": {8.0: 500, 1.0: 500},
}
# Shares of the people of every level who hold the value.
SHARES = [0.0, 0.3, 1.0]
SETTINGS = [(people, share) for people in PEOPLE for share in SHARES]


def sum_masses(groups: Iterable[tuple[int, float]]) -> Floats:
    """Returns the distribution of the sum of binomial numbers."""
    masses = np.ones(1)
    for number, probability in groups:
        own: Floats = binom.pmf(np.arange(number + 1), number, probability)
        masses = np.convolve(masses, own)
    return masses


def coverage(
    masses: Floats, interval: Callable[[int], tuple[float, float]], truth: float
) -> float:
    """Returns how probably the interval of a number of messages holds the truth."""
    covered, rounding = 0.0, 1e-9 * max(abs(truth), 1.0)
    # What is left out counts as a miss.
    for number in np.flatnonzero(masses > 1e-10).tolist():
        low, high = interval(number)
        if low - rounding <= truth <= high + rounding:
            covered += float(masses[number])
    return covered


def holders_at(counts: Ints, share: float) -> Ints:
    return np.round(share * counts).astype(np.int64)


@pytest.mark.few_cases(12)
@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(("name", "share"), SETTINGS)
def test_shares_are_covered(name: str, share: float, confidence: float) -> None:
    people, frequency = sdp.Population.from_counts(PEOPLE[name]), sdp.Frequency(4)
    counts, n = people.counts, people.num_users
    holders = holders_at(counts, share)
    keep, flip = frequency.randomizer.densities(people.epsilons)
    masses = sum_masses(
        [
            *zip(holders, keep, strict=True),
            *zip(counts - holders, flip, strict=True),
        ]
    )
    rows = np.stack([counts, 0 * counts, 0 * counts, 0 * counts], axis=1)
    tally = frequency.draw_tally(rows, people, rng=np.random.default_rng(1))

    def interval(number: int) -> tuple[float, float]:
        seen = replace(tally, counts=np.array([[[number, n - number, 0, 0]]]))
        low, high = frequency.estimate(seen, people).interval(confidence)[0]
        return float(low), float(high)

    # At so many people, estimated standard errors miss the true ones by a hair.
    assert coverage(masses, interval, holders.sum() / n) >= confidence - 0.001


@pytest.mark.few_cases(12)
@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(("name", "share"), SETTINGS)
@pytest.mark.parametrize("protocol", [sdp.BinarySum(), sdp.Mean(0.0, 1.0)])
def test_sums_and_means_are_covered(
    protocol: sdp.BinarySum | sdp.Mean, name: str, share: float, confidence: float
) -> None:
    people = sdp.Population.from_counts(PEOPLE[name])
    counts, n = people.counts, people.num_users
    holders = holders_at(counts, share)
    honest = expit(people.epsilons)
    masses = sum_masses(
        [
            *zip(holders, honest, strict=True),
            *zip(counts - holders, 1.0 - honest, strict=True),
        ]
    )
    sums = np.empty((1, 1, 3), dtype=object)

    def interval(number: int) -> tuple[float, float]:
        sums[0, 0] = [n, number, number]
        seen = sdp.Tally(protocol.identity, people.epsilons, counts[None, :], sums)
        return protocol.estimate(seen, people).interval(confidence)

    truth = holders.sum() / (n if isinstance(protocol, sdp.Mean) else 1.0)
    assert coverage(masses, interval, truth) >= confidence


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("low_level", [0.5, 3.0, 7.0])
def test_stratified_sums_are_covered(low_level: float, confidence: float) -> None:
    # A message of the lower level counts up to four times as much as one of the higher.
    people = sdp.Population.from_counts({low_level: 5, 8.0: 300})
    counts, protocol = people.counts, sdp.BinarySum("stratified")
    low_masses, masses = (
        sum_masses([(number, probability)])
        for number, probability in zip(counts, expit(people.epsilons), strict=True)
    )
    covered = 0.0

    for number, mass in enumerate(low_masses.tolist()):

        def interval(other: int, number: int = number) -> tuple[float, float]:
            sums = np.array(
                [[[5, number, number], [300, other, other]]], dtype=np.object_
            )
            seen = sdp.Tally(protocol.identity, people.epsilons, counts[None, :], sums)
            return protocol.estimate(seen, people).interval(confidence)

        covered += mass * coverage(masses, interval, 305.0)

    assert covered >= confidence


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("mean", [0.06, 0.17, 0.5, 3.0])
def test_counts_are_covered(mean: float, confidence: float) -> None:
    group = sdp.CountGroup(2, 1, sdp.PoissonNoise(mean))
    counts = sdp.Counts((group,), (1.0,), (1.0,), honest=500)
    people = sdp.Population.from_counts({1.0: 500})
    rng = np.random.default_rng(1)
    tally = counts.draw_tally([np.array([[200, 300]])], people, rng=rng)

    def interval(number: int) -> tuple[float, float]:
        seen = tally.counts.copy()
        seen[0, 0, 0] = 200 + number
        estimate = counts.estimate(replace(tally, counts=seen), people)
        low, high = estimate.interval(confidence)[0][0]
        return float(low), float(high)

    masses = poisson.pmf(np.arange(40), mean)
    assert coverage(masses, interval, 200.0) >= confidence


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("mean", [0.06, 0.17, 0.5, 3.0])
def test_shares_of_answers_and_of_items_are_covered(
    mean: float, confidence: float
) -> None:
    # The same channel of 500 people counts answers of questions, and items.
    channel = CountsChannel(np.array([500.0]), np.ones(1), mean, mean, mean)

    def of_answers(number: int) -> tuple[float, float]:
        value, error, excess = channel.estimate(np.array([200 + number]))
        steps = {"message_shift": np.ones(1), "step": np.full(1, channel.message)}
        low, high = QuestionEstimate(
            ("yes",), value, error, excess, 500, **steps
        ).interval(confidence)[0]
        return float(low), float(high)

    def of_items(number: int) -> tuple[float, float]:
        value, error, _ = channel.estimate(np.array([200 + number]))
        low, high = sdp.ItemsEstimate(
            value / 500, error / 500, 500, step=channel.message / 500
        ).interval(confidence)[0]
        return float(low), float(high)

    masses = poisson.pmf(np.arange(40), mean)
    assert coverage(masses, of_answers, 200.0) >= confidence
    assert coverage(masses, of_items, 0.4) >= confidence


@pytest.mark.parametrize("mechanism", [sdp.Laplace(0.0, 1.0), sdp.Gaussian(0.0, 1.0)])
def test_continuous_noise_has_no_step(mechanism: Any) -> None:
    people, rng = sdp.Population.from_counts({8.0: 500}), np.random.default_rng(1)
    mean = sdp.Mean(0.0, 1.0, randomizer=mechanism)
    reports = mean.randomize(np.zeros(500), people.budgets(), rng=rng)

    estimate = mean.estimate(sdp.shuffle(reports, rng=rng), people)

    assert estimate.step == 0.0
