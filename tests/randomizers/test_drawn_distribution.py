"""The law that devices draw from keeps the promise, to 50 digits, message by message."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.favored_sets import drawn_chances, favors, oracles
from oracles.finite_messages import Senders

from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.set_response import (
    SetResponse,
    drawn_blanket_probability,
    promised,
)

LEVELS = [0.0, 1e-17, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 1.0, 1.3]
LEVELS += [1.7, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 30.0, 100.0, 700.0]
DEVICES = [pytest.param(*case, id=repr(case[0])) for case in oracles()]


def drawn_gamma(device: object, level: float) -> float:
    assert isinstance(device, SetResponse)
    return float(device.drawn(np.array([level]))[0][0])


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_local_budget_of_what_is_drawn_is_at_most_the_promise(
    device: FrequencyOracle, sends: Senders
) -> None:
    favored = np.unique(favors(sends), axis=1, return_index=True)[1]
    for level in LEVELS:
        # Messages that the same values favor are equally likely under all of them.
        chances = drawn_chances(drawn_gamma(device, level), favors(sends))[:, favored]

        measured = mp.log(max(column.max() / column.min() for column in chances.T))

        assert measured <= mp.mpf(level)
        # 16 digits of gamma, divided by the share of a set.
        assert measured >= mp.mpf(level) - 1e-12


@pytest.mark.parametrize("level", LEVELS)
def test_one_bit_keeps_the_promise_for_every_value(level: float) -> None:
    gamma = mp.mpf(drawn_gamma(OneBit(-3.0, 5.0), level))
    shares = [mp.mpf(t) for t in np.linspace(0.0, 1.0, 11).tolist()]

    high = [gamma / 2 + (1 - gamma) * t for t in shares]
    low = [gamma / 2 + (1 - gamma) * (1 - t) for t in shares]

    for chances in (high, low):
        measured = mp.log(max(chances) / min(chances))
        assert mp.mpf(level) - 1e-12 <= measured <= mp.mpf(level)  # digits of gamma


@given(
    scale=st.floats(-18.0, 2.84),
    size=st.integers(2, 2**31),
    part=st.floats(0.0, 1.0),
)
def test_drawn_blanket_is_never_too_rare_at_any_share(
    scale: float, size: int, part: float
) -> None:
    epsilon, share = 10.0**scale, max(int(part * (size - 1)), 1)

    (gamma,) = drawn_blanket_probability(np.array([epsilon]), share / size)

    inside = mp.mpf(share) / size
    exact = 1 / (1 + inside * mp.expm1(mp.mpf(epsilon)))
    # 4 units on purpose, 3 for the rounding of gamma itself.
    assert exact <= mp.mpf(float(gamma)) <= min(exact * (1 + mp.mpf(14) / 2**53), 1)


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_densities_are_those_of_all_messages(
    device: FrequencyOracle, sends: Senders
) -> None:
    favored, levels = favors(sends), [0.0, 0.3, 2.0, 30.0]

    keep, flip = device.densities(np.array(levels))

    for index, level in enumerate(levels):
        chances = drawn_chances(drawn_gamma(device, level), favored)
        for value, other in np.ndindex(len(favored), len(favored)):
            exact = chances[value][favored[other]].sum()
            stated = keep[index] if value == other else flip[index]
            assert abs(exact - stated) <= 1e-15 * max(exact, 1e-3)  # a few roundings


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_promise_and_draw_differ_by_a_hair(
    device: FrequencyOracle, sends: Senders
) -> None:
    levels = np.array([1e-3, 0.5, 2.0, 30.0])
    inside = float(np.mean(favors(sends)[0]))
    assert isinstance(device, SetResponse)

    low, gap = device.drawn(levels)

    for here, there in zip((low, gap), promised(levels, inside), strict=True):
        # 1e-15 of low, in a gap that is a thousandth of it.
        assert np.allclose(here, there, rtol=1e-11, atol=0.0)


@pytest.mark.parametrize(("device", "sends"), DEVICES)
def test_bits_are_the_logarithm_of_the_number_of_messages(
    device: FrequencyOracle, sends: Senders
) -> None:
    messages = favors(sends).shape[1]

    # Logarithms of factorials.
    assert device.bits_per_person(np.ones(1)) == pytest.approx(
        np.log2(messages), rel=1e-12
    )
