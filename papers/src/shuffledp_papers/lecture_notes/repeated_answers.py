"""RAPPOR: averaging of repeated answers, and the number of ones in a report.

*Averaging.* Randomized response at eps = ln 3 says yes with probability 1/4 if the truth is
no. Of 100 fresh answers at least 75 are yes with probability 1.435e-25 then, exactly 75
with probability 1.279e-25. A user who stores the first answer and repeats it reveals no
more than that answer.

*Ones in a report.* For k bits, h of them in the Bloom filter, a report has

    h (f (p + q) / 2 + (1 - f) q) + (k - h) (f (p + q) / 2 + (1 - f) p)

ones in the mean, f the permanent noise, q and p the probabilities of reporting a 1 for a
stored 1 and a stored 0.

Source: Wang, lecture notes, section 9.1.1 and Figures 9.2 and 9.3, after Erlingsson, Pihur,
Korolova (2014), "RAPPOR", arXiv:1407.6981.
"""

import math
from fractions import Fraction

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number

_MOST = 10_000


def probability_of_at_least(yes: int, answers: int, *, probability: Fraction) -> float:
    """Returns the exact probability of at least `yes` yes in independent answers.

    >>> f"{probability_of_at_least(75, 100, probability=Fraction(1, 4)):.4g}"
    '1.435e-25'

    Args:
        yes: Least number of yes.
        answers: Number of answers.
        probability: Probability of a yes, as a fraction.
    """
    total = whole_number(answers, "answers", least=1, most=_MOST)
    minimum = whole_number(yes, "yes", least=0, most=total)
    # Printed is 1.39e-24 for 75 of 100: 3^-50, their likelihood ratio.
    return float(sum(_weight(k, total, probability) for k in range(minimum, total + 1)))


def probability_of_exactly(yes: int, answers: int, *, probability: Fraction) -> float:
    """Returns the exact probability of `yes` yes in independent answers."""
    total = whole_number(answers, "answers", least=1, most=_MOST)
    return float(
        _weight(whole_number(yes, "yes", least=0, most=total), total, probability)
    )


def expected_ones(
    *,
    num_bits: int,
    num_hashes: int,
    kept_noise: float,
    one_given_one: float,
    one_given_zero: float,
) -> float:
    """Returns the expected number of ones in a report, if all hashes differ.

    >>> expected_ones(
    ...     num_bits=256,
    ...     num_hashes=4,
    ...     kept_noise=0.5,
    ...     one_given_one=0.75,
    ...     one_given_zero=0.25,
    ... )
    97.0

    Args:
        num_bits: k.
        num_hashes: h.
        kept_noise: f, in [0, 1].
        one_given_one: q, in [0, 1].
        one_given_zero: p, in [0, 1].
    """
    k = whole_number(num_bits, "bits", least=1, most=2**20)
    h = whole_number(num_hashes, "hashes", least=1, most=k)
    f, q, p = (
        _share(value, name)
        for value, name in (
            (kept_noise, "f"),
            (one_given_one, "q"),
            (one_given_zero, "p"),
        )
    )
    # Figure 9.2, 145 of 256 ones, prints p = 0.25, where 97 are expected; p = 0.5, as in
    # Erlingsson et al. (2014), gives 144.5.
    noise = f * (p + q) / 2.0
    return h * (noise + (1.0 - f) * q) + (k - h) * (noise + (1.0 - f) * p)


def _weight(yes: int, answers: int, probability: Fraction) -> Fraction:
    if not 0 <= probability <= 1:
        raise InvalidInputError(
            f"Expected a probability from 0 to 1, got {probability}."
        )
    # Exact fractions: the probabilities of interest are near 1e-25.
    return (
        math.comb(answers, yes)
        * probability**yes
        * (1 - probability) ** (answers - yes)
    )


def _share(value: float, name: str) -> float:
    number = as_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"Expected 0 <= {name} <= 1, got {number:g}.")
    return number
