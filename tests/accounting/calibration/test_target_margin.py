"""How far calibrations stay below their targets, where bounds take long."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.target_margin import target_margin

LAPLACE = sdp.Mean(0, 1, randomizer=sdp.Laplace())


@pytest.mark.parametrize(
    ("protocol", "num_levels", "rounds", "margin"),
    [
        (LAPLACE, 2, 1, 2e-4),
        (sdp.Gaussian(), 8, 12, 3e-4),
        (sdp.UnaryEncoding(4), 1, 1, 2e-4),
        (sdp.Frequency(4), 2, 1, 0.0),
        (sdp.Frequency(4), 2, 12, 5e-5),
        (sdp.ClipLaplace(), 2, 1, 0.0),
        (sdp.ClipLaplace(), 2, 2, 5e-5),
        # Equal people, or people who hide among their own level, have one blanket.
        (LAPLACE, 1, 1, 0.0),
        (sdp.Frequency(4), 1, 12, 0.0),
        (sdp.Mean(0, 1, randomizer=sdp.Laplace(), mode="stratified"), 2, 1, 0.0),
    ],
)
def test_a_margin_is_left_where_bounds_are_slow(
    protocol: Any, num_levels: int, rounds: int, margin: float
) -> None:
    assert target_margin(Promise(protocol, 1e-6, rounds=rounds), num_levels) == margin


@pytest.mark.parametrize("device", [sdp.KRandomizedResponse(17), sdp.ClipLaplace()])
def test_budgets_for_rounds_use_their_targets_up_but_for_the_margin(
    device: Any,
) -> None:
    promise = Promise(device, 1e-6, rounds=12)
    targets = {0.5: 1_000, 1.0: 1_000, 2.0: 1_000}

    answer = sdp.largest_budgets(promise, targets)

    epsilons = [level.epsilon_central for level in answer.guarantee.levels]
    wanted = np.array(list(targets))
    # Rounded upward in the sixth digit.
    assert np.all(np.array(epsilons) <= wanted * (1.0 + 1e-5))
    for index, budget in enumerate(answer.people.epsilons.tolist()[:-1]):
        budgets = answer.people.epsilons.copy()
        budgets[index] = 1.001 * budget
        raised = sdp.Population(budgets, answer.people.counts)
        assert promise.delta_of(raised, index, wanted[index]) > promise.delta


def test_few_evaluations_certify_more_and_so_never_too_little() -> None:
    promise = Promise(sdp.KRandomizedResponse(17), 1e-6, rounds=12)
    people = sdp.Population.from_counts({1.0: 1_000, 2.0: 1_000})
    targets, order = [0.3, 0.6], [0, 1]

    few, all_ = (
        list(promise.one_by_one(people, targets, order, most_evaluations=number))
        for number in (24, 200)
    )

    assert np.all(np.array(few) > all_)
    assert np.all(np.array(few) < 2.0 * np.array(all_))
    wanted = promise.delta
    for deltas, number in ((few, 24), (all_, 200)):
        kept = promise.kept(people, targets, most_evaluations=number)
        assert kept == (max(deltas) <= wanted)
