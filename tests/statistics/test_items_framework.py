"""The steps of a collection of sets, one by one, and all of them together."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.report_sizing import keeps_targets
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.reports import ShuffledReports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items.items_collection import STEPS, collect_items
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items

D, S, N = 20, 3, 4_000
PEOPLE = Population.from_counts({0.5: N // 4, 1.0: N // 2, 2.0: N // 4})
FRAMEWORK = ItemsFramework(D, S, (0.5, 1.0, 2.0), 0.01 / N)
# More messages than are needed: every target is kept.
PROTOCOL = Items(D, S, (0.5, 1.0, 2.0), (0.3, 0.7, 1.0), 1.5, S + 20)


def handed_in(framework: ItemsFramework, people: Population) -> Guarantee:
    """Stands in for an optimizer: parameters that were chosen elsewhere."""
    return account(PROTOCOL, people, delta=framework.delta)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("epsilon_choice", [None, 1.0])
def test_steps_can_be_taken_one_by_one(epsilon_choice: float | None) -> None:
    rng = SystemRandom()
    framework = replace(FRAMEWORK, epsilon_choice=epsilon_choice)
    sets = draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets
    targets = PEOPLE.budgets()[rng.permutation(N)]

    reports = framework.report_choices(targets, rng=rng)
    chosen = framework.count_choices(shuffle(reports, rng=rng))
    plan = framework.plan(chosen, optimize=handed_in)
    sent = plan.protocol.randomize(sets, targets, rng=rng)
    estimate = framework.estimate(plan, shuffle(sent, rng=rng))

    if epsilon_choice is None:
        assert np.array_equal(chosen.value, PEOPLE.counts)
    else:
        off = np.abs(chosen.value - PEOPLE.counts)
        # Three targets: a false alarm in 500,000.
        assert np.all(off < 5.0 * chosen.standard_error)
        assert np.all(off > 0.0)
    truth = np.bincount(sets.ravel(), minlength=D) / N
    assert np.all(np.abs(estimate.value - truth) < 5.5 * estimate.standard_error)
    assert estimate.identity == plan.guarantee.protocol == sent.identity
    assert sent.messages.shape == (N, S + 20)
    with pytest.raises(FrozenInstanceError):
        plan.protocol = plan.protocol  # type: ignore[misc]


@pytest.mark.slow
def test_noisy_choices_cost_no_bias_and_show_in_the_error() -> None:
    rng, runs = np.random.default_rng(17), 1_000
    framework = replace(FRAMEWORK, epsilon_choice=0.5)
    protocol = Items(D, S, (0.5, 1.0, 2.0), (0.05, 0.1, 0.2), 0.02)
    # Items in few sets, and in nearly all of them.
    sets = np.sort(draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets, axis=1)
    sets[:, 0] = 0
    truth = np.bincount(sets.ravel(), minlength=D) / N

    errors, standard, certain = np.empty((runs, D)), np.empty((runs, D)), 0.0
    for run in range(runs):
        targets = rng.permutation(PEOPLE.budgets())
        reports = framework.report_choices(targets, rng=rng)
        chosen = framework.count_choices(shuffle(reports, rng=rng))
        holders = protocol.holders(sets, targets)
        tally = protocol.draw_tally(holders, PEOPLE, rng=rng)
        estimate = protocol.estimate(tally, chosen)
        errors[run] = estimate.value - truth
        standard[run] = estimate.standard_error
        certain += protocol.estimate(tally, PEOPLE).standard_error[0]

    spread = errors.std(axis=0)
    # Twenty items: a false alarm in 800 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 4.0 * spread / np.sqrt(runs))
    rms = np.sqrt(np.mean(standard**2, axis=0))
    assert np.all(np.abs(rms / spread - 1.0) < 0.1)
    assert np.mean(rms / spread) == pytest.approx(1.0, abs=0.03)
    # Without it, errors of the item that everybody has would be too small.
    assert certain / runs < 0.9 * rms[0]
    covered = np.mean(np.abs(errors) < 1.96 * standard)
    assert 0.93 < covered < 0.97


def test_a_run_goes_through_all_steps() -> None:
    rng, steps = np.random.default_rng(2), list[str]()
    framework = replace(FRAMEWORK, epsilon_choice=2.0)
    sets = draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets
    targets = rng.permutation(PEOPLE.budgets())

    found = collect_items(
        sets,
        targets,
        framework=framework,
        rng=rng,
        optimize=handed_in,
        on_step=steps.append,
    )

    assert tuple(steps) == STEPS
    assert found.plan.choices.covariance is not None
    truth = np.bincount(sets.ravel(), minlength=D) / N
    error = found.estimate.standard_error
    assert np.all(np.abs(found.estimate.value - truth) < 5.0 * error)


@pytest.mark.slow
@pytest.mark.parametrize("blanket", [None, 0.8])
def test_parameters_are_found_and_certified(blanket: float | None) -> None:
    framework = replace(FRAMEWORK, blanket=blanket, absent=100)

    plan = framework.plan(ChoiceCounts.of(PEOPLE))

    assert blanket in (None, plan.protocol.blanket)
    assert keeps_targets(plan.guarantee)
    assert plan.guarantee == account(
        plan.protocol, PEOPLE, delta=framework.delta, absent=100
    )


def test_what_runs_is_what_was_certified() -> None:
    chosen = ChoiceCounts.of(PEOPLE)
    good = handed_in(FRAMEWORK, PEOPLE)

    plan = FRAMEWORK.plan_from(chosen, good)

    assert plan.protocol == PROTOCOL
    assert plan.guarantee is good
    broken = replace(good.levels[0], epsilon_central=0.51)
    others = (
        replace(PROTOCOL, num_items=D + 1),
        replace(PROTOCOL, set_size=S - 1),
        replace(PROTOCOL, targets=(0.4, 1.0, 2.0)),
        Frequency(D),
    )
    for bad in (
        *(replace(good, protocol=other.identity) for other in others),
        replace(good, num_users=N - 1),
        replace(good, delta=1.1 * FRAMEWORK.delta),
        replace(good, delta=None, epsilon=1.0),
        replace(good, levels=good.levels[1:]),
        replace(good, levels=(broken, *good.levels[1:])),
        plan,
    ):
        with pytest.raises(InvalidInputError):
            FRAMEWORK.plan_from(chosen, bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="1 people absent"):
        replace(FRAMEWORK, absent=1).plan_from(chosen, good)
    # As many people, who were offered other targets.
    other = ChoiceCounts.of(Population.from_counts({0.5: N // 2, 3.0: N // 2}))
    with pytest.raises(InvalidInputError, match="at the targets offered"):
        FRAMEWORK.plan_from(other, good)
    with pytest.raises(
        InvalidInputError, match="Expected ChoiceCounts, got Population"
    ):
        FRAMEWORK.plan_from(PEOPLE, good)  # type: ignore[arg-type]


def test_what_is_out_of_step_is_refused() -> None:
    rng = np.random.default_rng(1)
    other = ChoiceCounts.of(Population.from_counts({0.5: 3, 1.0: 4, 3.0: 2}))
    plan = FRAMEWORK.plan(ChoiceCounts.of(PEOPLE), optimize=handed_in)
    choices = shuffle(FRAMEWORK.report_choices(PEOPLE.budgets(), rng=rng), rng=rng)

    with pytest.raises(InvalidInputError):
        FRAMEWORK.count_choices(
            FRAMEWORK.report_choices([0.5], rng=rng)  # type: ignore[arg-type]
        )
    for chosen in (other, PEOPLE):
        with pytest.raises(InvalidInputError):
            FRAMEWORK.plan(chosen)  # type: ignore[arg-type]
    messages = np.full((N, S + 20), D, dtype=np.int32)
    items = ShuffledReports(PROTOCOL.identity, messages, None, "pool")
    assert FRAMEWORK.estimate(plan, items).num_users == N
    with pytest.raises(InvalidInputError):
        FRAMEWORK.estimate(PROTOCOL, items)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        FRAMEWORK.estimate(plan, choices)
    with pytest.raises(InvalidInputError):
        FRAMEWORK.count_choices(items)


@pytest.mark.parametrize(
    "change",
    [
        {"targets": ()},
        {"targets": (1.0, 0.5)},
        {"targets": (0.0, 0.5)},
        {"targets": (float("nan"),)},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": float("nan")},
        {"epsilon_choice": 0.0},
        {"epsilon_choice": float("nan")},
        {"blanket": -1.0},
        {"num_items": 1},
        {"set_size": 21},
        {"absent": -1},
        {"absent": 1.5},
    ],
)
def test_frameworks_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        replace(FRAMEWORK, **change)  # type: ignore[arg-type]
