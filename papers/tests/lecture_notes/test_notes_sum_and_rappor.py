"""Eq. (9.5), the printed p, and the numbers on RAPPOR, each by other code."""

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.sum.protocol import BinarySum
from shuffledp_papers.lecture_notes.noisy_sum import (
    local_budget,
    printed_estimate,
    printed_share,
    unbiased_estimate,
)
from shuffledp_papers.lecture_notes.repeated_answers import (
    expected_ones,
    probability_of_at_least,
    probability_of_exactly,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_only_the_corrected_estimate_is_unbiased(share: float) -> None:
    n, ones = 20, 8
    law = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, 1.0 - share / 2.0),
        stats.binom.pmf(np.arange(n - ones + 1), n - ones, share / 2.0),
    )

    right, printed = (
        law @ [estimate(total, num_users=n, share=share) for total in range(n + 1)]
        for estimate in (unbiased_estimate, printed_estimate)
    )

    assert right == pytest.approx(ones / n, abs=1e-12)
    off = (n - 1) * share / (2 * n * (1.0 - share))
    assert printed == pytest.approx(ones / n + off, abs=1e-12)


def test_the_share_of_coins_is_that_of_the_protocol() -> None:
    budget = local_budget(0.3)

    assert BinarySum().noise_share([budget])[0] == pytest.approx(0.3, rel=1e-9)


def test_the_printed_share_and_its_conditions() -> None:
    assert printed_share(1_000, 0.5, 1e-6) == pytest.approx(0.0553, abs=5e-5)
    for arguments in ((1_000, 1.5, 1e-6), (10, 0.5, 1e-6), (50, 0.5, 1e-6)):
        with pytest.raises(OutsidePreconditions):
            printed_share(*arguments)
    with pytest.raises(InvalidInputError):
        unbiased_estimate(1.0, num_users=10, share=1.0)


def test_chances_of_averaged_answers_in_fifty_digits() -> None:
    with mpmath.workdps(50):
        terms = [
            mpmath.binomial(100, k)
            * mpmath.mpf("0.25") ** k
            * mpmath.mpf("0.75") ** (100 - k)
            for k in range(75, 101)
        ]
        at_least, exactly = float(mpmath.fsum(terms)), float(terms[0])

    quarter = Fraction(1, 4)
    assert probability_of_at_least(75, 100, probability=quarter) == pytest.approx(
        at_least, 1e-14
    )
    assert probability_of_exactly(75, 100, probability=quarter) == pytest.approx(
        exactly, 1e-14
    )
    # Neither is the printed 1.39e-24.
    assert at_least == pytest.approx(1.435e-25, rel=1e-3)
    assert exactly == pytest.approx(1.279e-25, rel=1e-3)


@pytest.mark.parametrize(("noise", "ones"), [(0.25, 97.0), (0.5, 144.5)])
def test_ones_of_a_report_by_adding_up_cases(noise: float, ones: float) -> None:
    found = expected_ones(
        num_bits=256,
        num_hashes=4,
        kept_noise=0.5,
        one_given_one=0.75,
        one_given_zero=noise,
    )

    # A bit of the filter is kept, or replaced by a 1 or a 0.
    set_bit = 0.5 * 0.75 + 0.25 * 0.75 + 0.25 * noise
    clear = 0.5 * noise + 0.25 * 0.75 + 0.25 * noise
    assert found == pytest.approx(4 * set_bit + 252 * clear) == pytest.approx(ones)


def test_chances_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        probability_of_at_least(5, 4, probability=Fraction(1, 4))
    with pytest.raises(InvalidInputError):
        probability_of_exactly(1, 4, probability=Fraction(5, 4))
    with pytest.raises(InvalidInputError, match="f <= 1"):
        expected_ones(
            num_bits=8,
            num_hashes=2,
            kept_noise=1.5,
            one_given_one=0.7,
            one_given_zero=0.2,
        )
