"""Every target is used up, and few evaluations of a certified bound find the budgets."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.calibration_search import with_budget
from shuffledp.accounting.calibration.joint_budgets import (
    estimated_budgets,
    joint_budgets,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.randomizers.grid_response import GridResponse
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.statistics.single_message import SingleMessage

TARGETS = {0.02: 2_500, 0.05: 5_000, 0.1: 2_500}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The epsilons at which bounds are evaluated, from now on."""
    found: list[float] = []
    evaluate = UpperProfile.delta

    def counted(self: UpperProfile, epsilon: float) -> float:
        found.append(epsilon)
        return evaluate(self, epsilon)

    monkeypatch.setattr(UpperProfile, "delta", counted)
    return found


def assert_used_up(promise: Promise, found: Calibration) -> None:
    """Nobody's budget can be raised by a thousandth, but where all is allowed."""
    people = found.people
    for index, target in enumerate(found.targets):
        assert promise.delta_of(people, index, target) <= promise.delta
        if people.epsilons[index] > 0.99 * MAX_BUDGET:
            continue
        budget = float(people.epsilons[index]) * 1.001
        more, position = with_budget(people, index, budget)
        assert promise.delta_of(more, position, target) > promise.delta


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "most"),
    [
        # With a bisection for every level, over and over: 650, 1330 and 579.
        (sdp.Frequency(17), 120),
        (sdp.Frequency(2), 160),
        (sdp.Mean(0, 16, randomizer=sdp.ClipLaplace(8.0)), 130),
    ],
)
def test_few_evaluations_find_the_budgets_of_three_levels(
    protocol: object, most: int, looks: list[float]
) -> None:
    promise = Promise(protocol, 1e-6)

    found = largest_budgets(promise, TARGETS)

    # What the certificate takes is in it.
    assert len(looks) <= most
    assert_used_up(promise, found)


def test_ten_levels_take_few_evaluations_each(looks: list[float]) -> None:
    promise = Promise(sdp.Frequency(9), 1e-8)

    largest_budgets(promise, {0.01 * (level + 1): 1_000 for level in range(10)})

    assert len(looks) <= 400


@pytest.mark.parametrize(
    ("targets", "most"),
    # From where all budgets looked the same: 36 and 169.
    [({1.0: 100_000}, 28), ({0.5: 500_000, 1.0: 500_000}, 60)],
)
def test_many_categories_take_few_evaluations(
    targets: dict[float, int], most: int, looks: list[float]
) -> None:
    # Here losses at the targets themselves as budgets are some 10^-4 of what is allowed.
    promise = Promise(sdp.Frequency(100_000), 1e-6)

    found = largest_budgets(promise, targets)

    assert len(looks) <= most
    assert_used_up(promise, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "delta", "absent", "targets"),
    [
        # Liberal people get all there is, and hide nobody.
        (sdp.Frequency(9), 0.1, 0, {0.1: 300, 0.2: 400, 0.3: 20}),
        # For normal losses there is no answer.
        (
            sdp.OneBit(),
            1.4e-4,
            1729,
            {0.02593: 722, 0.2824: 4, 0.7363: 1563, 1.0: 15010},
        ),
        # Targets so close that budgets are, too.
        (sdp.Frequency(5), 1e-6, 0, {0.1: 300, 0.10002: 400, 0.3: 20}),
        (sdp.Frequency(9), 1e-6, 100, {0.1: 300, 0.2: 400, 0.3: 20}),
        # Levels of few people that depend on each other: sweeps end at half of these.
        (
            sdp.OneBit(),
            0.0431,
            0,
            {1.0094: 10, 1.0195: 1, 1.0296: 5, 1.0397: 7, 1.0498: 2, 1.0599: 5},
        ),
    ],
)
def test_every_target_is_used_up(
    protocol: object, delta: float, absent: int, targets: dict[float, int]
) -> None:
    promise = Promise(protocol, delta, absent)

    assert_used_up(promise, largest_budgets(promise, targets))


@pytest.mark.slow
def test_several_rounds_are_no_more_looked_at_than_needed(looks: list[float]) -> None:
    promise = Promise(sdp.Frequency(9), 1e-6, rounds=10)

    found = largest_budgets(promise, {0.1: 3_000, 0.2: 4_000})

    # Each profile takes a hundred of them; 23,044 before.
    assert len(looks) <= 2_000
    # The largest ones, but for a margin.
    largest = np.array([0.954649, 1.5358])
    assert np.all(found.people.epsilons <= largest)
    assert np.all(found.people.epsilons >= (1.0 - 1e-4) * largest)


@pytest.mark.slow
def test_people_whose_bound_is_refused_at_huge_budgets_get_less() -> None:
    # At budget 224 the fourth level keeps its target, but not much smaller ones.
    promise = Promise(sdp.Mean(0, 1, randomizer=sdp.ClipLaplace(0.5)), 1.8e-5, 375)

    found = largest_budgets(
        promise, {0.007514: 491, 0.0128: 62, 0.05376: 3_202, 1.651: 4}
    )

    assert found.people.epsilons[:3] == pytest.approx(
        [0.23955, 0.38312, 1.4711], rel=1e-3
    )
    for level, target in zip(found.guarantee.levels, found.targets, strict=True):
        assert level.epsilon_central <= target * 1.00002


@pytest.mark.slow
def test_sweeps_find_the_same_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    promise, counts = Promise(sdp.Frequency(17), 1e-6), np.array([500, 500])
    targets = [0.2, 0.4]
    jointly, _ = joint_budgets(promise, counts, targets, np.array(targets))

    monkeypatch.setattr("shuffledp.accounting.calibration.newton_search._MAX_STEPS", 0)
    monkeypatch.setattr(
        "shuffledp.accounting.calibration.newton_search._JUMP_ACCURACY", 0.0
    )
    swept, _ = joint_budgets(promise, counts, targets, np.array(targets))

    # Sweeps are for bounds that jump, and search no closer.
    assert swept == pytest.approx(jointly, rel=1e-4)


@pytest.mark.slow
def test_level_that_the_largest_budget_breaks_is_solved_for(
    looks: list[float],
) -> None:
    # The sixth target is kept by no largest budget, though its slope is nearly flat.
    wanted = dict.fromkeys((0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2), 1_250)
    promise = Promise(sdp.OneBit(), delta=1e-6)

    found = largest_budgets(promise, wanted)

    # Sweeps over all levels took six times as many.
    assert len(looks) <= 400
    assert_used_up(promise, found)


@pytest.mark.slow
def test_large_targets_that_are_close_are_used_up() -> None:
    # Level by level, budgets go round in a circle.
    targets = dict.fromkeys((1.92, 1.98, 2.35, 2.38), 4_931)

    answer = largest_budgets(Promise(sdp.Frequency(68), 1e-6), targets)

    for level, target in zip(answer.guarantee.levels, targets, strict=True):
        assert 0.9999 * target < level.epsilon_central <= target


@pytest.mark.slow
def test_budgets_of_large_targets_that_are_close_are_estimated() -> None:
    # Sweeps of estimates do not settle: people at the first levels hide all others.
    targets = np.array([0.081, 0.1044, 0.1053, 0.3315, 1.1796, 2.499, 2.6724, 4.2327])
    counts = np.full(8, 125_000)

    for device in (Laplace(), GridResponse(num_values=6)):
        promise = Promise(device, 1e-9)
        budgets = estimated_budgets(promise, counts, targets.tolist(), targets)

        deltas = promise.deltas_of(Population(budgets, counts), targets.tolist())
        # Of one rare loss far above all others, an estimate may be a fifth too small.
        assert max(deltas) <= 1.3e-9


@pytest.mark.parametrize(
    ("randomizer", "targets", "num_free"),
    [
        (OneBit(0.0, 1.0), [1.92, 1.98, 2.35, 2.38], 1),
        pytest.param(
            HadamardResponse(68),
            [1.92, 1.98, 2.35, 2.38],
            1,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            HadamardResponse(22),
            [1.405, 1.422, 1.485, 1.515],
            2,
            marks=pytest.mark.slow,
        ),
    ],
    ids=str,
)
def test_close_and_large_targets_need_few_budgets_below_the_largest(
    randomizer: Any, targets: list[float], num_free: int
) -> None:
    promise = Promise(SingleMessage(randomizer), delta=1e-6)
    counts = np.full(4, 4_931)

    budgets, _ = joint_budgets(promise, counts, targets, np.array(targets))

    assert budgets[:num_free].max() < 10.0
    assert budgets[num_free:].min() > 600.0
    assert promise.kept(Population(budgets * (1.0 - 1e-5), counts), targets)
    for index in range(num_free):
        raised = budgets.copy()
        raised[index] *= 1.001
        people = Population(raised, counts)
        assert promise.delta_of(people, index, targets[index]) > 1e-6


@pytest.mark.slow
def test_a_level_whose_bound_jumps_does_not_keep_the_others_from_their_budgets() -> (
    None
):
    # The fifth level's bound jumps where its target is used up, by 0.03% of delta.
    promise = Promise(SingleMessage(Laplace(0.0, 1.0)), delta=1e-6)
    targets = [1.646, 1.83, 1.885, 1.897, 1.991, 2.041]
    counts = np.full(6, 373_388)

    budgets, _ = joint_budgets(promise, counts, targets, np.array(targets))

    people = Population(budgets * (1.0 - 1e-5), counts)
    assert promise.kept(people, targets)
    for index, target in enumerate(targets):
        raised = budgets.copy()
        raised[index] *= 1.002
        assert promise.delta_of(Population(raised, counts), index, target) > 1e-6


@pytest.mark.slow
def test_small_targets_that_are_close_are_used_up_with_unbounded_noise(
    looks: list[float],
) -> None:
    # Level by level, budgets fell to 60% of these targets after 2,202 evaluations.
    targets = dict.fromkeys((0.24, 0.245, 0.25, 0.26, 0.265, 0.269), 172_817)

    answer = largest_budgets(
        Promise(sdp.Mean(0, 16, randomizer=Laplace(0.0, 16.0)), 1e-6), targets
    )

    assert len(looks) <= 150
    for level, target in zip(answer.guarantee.levels, targets, strict=True):
        assert 0.9995 * target < level.epsilon_central <= target


@pytest.mark.slow
def test_estimates_that_are_far_off_are_corrected(looks: list[float]) -> None:
    # The last level keeps its target with any budget, and estimates say that it does not.
    targets = [1.92, 1.98, 2.35, 2.38]
    promise = Promise(SingleMessage(HadamardResponse(68)), delta=1e-6)
    counts = np.full(4, 300)

    budgets, _ = joint_budgets(promise, counts, targets, np.array(targets))

    # 222 before.
    assert len(looks) <= 80
    assert budgets[2] < 10.0
    assert budgets[3] > 600.0
    assert promise.kept(Population(budgets * (1.0 - 1e-5), counts), targets)
    for index in range(3):
        raised = budgets.copy()
        raised[index] *= 1.001
        people = Population(raised, counts)
        assert promise.delta_of(people, index, targets[index]) > 1e-6


@pytest.mark.slow
def test_reports_shuffled_in_parts_use_up_their_targets_but_for_little() -> None:
    promise = Promise(sdp.Frequency(4, randomizer=sdp.UnaryEncoding(4)), delta=1e-6)

    answer = largest_budgets(promise, {0.3: 2_000, 0.5: 2_000})

    certified = answer.guarantee.levels[0].epsilon_central
    assert 0.9995 * 0.3 < certified <= 0.3
