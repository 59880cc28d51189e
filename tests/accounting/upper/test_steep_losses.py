"""Few messages with enormous losses: the integral against a plain FFT of the same sum."""

import math

import numpy as np
import pytest
from oracles.blanket_fft import blanket_by_fft
from scipy import stats
from scipy.special import ndtr

from shuffledp import Population, account
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.normal_blanket import NormalBlanket
from shuffledp.randomizers.normal_cover import cover_with
from shuffledp.statistics.single_message import SingleMessage


def by_fft(deviation: float, reach: float, people: int, epsilon: float) -> float:
    """The bound for equal deviations, with everybody's smallest density as the cover."""
    edges = np.linspace(0.0, reach, 20_001)
    far, near = (-np.diff(stats.norm(v, deviation).sf(edges)) for v in (-1.0, 1.0))
    gamma = 2.0 * far.sum()
    masses = np.concatenate([far, far]) / gamma
    growth = math.exp(epsilon)
    losses = np.concatenate([near - growth * far, far - growth * near]) / masses
    return blanket_by_fft(losses, masses, gamma=gamma, others=people - 1)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("level", "people", "epsilon"),
    [
        (5.0, 10_000, 0.06),
        (6.0, 10_000, 0.1),
        (6.0, 20_000, 0.06),
        (6.0, 20_000, 0.08),
        (8.0, 100_000, 0.03),
        (8.0, 100_000, 0.06),
        (8.0, 10_000, 0.3),
        (10.0, 10_000, 1.2),
    ],
)
def test_steep_losses_are_integrated(level: float, people: int, epsilon: float) -> None:
    (deviation,) = Gaussian().deviations(np.array([level])).tolist()
    reach = 1.0 + 5.6 * deviation
    cover = cover_with(
        NormalBlanket(deviation, reach, reach, deviation, 1.0),
        np.full(
            1, 2.0 * float(ndtr(-1.0 / deviation) - ndtr(-(1.0 + reach) / deviation))
        ),
    )
    bound = ContourBound(cover, cover.blanket_probabilities, np.array([people - 1.0]))

    integral = bound.delta(epsilon) - cover.beyond(epsilon)

    exact = by_fft(deviation, reach, people, epsilon)
    # The lattice rounds up by 1e-4 of the deviation squared, cells and smoothing by 1e-3.
    assert exact * (1.0 - 1e-3) <= integral <= exact * (1.0 + 1e-2)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("counts", "most"),
    [({8.0: 100_000}, 0.0485), ({6.0: 20_000}, 0.0597), ({6.0: 10_000}, 0.0873)],
)
def test_liberal_people_are_no_worse_off_than_the_integral_says(
    counts: dict[float, int], most: float
) -> None:
    (answer,) = account(
        SingleMessage(Gaussian()), Population.from_counts(counts), delta=1e-6
    ).levels

    assert answer.epsilon_central_lower <= answer.epsilon_central <= most


def test_delta_of_steep_losses() -> None:
    people = Population.from_counts({6.0: 20_000})

    (answer,) = account(SingleMessage(Gaussian()), people, epsilon=0.08).levels

    assert answer.delta_central_lower <= answer.delta_central <= 1e-8
