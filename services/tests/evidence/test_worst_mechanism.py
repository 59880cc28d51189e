"""The bound of right guesses against the worst mechanism there is, by linear programming.

A mechanism may as well publish its guesses. What is left are the chances of each row of
guesses for each row of bits, with one linear condition for every event and neighbor.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

from shuffledp_services.evidence.canary_guessing_test import guessing_p_value
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles


def most_right(count: int, wanted: int, *, rows: list[tuple[float, float]]) -> float:
    """Returns the largest P(W >= wanted) of all mechanisms that keep every (eps, delta)."""
    kinds = list(itertools.product((0, 1), repeat=count))
    number = len(kinds)
    gain = np.zeros((number, number))
    for x, y in itertools.product(range(number), repeat=2):
        right = sum(a == b for a, b in zip(kinds[x], kinds[y], strict=True))
        gain[x, y] = (right >= wanted) / number
    neighbors = [
        (x, z)
        for x, z in itertools.product(range(number), repeat=2)
        if sum(a != b for a, b in zip(kinds[x], kinds[z], strict=True)) == 1
    ]
    # An event's excess is at most delta: slack variables hold max(0, P - e^eps Q).
    slacks = len(rows) * len(neighbors) * number
    size = number**2
    limits = len(rows) * len(neighbors) * (number + 1)
    # SciPy's types do not know that its programs may be sparse.
    left: Any = lil_array((limits, size + slacks))
    whole: Any = lil_array((number, size + slacks))
    bounds = np.zeros(limits)
    line, slack = 0, size
    for (epsilon, delta), (x, z) in itertools.product(rows, neighbors):
        for y in range(number):
            left[line, x * number + y] = 1.0
            left[line, z * number + y] = -math.exp(epsilon)
            left[line, slack + y] = -1.0
            line += 1
        left[line, slack : slack + number] = 1.0
        bounds[line] = delta
        line, slack = line + 1, slack + number
    for x in range(number):
        whole[x, x * number : (x + 1) * number] = 1.0
    costs = np.concatenate([-gain.ravel(), np.zeros(slacks)])
    found = linprog(
        costs,
        A_ub=left.tocsr(),
        b_ub=bounds,
        A_eq=whole.tocsr(),
        b_eq=np.ones(number),
        bounds=(0.0, 1.0),
    )
    assert found.fun is not None
    return -float(found.fun)


@pytest.mark.parametrize("count", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "rows",
    [
        [(0.5, 0.0)],
        [(0.0, 0.1)],
        [(0.5, 0.02)],
        [(0.0, 0.3), (0.6, 0.1), (1.5, 0.01)],
    ],
)
def test_no_mechanism_is_guessed_better_than_the_bound(
    count: int, rows: list[tuple[float, float]]
) -> None:
    epsilons, deltas = (np.array(column)[:, None] for column in zip(*rows, strict=True))
    promises = PrivacyProfiles(np.array([1.0]), epsilons, deltas)
    sizes = np.array([count]), np.array([count])

    for wanted in range(1, count + 1):
        worst = most_right(count, wanted, rows=rows)
        bound = guessing_p_value(wanted, *sizes, promises=promises)
        assert worst <= bound * (1.0 + 1e-7)
        # And it is not far: the worst one comes near.
        assert bound <= 2.0 * worst
