import itertools
import math

import numpy as np
import pytest
from oracles.finite_messages import one_bit
from oracles.shuffled import largest_shuffled_divergences

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.statistics.single_message import SingleMessage

VALUES = np.array([0.0, 0.2, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("level", [0.1, 1.0, 5.0])
def test_blanket_and_budget_hold_for_every_value_in_between(level: float) -> None:
    crowd = Population.from_counts({level: 2})

    ((cover,),) = OneBit().covers([level], crowd, delta=1e-6)

    sent = one_bit(level, np.linspace(0.0, 1.0, 101))
    assert np.log(sent.max(axis=0) / sent.min(axis=0)).max() <= level * (1 + 1e-12)
    # Two messages, each of mass 1/2; the ends attain it.
    assert cover.blanket_probabilities[0] == pytest.approx(2.0 * sent.min(), rel=1e-13)


@pytest.mark.parametrize(
    "crowd", [{0.5: 1, 2.0: 1}, {1.0: 3}, {0.3: 2, 4.0: 2}, {0.2: 1, 1.0: 2, 3.0: 1}]
)
def test_no_pair_of_values_in_between_is_worse_than_certified(
    crowd: dict[float, int],
) -> None:
    people = Population.from_counts(crowd)
    senders = [one_bit(level, VALUES) for level in crowd]

    for position, level in enumerate(crowd):
        epsilons = [0.0, 0.1 * level, 0.5 * level, 0.9 * level]
        exact = largest_shuffled_divergences(
            senders, list(crowd.values()), position, epsilons
        )
        for epsilon, worst in zip(epsilons, exact, strict=True):
            (answer,) = account(
                SingleMessage(OneBit()), people, epsilon=epsilon, levels=[level]
            ).levels
            # Sums of 16 doubles.
            assert worst <= answer.delta_central + 1e-14
            assert answer.delta_central_lower <= worst + 1e-14


def test_range_of_values_does_not_matter() -> None:
    people = Population.from_counts({0.5: 20, 2.0: 30})

    first, second = (
        account(SingleMessage(OneBit(*ends)), people, delta=1e-6)
        for ends in [(0.0, 1.0), (-40.0, 1e9)]
    )

    assert first.levels == second.levels
    assert second.parameters == {"low": -40.0, "high": 1e9}


@pytest.mark.parametrize(
    "ends", list(itertools.product([0.0, math.nan, math.inf], [0.0, math.nan, -1.0]))
)
def test_ranges_that_make_no_sense_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        OneBit(*ends)


def test_ranges_longer_than_the_largest_double_have_infinite_variance() -> None:
    # Warnings are errors here.
    _, variances = OneBit(-1.7e308, 1.7e308).moments(np.array([1.0]), np.array([0.0]))

    assert variances == math.inf
