"""Sums that no people can have sent are refused; those that some can have are not."""

import itertools
import statistics

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.catalog import number_randomizer
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.statistics.mean.moments import averages_of, check_sums, power_sums

LAPLACE = number_randomizer("laplace", -1.0, 3.0)
ONE_BIT = number_randomizer("one-bit", -1.0, 3.0)


def is_refused(
    number: int, total: int, squares: int, randomizer: NumberRandomizer = LAPLACE
) -> bool:
    sums = np.array([[number, total, squares]], dtype=object)
    try:
        check_sums(sums, np.array([number]), randomizer)
    except InvalidInputError:
        return True
    return False


def test_sums_are_refused_exactly_where_squares_are_too_small() -> None:
    sent = list(itertools.product(range(-2, 3), repeat=3))
    for messages in sent:
        squares = sum(message**2 for message in messages)
        assert not is_refused(3, sum(messages), squares)
    for total, squares in itertools.product(range(-6, 7), range(14)):
        assert is_refused(3, total, squares) == (3 * squares < total**2)


def test_averages_lie_between_messages() -> None:
    for total in range(-2, 6):
        # Bits are 0 and 1: so many of three are 1.
        assert is_refused(3, total, 27, ONE_BIT) == (not 0 <= total <= 3)


def test_averages_beyond_the_integers_of_a_machine_are_refused() -> None:
    for total in (1 << 63, -(1 << 63) - 1):
        assert is_refused(1, total, total**2)


def test_numbers_of_people_must_fit() -> None:
    for number in (2, 4):
        with pytest.raises(InvalidInputError):
            check_sums(np.array([[number, 0, 9]]), np.array([3]), LAPLACE)


def test_averages_and_variances_are_those_of_decoded_messages() -> None:
    messages = np.array([5, -3, 12, 7, 7, 0])
    groups = np.array([0, 1, 1, 1, 0, 0])

    averages, variances = averages_of(power_sums(messages, groups, 2), LAPLACE)

    for group in (0, 1):
        numbers = LAPLACE.decode(messages[groups == group]).tolist()
        assert averages[group] == pytest.approx(statistics.fmean(numbers), rel=1e-12)
        spread = statistics.pvariance(numbers)
        assert variances[group] == pytest.approx(spread, rel=1e-9)
