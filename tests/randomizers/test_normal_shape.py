"""Which omega normal noise of several levels gets, near and far out."""

import numpy as np
import pytest

from shuffledp import Gaussian, Population, account
from shuffledp.randomizers import normal_shape
from shuffledp.randomizers.gaussian import Gaussian as Device
from shuffledp.randomizers.normal_shape import best_shape
from shuffledp.types import Floats

LEVELS = (0.029, 0.163, 1.314, 1.489, 2.341, 2.533, 2.613, 8.485)
PEOPLE = Population.from_counts(dict.fromkeys(LEVELS, 1_250))


def numbers(delta: float) -> Floats:
    guarantee = account(Gaussian(), PEOPLE, delta=delta, quantiles=False)
    for level in guarantee.levels:
        assert level.epsilon_central_lower <= level.epsilon_central
    return np.array([level.epsilon_central for level in guarantee.levels])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("delta", "most"), [(1e-30, 1.02), (1e-100, 1.05)])
def test_far_out_a_level_gets_what_the_next_smaller_one_does(
    delta: float, most: float
) -> None:
    found = numbers(delta)

    # 1.29 and 23.3 times it where losses were taken for normal.
    assert found[6] <= most * found[5]


@pytest.mark.slow
def test_chernoffs_bound_only_ever_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = (1e-6, 1e-12, 1e-30, 1e-100)
    found = [numbers(delta) for delta in deltas]
    monkeypatch.setattr(normal_shape, "_MUCH", np.inf)
    before = [numbers(delta) for delta in deltas]

    for delta, after, then in zip(deltas, found, before, strict=True):
        assert np.all(after <= then)
        # Near the mean losses are normal, and nothing changes.
        if delta >= 1e-12:
            assert np.array_equal(after, then)
    assert found[-1][6] < 0.1 * before[-1][6]


def test_of_equal_people_epsilon_is_about_that_of_the_bound() -> None:
    people = Population.from_counts({1.0: 10_000})
    (level,) = account(Gaussian(), people, delta=1e-30, quantiles=False).levels
    deviations = Device().deviations(people.epsilons)
    shape = best_shape(float(deviations[0]), deviations, people.counts, delta=1e-30)
    messages = people.counts @ shape.blanket_probability(deviations)

    _, about = normal_shape._Losses(shape, float(messages)).epsilon_range(1e-30)

    # Chernoff's bound lacks a factor, and the grid is coarse: it only compares shapes.
    assert level.epsilon_central <= about <= 1.15 * level.epsilon_central
