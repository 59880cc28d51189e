"""The part of a bound that is caution leaves about the exact value when taken away."""

import numpy as np
import pytest
from oracles.multiprecision import BlanketSum

from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_caution_is_some_of_the_bound_and_not_much(share: float) -> None:
    levels = Population.from_counts({1.0: 1})
    ((cover,),) = KRandomizedResponse(17).covers([1.0], levels, delta=1e-6)
    bound = ContourBound(cover, cover.blanket_probabilities, np.array([14.0]))

    delta, slack = bound.delta(share), bound.slack(share)

    exact = float(BlanketSum({1.0: 15}, 1.0, 17).delta(share))
    assert 0.0 < slack < 0.05
    # Smoothing is in the rest.
    assert exact * (1.0 - 1e-6) <= delta
    assert delta * (1.0 - slack) == pytest.approx(exact, rel=0.05)
