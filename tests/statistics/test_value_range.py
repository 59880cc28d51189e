"""Values are moved into the range of the randomizer, and errors are those of the mode."""

import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.statistics.mean.value_range import ValueRange


def test_a_value_is_moved_by_the_distance_of_the_middles() -> None:
    values = ValueRange(0.0, 10.0, 15.0, 25.0)

    assert values.shift == -15.0
    assert values.moved(np.array([0.0, 2.5, 10.0])).tolist() == [15.0, 17.5, 25.0]


def test_estimates_return_from_the_range_of_the_randomizer() -> None:
    protocol = sdp.Mean(0.0, 10.0, "agnostic", sdp.Laplace(15.0, 25.0))
    values, levels = np.full(2000, 2.0), np.full(2000, 30.0)
    rng = np.random.default_rng(5)

    reports = protocol.randomize(values, levels, rng=rng)
    seen = protocol.tally(sdp.shuffle(reports, rng=rng))
    estimate = protocol.estimate(seen, sdp.Population.from_budgets(levels))

    # Noise of scale 10 / 30 in 2,000 messages: five standard errors, once in 10^6 runs.
    assert abs(estimate.value - 2.0) < 5.0 * math.sqrt(2.0) / 3.0 / math.sqrt(2000.0)


@pytest.mark.parametrize("low", [-1.0, 3.0])
def test_predicted_errors_of_one_bit_are_those_by_hand(low: float) -> None:
    people = sdp.Population.from_counts({0.5: 300, 2.0: 700})
    counts = np.array([300.0, 700.0])
    # How far one message moves the average, from -1 to 1: e^eps - 1 over e^eps + 1.
    gains = np.tanh(np.array([0.25, 1.0]))
    agnostic = 1.0 / (math.sqrt(1000.0) * float(counts @ gains) / 1000.0)
    stratified = math.sqrt(float((counts / 1000.0) ** 2 @ (1.0 / gains**2 / counts)))

    found = {
        mode: sdp.Mean(low, low + 2.0, mode).predicted_error(people, mean=low + 1.0)
        for mode in ("agnostic", "stratified")
    }

    # Devices round their probabilities up, by 1e-15 of themselves.
    assert found["agnostic"] == pytest.approx(agnostic, rel=1e-9)
    assert found["stratified"] == pytest.approx(stratified, rel=1e-9)
