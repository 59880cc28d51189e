"""The family that no constant covers: its numbers, and that C must grow like n^(1/6)."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp_papers.court.growing_family import (
    needed_constant,
    reached_delta,
    stated_delta,
)


@pytest.mark.parametrize("num_users", [1e3, 1e6, 1e12])
def test_the_event_has_the_probability_of_fifty_digits(num_users: float) -> None:
    with mp.workdps(50):
        e, n = mp.mpf("0.45"), mp.mpf(num_users)
        gain = mp.exp(mp.mpf("0.5")) - mp.exp(e)
        edge = -2 * mp.log(mp.cbrt(gain / (4 * n * mp.expm1(e))))
        none = (1 - mp.exp(-2 * edge) / 2) ** (n - 1)
        high, low = (mp.exp(-(edge - value) / 2) / 2 for value in (1, 0))
        exact = 1 - none * (1 - high) - mp.exp(e) * (1 - none * (1 - low))

    assert reached_delta(0.45, num_users) == pytest.approx(float(exact), rel=1e-9)


def test_draws_of_laplace_noise_reach_as_much() -> None:
    rng, num_users, runs = np.random.default_rng(7), 200, 100_000
    gain = np.exp(0.5) - np.exp(0.1)
    edge = -2.0 * np.log(np.cbrt(gain / (4.0 * num_users * np.expm1(0.1))))
    # The largest of n - 1 messages, by inversion of its distribution function.
    others = -np.log(2.0 * -np.expm1(np.log(rng.random(runs)) / (num_users - 1))) / 2.0
    own = rng.laplace(scale=2.0, size=runs)

    high, low = (np.mean(np.maximum(others, own + value) > edge) for value in (1, 0))

    # Five standard errors of each of two shares, the second times e^0.1.
    room = 5.0 * (1.0 + np.exp(0.1)) * 0.5 / np.sqrt(runs)
    assert high - np.exp(0.1) * low == pytest.approx(
        reached_delta(0.1, num_users), abs=room
    )


def test_the_constant_grows_like_the_sixth_root() -> None:
    sizes = np.logspace(6, 30, 9)
    constants = np.array([needed_constant(0.45, size) for size in sizes])

    assert constants / sizes ** (1.0 / 6.0) == pytest.approx(0.003854, rel=1e-3)


@pytest.mark.parametrize("constant", [0.1, 1.0, 10.0, 1e6])
def test_every_constant_fails_at_the_size_that_is_stated(constant: float) -> None:
    num_users = (300.0 * constant) ** 6

    assert reached_delta(0.45, num_users) > stated_delta(0.45, num_users, constant)
