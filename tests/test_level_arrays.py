"""Levels in single precision are the decimals that people mean by them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.arrays import level_array

MEANT = [0.1, 0.2, 0.7, 1.0, 3.3]
SINGLE = np.array(MEANT, dtype=np.float32)
PEOPLE = sdp.Population.from_counts(dict.fromkeys(MEANT, 10))
VALUES = np.array([0, 1, 1, 0, 1])


def shortest(number: np.float32) -> float:
    """Tries 1, 2, ... digits until they round to the number."""
    return next(
        decimal
        for digits in range(17)
        if np.float32(decimal := float(f"{float(number):.{digits}e}")) == number
    )


@given(st.floats(min_value=2.0**-100, max_value=700.0, width=32))
def test_a_level_is_the_shortest_decimal_that_rounds_to_it(number: float) -> None:
    level = np.float32(number)
    # Around powers of two, the nearest decimal of a length need not be one that rounds.
    if np.frexp(level)[0] == 0.5:
        return

    (found,) = level_array(np.array([level]))

    assert found == shortest(level)


@given(st.lists(st.floats(min_value=0.0, max_value=700.0, width=32), max_size=20))
def test_levels_in_single_precision_keep_their_places(numbers: list[float]) -> None:
    single = np.array(numbers, dtype=np.float32)

    found = level_array(single)

    assert found.dtype == np.float64
    assert np.array_equal(found.astype(np.float32), single)


@given(st.floats(min_value=0.0, max_value=700.0))
def test_levels_in_double_precision_are_what_they_are(number: float) -> None:
    assert level_array(np.array([number])).tolist() == [number]
    assert level_array([number]).tolist() == [number]


def test_people_who_mean_a_level_have_it() -> None:
    assert PEOPLE.level_indices(SINGLE).tolist() == [0, 1, 2, 3, 4]
    assert PEOPLE.level_indices(SINGLE[::-1].astype(np.float16)).tolist() == [
        4, 3, 2, 1, 0,
    ]  # fmt: skip
    built = sdp.Population.from_budgets(np.repeat(SINGLE, 10))
    assert built.epsilons.tolist() == MEANT
    counted = sdp.Population.from_counts(dict.fromkeys(SINGLE, 10))
    assert counted.epsilons.tolist() == MEANT


def test_people_who_mean_a_target_have_it() -> None:
    assert positions_of(SINGLE[::-1], MEANT).tolist() == [4, 3, 2, 1, 0]
    with pytest.raises(sdp.UnknownLevelError):
        positions_of(SINGLE.astype(np.float64), MEANT)


def test_doubles_that_are_only_close_are_other_levels() -> None:
    for close in (SINGLE.astype(np.float64), np.nextafter(MEANT, 9.0)):
        with pytest.raises(sdp.UnknownLevelError):
            PEOPLE.level_indices(close)


@pytest.mark.parametrize(
    "draw",
    [
        lambda levels, rng: sdp.Frequency(2).randomize(VALUES, levels, rng=rng),
        lambda levels, rng: sdp.Mean(0.0, 1.0).randomize(
            VALUES.astype(float), levels, rng=rng
        ),
        lambda levels, rng: sdp.Strings(num_cohorts=2).randomize(
            ["a", "b", "a", "c", "b"], levels, rng=rng
        ),
        lambda levels, rng: sdp.SingleMessage(sdp.OneBit(0.0, 1.0)).randomize(
            VALUES.astype(float), levels, rng=rng
        ),
        lambda levels, rng: sdp.BinarySum().randomize(VALUES, levels, rng=rng),
    ],
)
def test_devices_run_at_the_level_that_is_meant(
    draw: Callable[[Any, Any], Any],
) -> None:
    single = draw(SINGLE, np.random.default_rng(1))
    double = draw(np.array(MEANT), np.random.default_rng(1))

    assert single.messages.tolist() == double.messages.tolist()
    assert single.levels.tolist() == double.levels.tolist() == MEANT
