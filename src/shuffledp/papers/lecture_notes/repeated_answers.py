"""RAPPOR: what a hundred answers to one question tell, and what one report looks like.

*Averaging.* Randomized response at eps = ln 3 says yes with chance 1/4 if the truth is no.
Of 100 fresh answers at least 75 are yes with chance 1.435e-25 then, exactly 75 with chance
1.279e-25. Whoever keeps her first answer and repeats it reveals no more than that answer.

*The picture of a run.* For k bits, h of them in the Bloom filter, a report has

    h (f (p + q) / 2 + (1 - f) q) + (k - h) (f (p + q) / 2 + (1 - f) p)

ones in the mean, f the noise that is kept, q and p the chances to report a 1 for a kept 1
and a kept 0.

Errata. Printed is 1.39e-24 for the 75 answers, which is 3^-50, their likelihood ratio.
The example of Figure 9.2, 145 of k = 256 bits with h = 4, f = 0.5, q = 0.75, is stated
for p = 0.25, where 97 are expected; p = 0.5, as in Erlingsson et al. (2014), gives
144.5.

Source: Wang, lecture notes, section 9.1.1 and Figures 9.2 and 9.3, after Erlingsson, Pihur,
Korolova (2014), "RAPPOR", arXiv:1407.6981.
"""

import math
from fractions import Fraction

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number

_MOST = 10_000


def chance_of_at_least(yes: int, answers: int, *, chance: Fraction) -> float:
    """Returns the chance of so many yes, or more, in independent answers, exactly.

    >>> f"{chance_of_at_least(75, 100, chance=Fraction(1, 4)):.4g}"
    '1.435e-25'

    Args:
        yes: How many are counted.
        answers: How many are given.
        chance: Of a yes, as a fraction.
    """
    total = whole_number(answers, "answers", least=1, most=_MOST)
    least = whole_number(yes, "yes", least=0, most=total)
    return float(sum(_weight(k, total, chance) for k in range(least, total + 1)))


def chance_of_exactly(yes: int, answers: int, *, chance: Fraction) -> float:
    """Returns the chance of so many yes in independent answers, exactly."""
    total = whole_number(answers, "answers", least=1, most=_MOST)
    return float(_weight(whole_number(yes, "yes", least=0, most=total), total, chance))


def expected_ones(
    *,
    num_bits: int,
    num_hashes: int,
    kept_noise: float,
    one_given_one: float,
    one_given_zero: float,
) -> float:
    """Returns how many ones a report has in the mean, all hashes being different.

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
    noise = f * (p + q) / 2.0
    return h * (noise + (1.0 - f) * q) + (k - h) * (noise + (1.0 - f) * p)


def _weight(yes: int, answers: int, chance: Fraction) -> Fraction:
    if not 0 <= chance <= 1:
        raise InvalidInputError(f"Expected a chance from 0 to 1, got {chance}.")
    return math.comb(answers, yes) * chance**yes * (1 - chance) ** (answers - yes)


def _share(value: float, what: str) -> float:
    number = as_number(value, what)
    if not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"Expected 0 <= {what} <= 1, got {number:g}.")
    return number
