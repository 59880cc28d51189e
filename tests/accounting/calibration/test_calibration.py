"""Calibrated answers are feasible, and a little more is not."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.calibration import (
    largest_budget,
    largest_budgets,
    largest_scale,
    most_rounds,
    smallest_crowd,
)
from shuffledp.accounting.calibration.largest_excess import LargestExcess
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError

PROMISE = Promise(sdp.Frequency(17), 1e-6)
# Ten times as fast.
TWO = Promise(sdp.Frequency(2), 1e-6)
PEOPLE = sdp.Population.from_counts({0.5: 250, 1.0: 500, 2.0: 250})
# What these levels are worth, and a little: every answer has some room.
TARGETS = [0.05, 0.1, 0.3]


def epsilons(people: sdp.Population, promise: Promise = PROMISE) -> list[float]:
    guarantee = sdp.account(
        promise.protocol,
        people,
        delta=promise.delta,
        absent=promise.absent,
        rounds=promise.rounds,
    )
    return [level.epsilon_central for level in guarantee.levels]


def test_largest_budgets_keep_every_target_and_none_can_be_raised_alone() -> None:
    targets = {0.02: 250, 0.05: 500, 0.1: 250}

    found = largest_budgets(PROMISE, targets)

    budgets = found.people.epsilons
    assert found.people.counts.tolist() == [250, 500, 250]
    for index, target in enumerate(sorted(targets)):
        assert found.guarantee.levels[index].epsilon_central <= target * (1 + 1.1e-5)
        raised = budgets.copy()
        raised[index] *= 1.001
        people = sdp.Population(raised, found.people.counts)
        assert epsilons(people)[index] > target


def test_largest_budgets_settle_where_answers_to_answers_would_swing() -> None:
    found = largest_budgets(PROMISE, {0.2: 500, 0.4: 500})

    assert np.all(np.array(epsilons(found.people)) <= [0.2 * 1.00002, 0.4 * 1.00002])
    raised = sdp.Population(found.people.epsilons * 1.001, found.people.counts)
    assert epsilons(raised)[0] > 0.2


def test_equal_levels_with_one_target_are_solved_exactly_once() -> None:
    found = largest_budgets(PROMISE, {0.1: 1000})

    (budget,) = found.people.epsilons.tolist()
    assert epsilons(sdp.Population.from_counts({budget: 1000}))[0] <= 0.1
    assert epsilons(sdp.Population.from_counts({budget * 1.0001: 1000}))[0] > 0.1


@pytest.mark.slow
def test_a_target_that_is_not_kept_as_the_budget_of_many_rounds_is_met() -> None:
    promise = Promise(sdp.Frequency(2), 1e-6, rounds=100_000)

    found = largest_budgets(promise, {0.1: 100})

    (budget,) = found.people.epsilons.tolist()
    assert budget < 0.1
    assert epsilons(found.people, promise)[0] <= 0.1
    raised = sdp.Population.from_counts({budget * 1.001: 100})
    assert epsilons(raised, promise)[0] > 0.1


@pytest.mark.parametrize("rounds", [1, 2])
def test_targets_that_are_not_kept_as_budgets_are_met_by_smaller_ones(
    rounds: int,
) -> None:
    # The noise has a delta of its own, which is larger than the one asked for.
    promise = Promise(sdp.Mean(0, 1, randomizer=sdp.Gaussian()), 1e-14, rounds=rounds)

    found = largest_budgets(promise, {1.0: 2})

    (budget,) = found.people.epsilons.tolist()
    assert budget < 1.0 / rounds
    assert 0.999 < found.guarantee.worst.epsilon_central <= 1.0


def test_one_level_is_raised_as_far_as_its_target_allows() -> None:
    found = largest_budget(PROMISE, PEOPLE, 2.0, 0.25)

    budget = float(found.people.epsilons[-1])
    assert found.people.epsilons[:2].tolist() == [0.5, 1.0]
    assert epsilons(found.people)[-1] <= 0.25 * (1 + 1.1e-5)
    higher = sdp.Population.from_counts({0.5: 250, 1.0: 500, budget * 1.001: 250})
    assert epsilons(higher)[-1] > 0.25


@pytest.mark.slow
def test_scale_is_the_largest() -> None:
    factor, found = largest_scale(PROMISE, PEOPLE, TARGETS)

    assert np.all(np.array(epsilons(found.people)) <= np.array(TARGETS) * (1 + 1.1e-5))
    more = sdp.Population(PEOPLE.epsilons * factor * 1.0001, PEOPLE.counts)
    assert np.any(np.array(epsilons(more)) > TARGETS)


@pytest.mark.slow
def test_smallest_crowd_is_enough_and_a_smaller_one_is_not() -> None:
    found = smallest_crowd(PROMISE, PEOPLE, TARGETS)

    n = found.people.num_users
    assert np.all(np.array(epsilons(found.people)) <= np.array(TARGETS) * (1 + 1.1e-5))
    fewer = round(n * 0.99)
    shares = {0.5: fewer // 4, 1.0: fewer - 2 * (fewer // 4), 2.0: fewer // 4}
    assert np.any(np.array(epsilons(sdp.Population.from_counts(shares))) > TARGETS)


@pytest.mark.slow
def test_most_rounds_is_the_last_that_keeps_every_target() -> None:
    targets = [0.3, 0.5, 1.5]

    rounds, found = most_rounds(TWO, PEOPLE, targets)

    assert found.guarantee.rounds == rounds
    for count, kept in ((rounds, True), (rounds + 1, False)):
        after = epsilons(PEOPLE, Promise(TWO.protocol, 1e-6, rounds=count))
        assert np.all(np.array(after) <= np.array(targets) * (1 + 1e-4)) == kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "people", "target"),
    [
        # What was made for a hundred million rounds was not certified for these.
        (sdp.OneBit(), {0.5: 100_000}, 1.0),
        (sdp.Gaussian(), {0.5: 20_000, 1.0: 20_000}, 0.1),
    ],
)
def test_rounds_use_up_the_target_and_more_would_not_keep_it(
    protocol: sdp.OneBit | sdp.Gaussian, people: dict[float, int], target: float
) -> None:
    promise, crowd = Promise(protocol, 1e-6), sdp.Population.from_counts(people)

    rounds, found = most_rounds(promise, crowd, [target] * len(people))

    largest = max(level.epsilon_central for level in found.guarantee.levels)
    assert 0.97 * target < largest <= target
    more = replace(promise, rounds=math.ceil(1.03 * rounds))
    assert max(epsilons(crowd, more)) > target


def test_a_crowd_is_found_by_few_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    at = LargestExcess.at

    def noted(
        self: LargestExcess, people: sdp.Population, *, absent: int | None = None
    ) -> float:
        sizes.append(people.num_users)
        return at(self, people, absent=absent)

    monkeypatch.setattr(LargestExcess, "at", noted)

    found = smallest_crowd(TWO, PEOPLE, [0.004, 0.01, 0.02])

    # Doubled from few people, and halved between two numbers, 34.
    assert found.people.num_users > 100_000
    assert len(sizes) == len(set(sizes)) <= 15


@pytest.mark.parametrize("target", [1e-12, 1e-5])
def test_targets_that_no_crowd_keeps_are_refused(target: float) -> None:
    with pytest.raises(CertificationError, match=r"Even 1e\+10 people do not keep"):
        smallest_crowd(TWO, PEOPLE, [target] * 3)


@pytest.mark.slow
def test_a_share_of_the_smallest_crowd_may_be_absent() -> None:
    found = smallest_crowd(PROMISE, PEOPLE, TARGETS, absent_share=Fraction(1, 4))

    absent = math.ceil(found.people.num_users / 4)
    assert found.guarantee.absent == absent
    present = smallest_crowd(PROMISE, PEOPLE, TARGETS).people.num_users
    # Absent may be those who would hide others best.
    assert present <= found.people.num_users - absent <= 1.1 * present
    for share in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidInputError):
            smallest_crowd(PROMISE, PEOPLE, TARGETS, absent_share=share)


def test_absent_shares_count_the_single_people_of_rare_levels() -> None:
    rare = sdp.Population.from_counts({0.5: 1, 1.0: 1, 2.0: 998})

    found = smallest_crowd(TWO, rare, [0.4, 0.8, 1.6], absent_share=Fraction(1, 2))

    # Rounded upward, each of the two is more than the share of its level.
    assert found.people.counts[:2].tolist() == [1, 1]
    assert found.guarantee.absent == math.ceil(found.people.num_users / 2)


@pytest.mark.slow
def test_absent_people_make_the_answers_smaller() -> None:
    careful = Promise(PROMISE.protocol, 1e-6, absent=300)

    factor, _ = largest_scale(PROMISE, PEOPLE, TARGETS)
    cautious, _ = largest_scale(careful, PEOPLE, TARGETS)

    assert cautious < factor


@pytest.mark.slow
def test_stratified_levels_do_not_help_each_other() -> None:
    alone = Promise(sdp.Frequency(2, "stratified"), 1e-6)

    together = largest_budgets(TWO, {0.1: 500, 0.2: 500})
    apart = largest_budgets(alone, {0.1: 500, 0.2: 500})

    assert np.all(apart.people.epsilons < together.people.epsilons)
    single = largest_budgets(alone, {0.1: 500})
    assert apart.people.epsilons[0] == pytest.approx(
        single.people.epsilons[0], rel=1e-5
    )


@pytest.mark.parametrize("target", [0.0, -1.0, np.nan, np.inf, 701.0])
def test_targets_must_be_positive_numbers(target: float) -> None:
    with pytest.raises(InvalidInputError, match="targets"):
        smallest_crowd(PROMISE, PEOPLE, [target, 0.1, 0.3])


def test_there_is_one_target_per_level() -> None:
    with pytest.raises(PopulationError, match="3 targets"):
        largest_scale(PROMISE, PEOPLE, [0.1])


@pytest.mark.parametrize("delta", [0.0, 1.0, np.nan])
def test_a_promise_needs_a_delta(delta: float) -> None:
    with pytest.raises(InvalidInputError, match="delta"):
        Promise(sdp.Frequency(17), delta)


@pytest.mark.slow
def test_impossible_promises_are_refused() -> None:
    with pytest.raises(CertificationError, match="one round"):
        most_rounds(TWO, PEOPLE, [1e-6, 1e-6, 1e-6])


def test_stratified_levels_each_get_what_they_would_get_alone() -> None:
    promise = Promise(
        sdp.SingleMessage(sdp.KRandomizedResponse(17), "stratified"), 1e-6
    )
    targets = {0.02: 5_400, 0.05: 3_700, 0.1: 900}

    together = largest_budgets(promise, targets)

    assert sorted(together.targets) == sorted(targets)
    for budget, count, target in zip(
        together.people.epsilons.tolist(),
        together.people.counts.tolist(),
        together.targets,
        strict=True,
    ):
        (alone,) = largest_budgets(promise, {target: count}).people.epsilons.tolist()
        assert targets[target] == count
        assert budget == pytest.approx(alone, rel=1e-4)


@pytest.mark.slow
def test_a_certificate_is_the_one_that_is_computed_to_verify_it() -> None:
    # Bounds of two messages depend, in the last digits, on the path of a search.
    promise = Promise(sdp.BinarySum(), 8.394755882967289e-08)
    found = largest_budgets(promise, {0.1818: 35_427, 0.4217: 69_498})

    verification = sdp.verify(found.guarantee)

    assert verification.holds, verification.problems
