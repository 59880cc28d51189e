"""A person whose noise is far wider than that of most others, and narrower than some's."""

import itertools

import numpy as np
import pytest
from oracles.noise_regions import Crowd, Distribution, shown
from scipy.stats import laplace, norm

import shuffledp as sdp
from shuffledp.cover import LocalRandomizer

# Ends of the middle region, in scales of the target's noise.
PARTS = np.arange(0.3, 3.1, 0.25).tolist()


def distribution(
    randomizer: LocalRandomizer, level: float
) -> tuple[Distribution, float]:
    """The distribution function of noise where values are 2 apart, and its scale."""
    if isinstance(randomizer, sdp.Gaussian):
        deviation = float(randomizer.deviations(np.array([level]))[0])
        return lambda y: float(norm.cdf(y, scale=deviation)), deviation
    return lambda y: float(laplace.cdf(y, scale=2.0 / level)), 2.0 / level


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("randomizer", "wide", "level", "narrow", "delta"),
    [
        (sdp.Gaussian(), (0.052, 21), 1.0, (4.3, 3_627), 3.8e-4),
        (sdp.Gaussian(), (0.001, 525), 1.5, (6.0, 100_000), 2.5e-3),
        (sdp.Laplace(), (0.021, 9), 0.6, (5.6, 11_576), 5.9e-4),
    ],
)
def test_the_number_of_narrow_messages_shows_no_more_than_is_certified(
    randomizer: LocalRandomizer,
    wide: tuple[float, int],
    level: float,
    narrow: tuple[float, int],
    delta: float,
) -> None:
    people = sdp.Population.from_counts(
        {wide[0]: wide[1], level: 1, narrow[0]: narrow[1]}
    )
    target, scale = distribution(randomizer, level)
    narrow_crowd, wide_crowd = (
        Crowd(distribution(randomizer, each)[0], number)
        for each, number in (narrow, wide)
    )

    guarantee = sdp.account(randomizer, people, delta=delta)

    (certified,) = [each for each in guarantee.levels if each.chosen == level]

    def most_shown(epsilon: float) -> float:
        return max(
            shown(
                narrow_crowd,
                wide_crowd,
                target,
                epsilon=epsilon,
                middle=part * scale,
                ring=(part + width) * scale,
            )
            for part, width in itertools.product(PARTS, (0.6, 1.5, 3.0, 4.5))
        )

    assert most_shown(certified.epsilon_central) <= delta
    # The event is no idle one: at smaller epsilons it shows more.
    assert most_shown(0.5 * certified.epsilon_central) > delta
