"""Everybody with a budget of her own: the same digits as ever, and little memory."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

import shuffledp as sdp

PEOPLE = 1_000_000


@pytest.fixture(scope="module")
def crowd() -> sdp.Population:
    scattered = np.arange(PEOPLE) * 2_654_435_761 % (1 << 32)
    return sdp.Population.from_budgets(0.1 + 2.9 * (scattered / (1 << 32)))


@pytest.fixture
def traced() -> Iterator[None]:
    # What is imported only once it is needed is no part of a crowd.
    few = sdp.Population.from_counts({1.0: 1_000_000})
    sdp.account(sdp.Frequency(128), few, delta=1e-8)
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("traced")
def test_a_million_budgets_take_100_bytes_each_and_keep_their_digits(
    crowd: sdp.Population,
) -> None:
    before, _ = tracemalloc.get_traced_memory()

    found = sdp.account(sdp.Frequency(128), crowd, delta=1e-8)

    _, peak = tracemalloc.get_traced_memory()
    # What an accountant said that added all levels up at once, in 145 bytes each.
    ends = [(one.epsilon_central_lower, one.epsilon_central) for one in found.levels]
    assert ends == [
        (3.76224e-05, 3.76225e-05),
        (0.000564549, 0.000564551),
        (0.00172226, 0.00172227),
        (0.00410069, 0.0041007),
        (0.0086747, 0.00867471),
    ]
    assert found.people_digest.startswith("2924c3c25d10871056c59f7ef88d1b9a")
    # And the people themselves, 16 bytes.
    assert (peak - before) / PEOPLE <= 84
