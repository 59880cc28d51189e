"""Turns messages of any law into uniform numbers, which are easy to compare.

If a message y is drawn from a law with cumulative chances C, then C(y - 1) + v P(y) with v
uniform is uniform on [0, 1), whatever the law (the randomized probability integral
transform). So if devices draw as they say, the numbers of all people are independent and of
one law, whatever people hold. Two orders of messages are used: that of the list, and the
messages that speak for a value before all others.

Numbers u are looked at through three functions with mean 0 and variance 1: Legendre
polynomials of the first order, of both numbers, and of the second order, of the first one.
"""

import numpy as np

from shuffledp.testing.distribution_table import DistributionTable
from shuffledp.types import Floats, Ints

# Largest absolute value of any of the functions: that of the second order at the ends.
BOUND = 5.0**0.5
NUM_FEATURES = 3
# Messages that are more likely than on average by less speak for nothing.
_HAIR = 1e-9
# Of a chance of a tenth, or nine tenths.
_LEAST_VARIANCE = 0.09


class UniformRanks:
    """The laws of a subject as cumulative chances."""

    def __init__(self, subject: DistributionTable) -> None:
        """Adds up the laws of a subject."""
        self._table = subject.table
        self._below = np.cumsum(subject.table, axis=2) - subject.table
        strongest = subject.table[-1]
        average = strongest.mean(axis=0) * (1.0 + _HAIR)
        # Which messages speak for a value, shape (values, messages).
        self._speaks = strongest > average
        # The chance of that by level, value held and value spoken for.
        self._chance = subject.table @ self._speaks.T.astype(np.float64)

    def features(
        self, places: Ints, rows: Ints, levels: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Returns three numbers of every entry, shape (n, width, 3).

        Args:
            places: Of messages in the law, shape (n, width).
            rows: Of the values held, shape (n, width).
            levels: Of people's levels, shape (n,).
            rng: Breaks ties.
        """
        at = levels[:, None]
        share = rng.random(places.shape)
        order = self._below[at, rows, places] + share * self._table[at, rows, places]
        first = 3.0**0.5 * (2.0 * order - 1.0)
        second = 5.0**0.5 * (6.0 * order * order - 6.0 * order + 1.0)
        telling = self.telling(places, rows, rows, levels, rng=rng)
        return np.stack([first, second, telling], axis=2)

    def telling(
        self,
        places: Ints,
        rows: Ints,
        about: Ints,
        levels: Ints,
        *,
        rng: np.random.Generator,
    ) -> Floats:
        """Returns how little messages speak for some value, shape (n, width).

        Args:
            places: Of messages in the law, shape (n, width).
            rows: Of the values held, shape (n, width).
            about: Of the values that they may speak for, shape (n, width).
            levels: Of people's levels, shape (n,).
            rng: Breaks ties.
        """
        chance = self._chance[levels[:, None], rows, about]
        speaks = self._speaks[about, places]
        share = rng.random(places.shape)
        number = np.where(speaks, share * chance, chance + share * (1.0 - chance))
        even: Floats = 3.0**0.5 * (2.0 * number - 1.0)
        return even

    def leaks(self, places: Ints, rows: Ints, levels: Ints) -> tuple[Floats, Floats]:
        """Returns whether messages speak for the value held, and the chance of that.

        Args:
            places: Of messages in the law, shape (n, width).
            rows: Of the values held, shape (n, width).
            levels: Of people's levels, shape (n,).

        Returns:
            Both of shape (n, width).
        """
        speaks = self._speaks[rows, places].astype(np.float64)
        return speaks, self._chance[levels[:, None], rows, rows]

    def standard_leaks(
        self, places: Ints, rows: Ints, levels: Ints, *, rng: np.random.Generator
    ) -> Floats:
        """Returns the same as numbers with mean 0 and variance 1, shape (n, width).

        Where one of the two hardly ever happens, sums of few are far from normal: there,
        it is the uniform number.

        Args:
            places: Of messages in the law, shape (n, width).
            rows: Of the values held, shape (n, width).
            levels: Of people's levels, shape (n,).
            rng: Breaks ties.
        """
        speaks, chance = self.leaks(places, rows, levels)
        variance = chance * (1.0 - chance)
        numbers: Floats = np.where(
            variance >= _LEAST_VARIANCE,
            (speaks - chance) / np.sqrt(np.maximum(variance, _LEAST_VARIANCE)),
            self.telling(places, rows, rows, levels, rng=rng),
        )
        return numbers
