"""Ranges of numbers have finite ends that doubles tell apart."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.display_text import rounded
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.randomizers.catalog import number_randomizer
from shuffledp.report.files import write_report


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (1e9, 1e9 + 1.0), (-1.7e308, 1.7e308), (-1e-300, 1e-300)],
)
def test_half_of_a_range_is_exact_up_to_rounding(low: float, high: float) -> None:
    exact = (Fraction(high) - Fraction(low)) / 2

    assert abs(Fraction(half_range(low, high)) - exact) <= exact * Fraction(1, 2**50)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.0, math.inf, "both finite, got 0 to inf"),
        (math.nan, 1.0, "both finite"),
        (3.0, 1.0, "low < high"),
        (1.0, 1.0, "low < high"),
        (1e16, 1e16 + 4.0, "doubles resolve"),
        (-1e16 - 4.0, -1e16, "doubles resolve"),
        (0.0, 1e-320, "doubles resolve"),
    ],
)
def test_other_ranges_are_refused_with_the_reason(
    low: float, high: float, words: str
) -> None:
    calls: list[Any] = [
        half_range,
        sdp.Mean,
        sdp.Laplace,
        lambda low, high: sdp.NumberQuestion("x", low, high),
    ]

    for call in calls:
        with pytest.raises(InvalidInputError, match=words):
            call(low, high)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (5.1734e299, -297, "5.17e+299"),
        (-5.1734e299, -297, "-5.17e+299"),
        (5.1734e-291, 293, "5.17e-291"),
        (0.0, 293, "0.000000000000"),
        (1e15, -12, "1.000e+15"),
        (123456.7, -3, "123,000"),
    ],
)
def test_numbers_of_any_size_are_short(number: float, digits: int, text: str) -> None:
    assert rounded(number, digits) == text


@pytest.mark.filterwarnings("error")
def test_means_of_wide_ranges_are_rehearsed_in_lines_that_fit() -> None:
    values = np.linspace(0.0, 1e300, 100)

    result = sdp.rehearse(
        {"value": values.tolist(), "level": [1.0] * 50 + [2.0] * 50},
        value="value",
        level="level",
        statistic="mean",
        low=0,
        high=1e300,
        seed=1,
    )

    assert max(map(len, str(result).splitlines())) <= 81
    assert result.summary.dependence is not None
    assert result.summary.dependence.suspected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mechanism", ["laplace", "clip-laplace", "gaussian"])
def test_moments_of_ranges_whose_squares_are_no_doubles_are_infinite(
    mechanism: str,
) -> None:
    randomizer = number_randomizer(mechanism, -1e160, 1e160)

    _, variance = randomizer.moments(np.array([1.0]), np.zeros(1))

    assert np.isposinf(variance).all()


def test_reports_of_numbers_that_no_axis_holds_are_refused(tmp_path: Path) -> None:
    values = np.array([0.0, 7e307, -7e307] * 20)

    result = sdp.rehearse(
        {"value": values.tolist(), "level": [1.0] * 30 + [2.0] * 30},
        value="value",
        level="level",
        statistic="mean",
        low=-8e307,
        high=8e307,
        mechanism="grid-response",
        seed=1,
    )
    with pytest.raises(InvalidInputError, match="divide values and range"):
        write_report(result.summary, tmp_path / "report")

    assert not (tmp_path / "report").exists()
