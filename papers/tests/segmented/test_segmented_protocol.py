"""The published collection of sets: parameters of Theorem 3, and a run with them."""

from dataclasses import replace

import numpy as np
import pytest

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.segmented.privacy import SegmentedPrivacy
from shuffledp_papers.segmented.protocol import (
    plan_published,
    published_items,
    published_mse,
)

D, S, N = 20, 3, 4_000
PEOPLE = Population.from_counts({0.5: N // 4, 1.0: N // 2, 2.0: N // 4})
FRAMEWORK = ItemsFramework(D, S, (0.5, 1.0, 2.0), 0.01 / N)


@pytest.mark.slow
def test_parameters_are_those_of_the_theorem_and_of_least_error() -> None:
    found = published_items(PEOPLE, num_items=D, set_size=S, delta=0.01 / N)

    for target, rate in zip(PEOPLE.epsilons.tolist(), found.rates, strict=True):
        bound = SegmentedPrivacy(
            num_items=D,
            blanket_messages=found.blanket,
            items_per_user=S,
            sampling_rate=rate,
        )
        assert bound.delta(Setting(PEOPLE), target) <= 0.01 / N * (1.0 + 1e-9)
    error = published_mse(PEOPLE, found.rates, set_size=S, blanket=found.blanket)
    shares = np.full(D, S / D)
    assert found.predicted_mse(PEOPLE, shares, about="population") <= error
    for factor in (0.7, 1.4):
        other = published_items(
            PEOPLE,
            num_items=D,
            set_size=S,
            delta=0.01 / N,
            blanket=factor * found.blanket,
        )
        worse = published_mse(PEOPLE, other.rates, set_size=S, blanket=other.blanket)
        assert worse > error


@pytest.mark.slow
@pytest.mark.parametrize("epsilon_choice", [None, 1.0])
def test_a_published_run_goes_through_the_steps_of_the_framework(
    epsilon_choice: float | None,
) -> None:
    rng = np.random.default_rng(2)
    framework = replace(FRAMEWORK, epsilon_choice=epsilon_choice)
    sets = draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets
    chosen = rng.permutation(PEOPLE.budgets())

    reports = framework.report_choices(chosen, rng=rng)
    counted = framework.count_choices(shuffle(reports, rng=rng))
    protocol = plan_published(framework, counted)
    sent = protocol.randomize(sets, chosen, rng=rng)
    estimate = protocol.estimate(shuffle(sent, rng=rng), counted)

    assert protocol.noise == "bernoulli"
    assert sent.messages.shape[0] == N
    truth = np.bincount(sets.ravel(), minlength=D) / N
    # Twenty items: a false alarm in 80,000 seeds.
    assert np.all(np.abs(estimate.value - truth) < 5.0 * estimate.standard_error)


def test_communication_can_be_given() -> None:
    plan = plan_published(replace(FRAMEWORK, blanket=4.0), ChoiceCounts.of(PEOPLE))

    assert plan.blanket == 4.0


def test_nobody_may_be_absent() -> None:
    with pytest.raises(InvalidInputError, match="nobody absent"):
        plan_published(replace(FRAMEWORK, absent=1), ChoiceCounts.of(PEOPLE))
