import itertools
import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.multi_message.balcer2020 import Balcer2020, BernoulliMessages
from shuffledp_papers.multi_message.count_design import CountDesign, CountProtocol
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.dummy_counts import GeometricDummies
from shuffledp_papers.multi_message.ghazi2021 import Ghazi2021
from shuffledp_papers.multi_message.luo2022 import (
    UniformMessages,
    collision,
    next_prime,
    printed_mean,
    searched_mean,
)
from shuffledp_papers.multi_message.murakami2025 import (
    MurakamiTwoSided,
    ShufflerDummies,
)
from shuffledp_papers.multi_message.published_protocols import PROTOCOLS
from shuffledp_papers.outside_preconditions import OutsidePreconditions

SETTING = CountSetting(num_users=100_000, buckets=10_000, epsilon=1.0, delta=1e-6)


def enumerated(design: CountDesign, epsilon: float) -> float:
    """Divergence of the counts of two of the buckets, by all draws of three people."""
    if isinstance(design, BernoulliMessages):
        p = design.left_out
        own = {
            (a, b): (p if a else 1 - p) * (p if b else 1 - p)
            for a in (0, 1)
            for b in (0, 1)
        }
    else:
        assert isinstance(design, UniformMessages)
        rate = design.mean / design.num_users
        own = {(1, 0): rate, (0, 1): rate, (0, 0): 1 - 2 * rate}
    noise: dict[tuple[int, int], float] = {}
    for draws in itertools.product(own.items(), repeat=3):
        key = (sum(d[0][0] for d in draws), sum(d[0][1] for d in draws))
        noise[key] = noise.get(key, 0.0) + math.prod(d[1] for d in draws)
    worlds = [
        {(a + 1, b): mass for (a, b), mass in noise.items()},
        {(a, b + 1): mass for (a, b), mass in noise.items()},
    ]
    first, second = worlds
    growth = math.exp(epsilon)
    return sum(max(m - growth * second.get(key, 0.0), 0.0) for key, m in first.items())


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "design", [BernoulliMessages(3, 5, 0.3), UniformMessages(3, 5, 0.54)]
)
def test_certified_delta_is_that_of_all_draws(
    design: CountDesign, epsilon: float
) -> None:
    exact = enumerated(design, epsilon)

    certified = design.certified_delta(epsilon)

    assert exact <= certified <= exact * (1.0 + 1e-9) + 1e-11


def test_one_dummy_distribution_against_its_double_sum() -> None:
    added = GeometricDummies(center=3, rise=0.5, fall=0.6)
    design = ShufflerDummies(100, 4, sampling_rate=0.8, added=added)
    z = np.arange(200)
    weights = np.where(z < 3, 0.5 ** (3.0 - z), 0.6 ** (z - 3.0))
    without = weights / (0.5 + 0.25 + 0.125 + 2.5)
    moved = 0.2 * without + 0.8 * np.append(0.0, without[:-1])
    growth = math.exp(0.7)
    gains = np.outer(moved, without) - growth * np.outer(without, moved)
    exact = float(np.maximum(gains, 0.0).sum())

    certified = design.certified_delta(0.7)

    assert exact * (1.0 - 1e-12) <= certified <= exact * (1.0 + 1e-9)


def test_numbers_that_the_program_of_luo_prints() -> None:
    # Its result for 100,000 people, epsilon 1, delta 1e-10, 2^24 values.
    mean = searched_mean(100_000, 1.0, 1e-10, most=1000.0)
    prime = next_prime(2**24 + 1)

    assert mean == pytest.approx(97.9614, abs=5e-5)
    assert prime == 16_777_259
    assert collision(prime, 8685) == pytest.approx(0.000115081, abs=5e-10)
    assert collision(prime, 65) == pytest.approx(0.0153846, abs=5e-8)
    messages = UniformMessages(100_000, 8685, mean).messages
    assert messages == pytest.approx(9.50795, abs=5e-5)
    messages = UniformMessages(100_000, 65, mean).messages
    assert messages == pytest.approx(1.06367, abs=5e-5)


def test_formulas_by_hand() -> None:
    # 32 ln(2e6) and 200 ln(4e6) / n.
    assert printed_mean(1.0, 1e-6) == pytest.approx(464.277, abs=1e-3)
    balcer = Balcer2020().published(SETTING)
    assert balcer.left_out == pytest.approx(0.0304036, abs=1e-7)
    # 3 (1 + ln 2e6), divided by e^0.01 - 1.
    noise = Ghazi2021().published(SETTING).noise
    assert noise.shape == pytest.approx(46.52597, abs=1e-5)
    assert noise.pairs == pytest.approx(4629.373, abs=1e-3)
    # ln(delta (1 + q) / (2 (1 - q) + delta q)) / ln q at q = e^-0.5: 26.4.
    few = CountSetting(100_000, 128, 1.0, 1e-6)
    added = MurakamiTwoSided().published(few).added
    assert isinstance(added, GeometricDummies)
    assert added.center == 27


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_published_and_smallest_keep_the_guarantee(protocol: CountProtocol) -> None:
    published, smallest = protocol.published(SETTING), protocol.smallest(SETTING)

    assert smallest.certified_delta(1.0) <= 1e-6
    assert published.certified_delta(1.0) <= 1e-6
    assert smallest.standard_error(10) <= published.standard_error(10) * 1.001


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_simulated_errors(protocol: CountProtocol) -> None:
    design = protocol.smallest(SETTING)

    errors = design.draw_estimates(10, 20_000, rng=np.random.default_rng(1)) - 10

    # 5 standard errors of a second moment; a false alarm in about 1e-6.
    squares = errors**2
    off = 5.0 * float(squares.std()) / math.sqrt(squares.size)
    assert abs(float(squares.mean()) - design.standard_error(10) ** 2) < off


def test_outside_preconditions() -> None:
    with pytest.raises(OutsidePreconditions):
        Balcer2020().published(CountSetting(1_000, 8, 1.0, 1e-6))
    with pytest.raises(InvalidInputError):
        CountSetting(1_000, 8, math.nan, 1e-6)
