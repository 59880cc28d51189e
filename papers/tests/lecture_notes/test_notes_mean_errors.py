"""Errors of means: closed forms against enumeration, printed rates against them."""

import math

import numpy as np
import pytest
from scipy import stats

from shuffledp.errors import InvalidInputError
from shuffledp_papers.lecture_notes.mean_errors import (
    central_error,
    laplace_error,
    local_rate,
    one_bit_error,
    printed_rate,
    response_error,
    response_estimate,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_error_of_responses_by_listing_all_of_them(epsilon: float) -> None:
    ones, people = 3, 8
    keep = math.exp(epsilon) / (1.0 + math.exp(epsilon))

    # How many responses are 1: those of people who hold a 1, and of the others.
    law = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, keep),
        stats.binom.pmf(np.arange(people - ones + 1), people - ones, 1.0 - keep),
    )
    estimates = np.array(
        [response_estimate(k, people, epsilon) for k in range(people + 1)]
    )

    assert law @ estimates == pytest.approx(ones / people, abs=1e-12)
    error = math.sqrt(law @ (estimates - ones / people) ** 2)
    assert response_error(people, epsilon) == pytest.approx(error, rel=1e-9)


def test_the_printed_rate_is_below_what_responses_really_err() -> None:
    assert response_error(10_000, 0.1) == pytest.approx(0.1000, abs=5e-5)
    assert printed_rate(10_000, 0.1) == pytest.approx(0.0316, abs=5e-5)
    assert local_rate(10_000, 0.1) == pytest.approx(0.1)
    # The printed rate is of a wrong order: what is left of it goes to 0.
    left = [printed_rate(100, e) / response_error(100, e) for e in (1e-2, 1e-4)]
    assert left[1] == pytest.approx(left[0] / 10.0, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_errors_of_numbers_by_integrals(epsilon: float) -> None:
    n, width = 50, 3.0

    noise = stats.laplace(scale=width / epsilon).std()
    keep = 1.0 / (math.exp(epsilon) + 1.0)
    chances = keep + np.linspace(0.0, 1.0, 101) * (1.0 - 2.0 * keep)
    one_bit = np.sqrt(chances * (1.0 - chances)).max() * width / (1.0 - 2.0 * keep)

    assert laplace_error(n, epsilon, width=width) == pytest.approx(noise / math.sqrt(n))
    found = one_bit_error(n, epsilon, width=width)
    assert found == pytest.approx(one_bit / math.sqrt(n))
    central = stats.laplace(scale=1.0 / (n * epsilon)).std()
    assert central_error(n, epsilon) == pytest.approx(central)


@pytest.mark.parametrize("arguments", [(0, 1.0), (10, 0.0), (10, math.nan), (10, -1.0)])
def test_nobody_and_nothing_is_refused(arguments: tuple[int, float]) -> None:
    for function in (response_error, central_error, laplace_error, printed_rate):
        with pytest.raises(InvalidInputError):
            function(*arguments)
