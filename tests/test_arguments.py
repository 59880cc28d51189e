"""Arguments of the wrong kind are refused with our own exceptions."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp

PEOPLE = sdp.Population.from_counts({0.5: 50, 2.0: 50})
FREQUENCY = sdp.Frequency(4)
VALUES, LEVELS = np.zeros(100, dtype=np.int64), PEOPLE.budgets()
WRONG: Any = None
RNG = np.random.default_rng(1)


def anything(value: Any) -> Any:
    """Hides the type of a value, as untyped code would."""
    return value


@pytest.mark.parametrize(
    "call",
    [
        lambda: sdp.account(FREQUENCY, PEOPLE, delta=anything("1e-6")),
        lambda: sdp.account(FREQUENCY, PEOPLE, delta=anything(np.array([1e-6]))),
        lambda: sdp.account(FREQUENCY, PEOPLE, delta=anything(1e-6j)),
        lambda: sdp.account(FREQUENCY, PEOPLE, epsilon=anything("x")),
        lambda: sdp.account(FREQUENCY, WRONG, delta=1e-6),
        lambda: FREQUENCY.randomize(VALUES, LEVELS, rng=WRONG),
        lambda: FREQUENCY.randomize(VALUES, LEVELS, rng=anything(3)),
        lambda: FREQUENCY.randomize([[0], [0, 1]], LEVELS, rng=RNG),
        lambda: sdp.shuffle(anything([1, 2]), rng=RNG),
        lambda: sdp.shuffle(FREQUENCY.randomize(VALUES, LEVELS, rng=RNG), rng=WRONG),
        lambda: FREQUENCY.estimate(
            anything(FREQUENCY.randomize(VALUES, LEVELS, rng=RNG)), PEOPLE
        ),
        lambda: sdp.Population.from_counts(WRONG),
        lambda: sdp.Population.from_counts({1.0: 10**20}),
        lambda: sdp.Population.from_counts({1.0: 2**62, 2.0: 2**62}),
        lambda: sdp.Population.from_budgets([[1.0], [1.0, 2.0]]),
    ],
)
def test_wrong_kinds_of_arguments_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(sdp.InvalidInputError, match="Expected"):
        call()


def test_any_kind_of_number_is_a_number() -> None:
    guarantee = sdp.account(FREQUENCY, PEOPLE, delta=anything(np.float32(1e-3)))

    assert json.loads(json.dumps(guarantee.to_dict()))["levels"][0]["count"] == 50


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("budget", [5e-324, 1e-320, 1e-250, 1e-200])
def test_budgets_next_to_nothing_are_certified(budget: float) -> None:
    people = sdp.Population.from_budgets([budget, budget, 1.0, 1.0])

    at_delta = sdp.account(FREQUENCY, people, delta=1e-9).levels[0]
    at_zero = sdp.account(FREQUENCY, people, epsilon=0.0).levels[0]

    assert at_delta.epsilon_central == 0.0
    # Nobody's total variation exceeds half her budget.
    assert 0.0 < at_zero.delta_central <= budget


def test_minus_zero_is_zero() -> None:
    people = sdp.Population.from_counts({-0.0: 3})

    guarantee = sdp.account(FREQUENCY, people, epsilon=-0.0)

    assert repr(people) == "Population(0: 3)"
    assert str(guarantee.epsilon) == "0.0"
