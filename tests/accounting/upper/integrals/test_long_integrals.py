"""Integrals that would take long: smoothed more, or of fewer values, and proven still."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp import Population, account
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.integrals import contour_integral, first_integral
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.subset_selection import SubsetSelection


@pytest.mark.slow
def test_rare_losses_are_smoothed_and_prove_the_same_epsilon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = Population.from_counts({0.03: 125, 0.737: 125, 3.179: 125})
    device = SubsetSelection(100_000, 2)
    epsilons, smoothed_by = {}, set[float]()
    integrated = contour_integral._integrated

    def recorded(*args: Any, smoother: float = 1.0, **others: Any) -> Any:
        smoothed_by.add(smoother)
        return integrated(*args, smoother=smoother, **others)

    monkeypatch.setattr(contour_integral, "_integrated", recorded)
    for work in (math.inf, first_integral._SLOW_WORK):
        monkeypatch.setattr(first_integral, "_SLOW_WORK", work)
        guarantee = account(device, people, delta=1e-12, quantiles=False)
        epsilons[work] = [level.epsilon_central for level in guarantee.levels]

    exact, smoothed = epsilons.values()

    assert smoothed_by == {1.0, contour_integral._SMOOTHER}
    # Both are rounded upward in the sixth digit.
    assert np.all(np.array(smoothed) <= np.array(exact) * (1.0 + 1.3e-5))


def test_where_losses_have_too_many_values_fewer_prove_a_number() -> None:
    # Of 6,600 values that vary within cells; with all of them an integral is too long.
    people = Population(np.array([0.1, 0.7, 1.0, 18.0, 73.0]), np.full(5, 200))
    device = ClipLaplace()
    ((cover,),) = device.covers([73.0], people, delta=1e-6)
    others = people.counts - (people.epsilons == 73.0)
    bound = ContourBound(cover, cover.blanket_probabilities, others.astype(np.float64))
    epsilons = np.linspace(1.5, 4.0, 6)

    deltas = [bound.delta(epsilon) for epsilon in epsilons]
    # That of the mean loss of every cell is no larger, by Jensen's inequality.
    exact = ContourBound(
        replace(cover, cells=None), cover.blanket_probabilities, bound.counts
    )
    smaller = [exact.delta(epsilon) for epsilon in epsilons]

    assert np.all(np.diff(deltas) < 0.0)
    assert np.all(np.array(smaller) <= deltas)
    assert np.all(np.array(deltas) <= 1.1 * np.array(smaller))
