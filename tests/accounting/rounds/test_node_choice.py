"""Which chords of a loss distribution are split."""

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.rounds.loss_distribution import (
    _middles_to_add,
    connect_dots,
)


def test_a_chord_that_cannot_be_split_hides_no_others() -> None:
    losses = np.array([0.0, 2.0, 2.2, 2.4])
    distribution = connect_dots(losses, np.array([0.5, 0.05, 0.03, 0.02]))

    # The first costs far more than the others; its middle was evaluated, and dropped.
    assert _middles_to_add(distribution, {}) == [1.0]
    assert _middles_to_add(distribution, {1.0: 0.2}) == pytest.approx([2.1, 2.3])


@pytest.mark.slow
def test_profiles_of_few_flips_are_followed() -> None:
    people = sdp.Population.from_counts({10.316: 1_000_000})
    protocols: list[Any] = [sdp.Frequency(17), sdp.Mean(0, 1), sdp.BinarySum()]

    level = sdp.account(protocols, people, delta=1e-9, absent=1).worst

    # 2.39247 with 626 nodes in all.
    assert level.epsilon_central_lower <= 2.39247
    assert 2.39 <= level.epsilon_central <= 2.40
