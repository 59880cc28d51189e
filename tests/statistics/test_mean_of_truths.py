"""The mean of true and false: its spread is known, and the interval is no wider."""

import math

import numpy as np
import polars as pl
import pytest

import shuffledp as sdp
from shuffledp.types import Mode

SIMULATIONS = 400
# A fixed seed. For a random one five standard errors of the coverage are exceeded with a
# probability below 1e-6.
LEAST = 0.95 - 5.0 * math.sqrt(0.95 * 0.05 / SIMULATIONS)


@pytest.mark.parametrize("column", ["type", "text"])
def test_noise_alone_is_the_error_about_participants(column: str) -> None:
    rng = np.random.default_rng(1)
    holds = rng.random(4_000) < 0.3
    people = pl.DataFrame(
        {
            "type": holds,
            "text": np.where(holds, "True", "False"),
            "number": holds.astype(np.float64),
            "epsilon": 4.0,
        }
    )

    def errors(value: str, mechanism: str | None = None) -> list[float]:
        found = sdp.rehearse(
            people,
            value=value,
            level="epsilon",
            statistic="mean",
            low=0,
            high=1,
            mechanism=mechanism,
            seed=1,
        )
        return found.to_frame()["standard_error"].to_list()

    participants, population = errors(column)

    # One bit that is lost with probability q = 1 / (e^4 + 1): sqrt(q (1 - q)) / (1 - 2 q).
    exact = 1.0 / (2.0 * math.sinh(2.0) * math.sqrt(4_000))
    assert participants == pytest.approx(exact, rel=1e-3)
    assert population > 3.0 * participants
    # Of numbers from 0 to 1 the spread is not known.
    assert errors("number", "one-bit")[0] > 3.0 * participants
    # Without a name another mechanism is chosen, as bits show little of numbers.
    assert participants < errors("number")[0] < 2.0 * participants


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("share", [0.002, 0.3, 0.95])
def test_intervals_hold_the_mean_as_often_as_they_say(mode: Mode, share: float) -> None:
    rng = np.random.default_rng(7)
    mean = sdp.Mean(0, 1, mode)
    people = sdp.Population.from_counts({1.0: 6_000, 4.0: 4_000})
    num_true, inside = int(share * 10_000), 0

    for _ in range(SIMULATIONS):
        # Levels and values are independent.
        first = int(rng.hypergeometric(num_true, 10_000 - num_true, 6_000))
        true = np.array([first, num_true - first])
        holders = np.stack([np.array([6_000, 4_000]) - true, true], axis=1)
        tally = mean.draw_tally([0, 1], holders, people, rng=rng)
        low, high = mean.estimate(tally, people, spread=0.5).interval()
        inside += low <= num_true / 10_000 <= high

    assert inside >= LEAST * SIMULATIONS
    # Nor is it too wide: five standard errors above 95% are no bound, 99.5% is.
    assert inside <= 0.995 * SIMULATIONS
