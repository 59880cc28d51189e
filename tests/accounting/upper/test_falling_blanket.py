import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.upper.falling_blanket import (
    _FACTORS,
    _Search,
    falling_blanket,
)
from shuffledp.cover import NoiseDensities
from shuffledp.types import Floats

DELTA = 1e-6


def densities(mechanism: sdp.Gaussian | sdp.Laplace, level: float) -> NoiseDensities:
    noise = mechanism.noise_densities(level, delta=DELTA)
    assert noise is not None
    return noise


def exponent(
    noise: NoiseDensities,
    density: Floats,
    least: Floats,
    people: Floats,
    epsilon: float,
) -> float:
    """The largest exponent of the bound: messages times -(E[e^{theta L}] - 1)."""
    widths = np.diff(noise.edges)
    near, far = noise.masses / widths
    growth = math.exp(epsilon)
    losses = np.concatenate([near - growth * far, far - growth * near])
    density, widths = np.tile(density, 2), np.tile(widths, 2)
    messages = people @ (least / density[: near.size]).min(axis=1)
    exponents = []
    for theta in np.geomspace(1e-3, 1e4, 600):
        with np.errstate(over="ignore"):
            grown = np.expm1(np.minimum(theta * losses / density, 600.0))
        exponents.append(-float(messages * (density * widths) @ grown))
    return max(exponents)


@pytest.mark.parametrize("mechanism", [sdp.Gaussian(), sdp.Laplace()])
@pytest.mark.parametrize(
    ("level", "epsilon"), [(0.1, 0.004), (0.4, 0.012), (1.5, 0.06)]
)
def test_steps_fall_and_no_perturbed_ones_are_much_better(
    mechanism: sdp.Gaussian | sdp.Laplace, level: float, epsilon: float
) -> None:
    noise = densities(mechanism, level)
    levels = np.array([0.08, 0.1, 0.2, 0.4, 0.8, 1.5])
    people = np.array([300.0, 400.0, 500.0, 600.0, 700.0, 2_000.0])
    least = noise.least(levels)

    own = noise.least(np.array([level]))[0]
    density = falling_blanket(noise, least, people, own, epsilon=epsilon, fewest=1.0)

    assert density is not None
    widths = np.diff(noise.edges)
    assert 2.0 * density @ widths == pytest.approx(1.0, rel=1e-12)
    assert np.all(np.diff(density) <= 0.0)
    inside = noise.edges[1:] <= 1.0
    assert np.unique(density[inside]).size == 1
    best = exponent(noise, density, least, people, epsilon)
    assert best > 0.2
    rng = np.random.default_rng(7)
    others = [own]
    for _ in range(60):
        # Steps of other sizes, in some part of the cells.
        logs = np.log(density)
        factors = np.where(rng.random(logs.size) < 0.3, rng.uniform(0.0, 2.0), 1.0)
        steps = np.diff(logs, prepend=logs[0]) * factors
        other = np.exp(np.cumsum(steps))
        others.append(other / (2.0 * float(other @ widths)))
    own_exponent, *exponents = (
        exponent(noise, other, least, people, epsilon) for other in others
    )
    assert max(exponents) <= 1.01 * best
    assert own_exponent <= 1.01 * best


def test_among_equal_people_it_hides_what_the_whole_least_density_hides() -> None:
    noise = densities(sdp.Gaussian(), 0.5)
    least = noise.least(np.array([0.5]))
    people = np.array([5_000.0])

    density = falling_blanket(noise, least, people, least[0], epsilon=0.01, fewest=1.0)

    assert density is not None
    best = exponent(noise, density, least, people, 0.01)
    assert best >= 0.98 * exponent(noise, least[0], least, people, 0.01)


def test_nobody_with_messages_far_out_gives_no_blanket() -> None:
    noise = densities(sdp.Gaussian(), 0.01)
    own = noise.least(np.array([0.01]))[0]
    narrow = noise.least(np.array([50.0]))

    assert narrow.min() == 0.0
    assert (
        falling_blanket(noise, narrow, np.array([9.0]), own, epsilon=0.01, fewest=1.0)
        is None
    )


def test_within_the_range_of_values_it_is_one_number_whatever_others_send() -> None:
    noise = densities(sdp.Laplace(), 3.0)
    own = noise.least(np.array([3.0]))[0]
    # Nobody's least density falls so fast there: omega must not follow.
    least = own * np.exp(-0.1 * noise.edges[1:])

    density = falling_blanket(
        noise, least[np.newaxis], np.array([5_000.0]), own, epsilon=0.1, fewest=1.0
    )

    assert density is not None
    inside = noise.edges[1:] <= 1.0
    assert np.count_nonzero(inside) > 2
    assert np.unique(density[inside]).size == 1
    assert density[-1] < density[0]


def test_a_search_that_leads_to_few_messages_of_few_people_is_given_up() -> None:
    noise = sdp.Laplace().noise_densities(0.013, delta=1e-9)
    assert noise is not None
    least = noise.least(np.array([0.013, 0.014, 0.019, 0.036]))
    people, own = np.array([9.0, 10.0, 10.0, 10.0]), least[0]

    densities = [
        falling_blanket(noise, least, people, own, epsilon=0.012, fewest=fewest)
        for fewest in (1.0, 15.0, 38.0)
    ]

    assert densities[2] is None
    first, second = densities[:2]
    assert first is not None
    assert second is not None
    assert np.array_equal(first, second)
    messages = people @ (least / first).min(axis=1)
    assert 15.0 < messages < 38.0


def test_first_values_are_those_of_each_start() -> None:
    noise = densities(sdp.Laplace(), 0.4)
    least = noise.least(np.array([0.2, 0.4, 3.0]))
    search = _Search(noise, np.log(least), np.array([50.0, 60.0, 70.0]), 0.1)
    start = np.append(2.0, np.full(23, 0.1))

    values = search._first_values(search._rises @ start)

    unit = np.eye(1, 24)[0]
    one_by_one = [search._value(start + factor * unit)[0] for factor in _FACTORS]
    usable = values < 1e3
    assert 5 < usable.sum() < values.size
    assert values[usable] == pytest.approx(np.array(one_by_one)[usable], rel=1e-9)
    assert np.all(np.array(one_by_one)[~usable] >= 1e3 * (1.0 - 1e-9))


@pytest.mark.parametrize("rise", [0.0, 1.0, 25.0])
def test_points_far_from_any_blanket_have_values_and_slopes_that_are_numbers(
    rise: float,
) -> None:
    noise = densities(sdp.Gaussian(), 2.44)
    least = noise.least(np.array([0.511, 2.44]))
    search = _Search(noise, np.log(least), np.array([1e6, 1e6]), 2.44)

    for first in np.linspace(-700.0, 740.0, 289):
        value, slopes = search._value(np.append(first, np.full(23, rise)))

        assert math.isfinite(value)
        assert np.isfinite(slopes).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("noise", "counts", "delta", "absent"),
    [
        # Nothing is left of the loss of one of them.
        (sdp.Gaussian(0, 1), {1e-300: 20, 1.0: 20}, 1e-6, 0),
        # Tails of so large a delta have no width.
        (sdp.Gaussian(0, 1), {0.065657: 18, 0.09: 12, 0.2: 19}, 10**-0.5, 29),
    ],
)
def test_nothing_but_the_usual_blanket_is_found_for_extreme_levels(
    noise: sdp.Gaussian, counts: dict[float, int], delta: float, absent: int
) -> None:
    people = sdp.Population.from_counts(counts)

    levels = sdp.account(noise, people, delta=delta, absent=absent).levels

    for level in levels:
        assert level.epsilon_central_lower <= level.epsilon_central
        assert level.epsilon_central < 2.0 * level.chosen
    assert levels[0].epsilon_central <= 1e-299 or delta > 0.1
