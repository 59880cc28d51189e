"""Distributions from a tree of intervals, against least squares solved another way."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.questionnaire.distribution_estimate import (
    DistributionEstimate,
)
from shuffledp.statistics.questionnaire.distribution_question import (
    DistributionQuestion,
    equal_bins,
)
from shuffledp.statistics.questionnaire.interval_tree import layer_sizes
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts

RNG = np.random.default_rng(1)


def counts_of(
    question: DistributionQuestion, bins: Any, noise: Any, variances: Any
) -> QuestionCounts:
    """Counts of all levels for people in these bins, with some noise on each node."""
    edges = np.array(question.edges)
    middles = 0.5 * (edges[1:] + edges[:-1])
    nodes = question.encode(middles, rng=RNG)
    groups = tuple(
        GroupCounts(
            np.bincount(nodes[:, level], weights=bins, minlength=group.buckets)
            + noise[level][: group.buckets],
            float(variances[level]),
            0.0,
            1,
        )
        for level, group in enumerate(question.groups)
    )
    return QuestionCounts(groups, int(np.sum(bins)), 0.0, 0.0)


@pytest.mark.parametrize(("num_bins", "fan_out"), [(2, 2), (5, 2), (10, 4), (27, 3)])
def test_numbers_are_in_the_interval_that_holds_them(
    num_bins: int, fan_out: int
) -> None:
    edges = tuple(np.cumsum(RNG.uniform(0.1, 2.0, num_bins + 1)).tolist())
    question = DistributionQuestion("x", edges, fan_out)
    assert [g.buckets for g in question.groups] == list(layer_sizes(num_bins, fan_out))
    numbers = np.concatenate([edges, RNG.uniform(edges[0], edges[-1], 200)])
    encoded = question.encode(numbers, rng=RNG)
    for number, row in zip(numbers.tolist(), encoded.tolist(), strict=True):
        # By search, one edge after the other.
        own = max(place for place in range(num_bins) if edges[place] <= number)
        for level, node in enumerate(reversed(row)):
            assert node == own // fan_out**level


@pytest.mark.parametrize(("num_bins", "fan_out"), [(5, 2), (10, 4), (16, 4)])
def test_bins_are_those_of_least_squares(num_bins: int, fan_out: int) -> None:
    question = DistributionQuestion("x", equal_bins(0, 1, num_bins), fan_out)
    levels = len(question.groups)
    bins = RNG.integers(10, 90, num_bins)
    variances = RNG.uniform(1.0, 9.0, levels)
    noise = [RNG.normal(0.0, np.sqrt(v), num_bins) for v in variances]
    counts = counts_of(question, bins, noise, variances)
    found = question.estimate(counts)
    nodes = question.encode(np.array(question.edges)[:-1], rng=RNG)

    def misfit(free: Any) -> float:
        # The last bin is what is left of all people.
        every = np.append(free, bins.sum() - free.sum())
        sums = 0.0
        for level, group in enumerate(counts.groups):
            covered = np.bincount(nodes[:, level], every, group.value.size)
            sums += float(((group.value - covered) ** 2).sum()) / group.noise_variance
        return sums

    best = optimize.minimize(misfit, bins[:-1].astype(float), tol=1e-12).x
    assert found.value[:-1] == pytest.approx(best, abs=1e-3)
    assert found.value.sum() == pytest.approx(bins.sum())


def test_counts_without_noise_are_exact() -> None:
    question = DistributionQuestion("x", equal_bins(0, 10, 10), 3)
    bins = RNG.integers(0, 50, 10)
    noise = [np.zeros(10)] * len(question.groups)
    found = question.estimate(counts_of(question, bins, noise, [1.0] * len(noise)))
    assert found.value == pytest.approx(bins)
    below = np.cumsum(bins)[:-1] / bins.sum()
    assert found.distribution().value == pytest.approx(below)
    assert found.between(2.0, 7.0).value[0] == pytest.approx(bins[2:7].sum())
    quantiles = found.quantiles(below[[2, 5]])
    assert quantiles == pytest.approx([3.0, 6.0])


@pytest.mark.slow
def test_standard_errors_are_those_of_noise() -> None:
    """Of bins, of the distribution, and of ranges, which are all linear in the noise."""
    question = DistributionQuestion("x", equal_bins(0, 1, 12), 3)
    rng = np.random.default_rng(5)
    variances = [4.0, 9.0, 1.0]
    bins = np.full(12, 30)
    results: dict[str, list[Any]] = {"bins": [], "below": [], "range": []}
    stated: dict[str, Any] = {}
    runs = 600
    for _ in range(runs):
        noise = [rng.normal(0.0, np.sqrt(v), 12) for v in variances]
        found = question.estimate(counts_of(question, bins, noise, variances))
        every = {
            "bins": found,
            "below": found.distribution(),
            "range": found.between(found.edges[1], found.edges[8]),
        }
        for name, estimate in every.items():
            results[name].append(estimate.value)
            stated[name] = estimate.standard_error
    for name, values in results.items():
        # A deviation of 600 runs is right to 2.9%: six times that, 2e-9 false alarms.
        assert np.std(values, axis=0) == pytest.approx(stated[name], rel=0.175)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    question = DistributionQuestion("x", equal_bins(0, 1, 32), 4)
    noise = tuple(PoissonNoise(mean) for mean in (60.0, 50.0, 40.0))
    asked = Questionnaire((question,), noise, (1.0,), (1.0,), honest=2_000)
    rng = np.random.default_rng(11)
    values = np.sort(rng.beta(2.0, 5.0, 2_000))
    shares = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    exact = values[(shares * 2_000).astype(int)]
    truth = np.searchsorted(values, question.edges[1:-1]) / 2_000
    people, covered, caught = Population.from_counts({1.0: 2_000}), [], []
    for _ in range(300):
        tally = asked.draw_tally({"x": values}, np.ones(2_000), rng=rng)
        found = asked.estimate(tally, people)["x"]
        assert isinstance(found, DistributionEstimate)
        low, high = found.distribution().interval().T
        covered.append(np.mean((low <= truth) & (truth <= high)))
        low, high = found.quantile_intervals(shares).T
        caught.append(np.mean((low <= exact) & (exact <= high)))
    # Edges of a run depend on each other: 300 runs count, with a deviation of 1.3%.
    assert 0.93 < np.mean(covered) < 0.97
    assert np.mean(caught) > 0.93


def test_a_planner_chooses_the_fan_out() -> None:
    question = DistributionQuestion("x", equal_bins(0, 1, 64))
    with pytest.raises(InvalidInputError, match="fan-out of x"):
        _ = question.groups
    chosen = question.adapted(1_000, noise=4.0)
    assert chosen.adapted(10, noise=1.0) == chosen
    variances = {}
    for fan_out in (2, 3, 4, 6, 8, 16, 32):
        asked = DistributionQuestion("x", question.edges, fan_out)
        precisions = 1.15 ** np.arange(len(asked.groups))
        noise = [np.zeros(64)] * len(asked.groups)
        counts = counts_of(asked, np.ones(64), noise, precisions.sum() / precisions)
        errors = asked.estimate(counts).distribution().standard_error
        variances[fan_out] = float(np.mean(errors**2))
    good = [f for f, v in variances.items() if v <= 1.1 * min(variances.values())]
    assert chosen.fan_out == max(good)


@pytest.mark.parametrize("answers", [[-0.1], [1.1], [np.nan], [[0.5]], ["a"], [None]])
def test_other_numbers_are_refused(answers: Any) -> None:
    question = DistributionQuestion("x", (0.0, 0.5, 1.0), 2)
    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=RNG)


@pytest.mark.parametrize(
    "terms",
    [
        ("x", (0.0, 1.0)),
        ("x", (0.0, 0.0, 1.0)),
        ("x", (0.0, 2.0, 1.0)),
        ("x", (0.0, 1.0, np.inf)),
        ("x", (0.0, np.nan, 1.0)),
        ("x", tuple(range(1_027))),
        ("x", (0.0, 1.0, 2.0), 1),
        ("x", (0.0, 1.0, 2.0), 2.5),
        ("", (0.0, 1.0, 2.0)),
    ],
)
def test_other_terms_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidInputError):
        DistributionQuestion(*terms)


@pytest.mark.parametrize("ends", [(0, 0, 4), (1, 0, 4), (0, np.inf, 4), (0, 1, 1)])
def test_bins_of_equal_width_need_a_range(ends: Any) -> None:
    with pytest.raises(InvalidInputError):
        equal_bins(*ends)


def test_other_queries_are_refused() -> None:
    question = DistributionQuestion("x", (0.0, 0.5, 1.0), 2)
    found = question.estimate(counts_of(question, [3, 4], [np.zeros(2)], [1.0]))
    for low, high in ((0.0, 0.3), (0.5, 0.5), (1.0, 0.0), (np.nan, 1.0)):
        with pytest.raises(InvalidInputError):
            found.between(low, high)
    for share in (0.0, 1.0, np.nan, -0.5):
        with pytest.raises(InvalidInputError):
            found.quantiles([share])
        with pytest.raises(InvalidInputError):
            found.quantile_intervals([share])
    with pytest.raises(InvalidInputError):
        found.quantile_intervals([0.5], confidence=1.0)
