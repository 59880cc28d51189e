"""The steps of a collection of sets, one by one, and all of them together."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from shuffledp.shuffler.shuffle_messages import ShuffledMessages, shuffle_messages

from shuffledp.accounting.items.guarantee import ItemsGuarantee, ItemsLevelGuarantee
from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.datasets.item_sets import draw_uniform_sets
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.papers.bounds.bound import Setting
from shuffledp.papers.bounds.segmented import SegmentedPrivacy
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.statistics.items_collection import STEPS, collect_items
from shuffledp.statistics.items_framework import (
    Accounting,
    ItemsFramework,
    ItemsPlan,
)
from shuffledp.statistics.items_published import published_items, published_mse

D, S, N = 20, 3, 4_000
PEOPLE = Population.from_counts({0.5: N // 4, 1.0: N // 2, 2.0: N // 4})
FRAMEWORK = ItemsFramework(D, S, (0.5, 1.0, 2.0), 0.01 / N)


def handed_in(framework: ItemsFramework, people: Population) -> ItemsGuarantee:
    """Stands in for an optimizer: parameters that nobody certified."""
    entries = zip(
        people.epsilons.tolist(), people.counts.tolist(), (0.3, 0.7, 1.0), strict=True
    )
    return ItemsGuarantee(
        num_users=people.num_users,
        absent=framework.absent,
        num_items=framework.num_items,
        set_size=framework.set_size,
        blanket=1.5,
        report_size=framework.set_size + 20,
        delta=framework.delta,
        delta_cut=0.0,
        levels=tuple(ItemsLevelGuarantee(e, n, r, e, 0.0) for e, n, r in entries),
        theorem="",
        assumptions=(),
        numerics=(),
    )


BOTH: tuple[Accounting, ...] = ("certified", "published")


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("epsilon_levels", [None, 1.0])
def test_steps_can_be_taken_one_by_one(
    accounting: Accounting, epsilon_levels: float | None
) -> None:
    rng = SystemRandom()
    framework = replace(FRAMEWORK, accounting=accounting, epsilon_levels=epsilon_levels)
    sets = draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets
    levels = PEOPLE.budgets()[rng.permutation(N)]

    reports = framework.report_levels(levels, rng=rng)
    counted = framework.count_levels(shuffle_messages(reports, rng=rng))
    plan = framework.plan(counted, optimize=handed_in)
    sent = plan.protocol.randomize(sets, levels, rng=rng)
    estimate = framework.estimate(plan, shuffle_messages(sent, rng=rng))

    if epsilon_levels is None:
        assert np.array_equal(counted.value, PEOPLE.counts)
    else:
        off = np.abs(counted.value - PEOPLE.counts)
        # Three levels in four runs: a false alarm in 100,000.
        assert np.all(off < 5.0 * counted.standard_error)
        assert np.all(off > 0.0)
    truth = np.bincount(sets.ravel(), minlength=D) / N
    assert np.all(np.abs(estimate.value - truth) < 5.5 * estimate.standard_error)
    assert sent.messages.shape == (N, plan.protocol.randomizer.report_size)
    with pytest.raises(FrozenInstanceError):
        plan.protocol = plan.protocol  # type: ignore[misc]


def test_noisy_levels_cost_no_bias_and_show_in_the_error() -> None:
    rng, runs = np.random.default_rng(17), 1_000
    framework = replace(
        FRAMEWORK, epsilon_levels=0.5, accounting="published", blanket=4.0
    )
    plan = framework.plan(LevelCounts.of(PEOPLE))
    # Items in few sets, and in nearly all of them.
    sets = np.sort(draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets, axis=1)
    sets[:, 0] = 0
    truth = np.bincount(sets.ravel(), minlength=D) / N

    errors, standard, certain = np.empty((runs, D)), np.empty((runs, D)), 0.0
    for run in range(runs):
        levels = rng.permutation(PEOPLE.budgets())
        reports = framework.report_levels(levels, rng=rng)
        counted = framework.count_levels(shuffle_messages(reports, rng=rng))
        counts = plan.protocol.draw_counts(
            plan.protocol.holders(sets, levels), num_users=N, rng=rng
        )
        estimate = plan.protocol.estimate_counts(counts, counted)
        errors[run] = estimate.value - truth
        standard[run] = estimate.standard_error
        certain += plan.protocol.estimate_counts(counts, PEOPLE).standard_error[0]

    spread = errors.std(axis=0)
    # Twenty items: a false alarm in 800 seeds.
    assert np.all(np.abs(errors.mean(axis=0)) < 4.0 * spread / np.sqrt(runs))
    rms = np.sqrt(np.mean(standard**2, axis=0))
    assert np.all(np.abs(rms / spread - 1.0) < 0.1)
    assert np.mean(rms / spread) == pytest.approx(1.0, abs=0.03)
    # Without it, errors of the item that everybody has would be too small.
    assert certain / runs < 0.85 * rms[0]
    covered = np.mean(np.abs(errors) < 1.96 * standard)
    assert 0.93 < covered < 0.97


@pytest.mark.parametrize("accounting", BOTH)
def test_a_run_goes_through_all_steps(accounting: Accounting) -> None:
    rng, steps = np.random.default_rng(2), list[str]()
    framework = replace(FRAMEWORK, accounting=accounting, epsilon_levels=2.0)
    sets = draw_uniform_sets(N, num_items=D, set_size=S, rng=rng).sets
    levels = rng.permutation(PEOPLE.budgets())

    found = collect_items(
        sets,
        levels,
        framework=framework,
        rng=rng,
        optimize=handed_in,
        on_step=steps.append,
    )

    assert tuple(steps) == STEPS
    assert found.plan.levels.covariance is not None
    truth = np.bincount(sets.ravel(), minlength=D) / N
    error = found.estimate.standard_error
    assert np.all(np.abs(found.estimate.value - truth) < 5.0 * error)


def test_published_parameters_are_those_of_the_theorem() -> None:
    found = published_items(PEOPLE, num_items=D, set_size=S, delta=0.01 / N)

    for level, rate in zip(found.levels, found.rates, strict=True):
        bound = SegmentedPrivacy(
            num_items=D,
            blanket_messages=found.blanket,
            items_per_user=S,
            sampling_rate=rate,
        )
        stated = bound.delta(Setting(PEOPLE), level)
        assert stated <= 0.01 / N * (1.0 + 1e-9)
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


def test_certified_parameters_are_those_of_the_guarantee() -> None:
    counted = LevelCounts.of(PEOPLE)

    plan = FRAMEWORK.plan(counted, optimize=handed_in)

    assert plan.guarantee is not None
    assert plan.protocol.rates == (0.3, 0.7, 1.0)
    assert (plan.protocol.blanket, plan.protocol.noise) == (1.5, "poisson")
    assert plan.protocol.randomizer.cap == 20
    own = FRAMEWORK.plan(counted).guarantee
    assert own is not None
    assert own.kept
    good = plan.guarantee
    broken = replace(good.levels[0], epsilon_central=0.51)
    for bad in (
        replace(good, num_users=N - 1),
        replace(good, num_items=D + 1),
        replace(good, set_size=S - 1),
        replace(good, delta=1.1 * good.delta),
        replace(good, levels=good.levels[1:]),
        replace(good, levels=(broken, *good.levels[1:])),
        plan,
    ):
        with pytest.raises(InvalidInputError):
            FRAMEWORK.plan_from(counted, bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        replace(FRAMEWORK, absent=1).plan_from(counted, good)


def test_the_one_level_there_is_needs_no_noise() -> None:
    framework = ItemsFramework(D, S, (1.0,), 1e-6, epsilon_levels=0.5)

    reports = framework.report_levels([1.0, 1.0], rng=SystemRandom())
    counted = framework.count_levels(shuffle_messages(reports, rng=SystemRandom()))

    assert counted.covariance is None
    assert counted.value.tolist() == [2.0]


def test_what_is_out_of_step_is_refused() -> None:
    rng = np.random.default_rng(1)
    pairs = ShuffledMessages(np.zeros(4, dtype=np.int32), 2)
    high = ShuffledMessages(np.full(4, 3, dtype=np.int32), 4)
    other = LevelCounts.of(Population.from_counts({0.5: 3, 1.0: 4, 3.0: 2}))

    for levels in ([0.5, 0.7], [0.5, float("nan")]):
        with pytest.raises(UnknownLevelError):
            FRAMEWORK.report_levels(levels, rng=rng)
    with pytest.raises(InvalidInputError):
        FRAMEWORK.report_levels([], rng=rng)
    for shuffled in (pairs, high, FRAMEWORK.report_levels([0.5], rng=rng)):
        with pytest.raises(InvalidInputError):
            FRAMEWORK.count_levels(shuffled)  # type: ignore[arg-type]
    for counted in (other, PEOPLE):
        with pytest.raises(InvalidInputError):
            FRAMEWORK.plan(counted)  # type: ignore[arg-type]
    protocol = published_items(PEOPLE, num_items=D, set_size=S, delta=1e-6, blanket=1.0)
    with pytest.raises(InvalidInputError):
        FRAMEWORK.estimate(protocol, pairs)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        FRAMEWORK.estimate(ItemsPlan(LevelCounts.of(PEOPLE), protocol, None), pairs)


@pytest.mark.parametrize(
    "change",
    [
        {"levels": ()},
        {"levels": (1.0, 0.5)},
        {"levels": (0.0, 0.5)},
        {"levels": (float("nan"),)},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": float("nan")},
        {"epsilon_levels": 0.0},
        {"epsilon_levels": float("nan")},
        {"blanket": -1.0},
        {"num_items": 1},
        {"set_size": 21},
        {"absent": -1},
        {"absent": 1.5},
        {"accounting": "guessed"},
        {"accounting": "published", "absent": 3},
    ],
)
def test_frameworks_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        replace(FRAMEWORK, **change)  # type: ignore[arg-type]
