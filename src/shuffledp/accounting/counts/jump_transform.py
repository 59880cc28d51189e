"""Fourier transforms of compound numbers: sums of a random number of jumps.

*Range.* With R_j jumps of size j in the mean (j may be negative), a number X exceeds its
mean by a with at most the probability exp(K(t) - t a), for any t > 0, where K(t) = sum over
j of R_j (e^{t j} - 1 - t j) (Chernoff). A binomial number of jumps has a smaller moment
generating function than a Poisson one. Mass outside of the range wraps around.

*Rounding errors* are bounded in the Euclidean norm; the sum of absolute errors is at most
sqrt(cells) times that.
"""

import math

import numpy as np
from scipy.fft import next_fast_len

from shuffledp.accounting.counts.bucket_pair import ULP
from shuffledp.types import Complexes, Floats, Ints

# Beyond the range at either end: e^-34 is 2e-15.
FAR = 34.0


def cells_of(rates: Floats, sizes: Ints) -> int:
    """Returns how many cells around its mean hold X, up to a probability of 2 e^-34.

    Args:
        rates: R_j, shape (kinds,).
        sizes: j, shape (kinds,): all positive, or symmetric, as are the rates.
    """
    # Any t is right; of these, one is nearly the best.
    t = np.geomspace(1e-5, 40.0, 400)[:, None] / float(sizes.max())
    # K(-t) <= K(t) if sizes are positive, and they are equal if sizes are symmetric: X is
    # as rarely below the range as above it.
    moments = (np.expm1(t * sizes) - t * sizes) @ rates
    reach = float(((moments + FAR) / t[:, 0]).min())
    # For one message more, for a mean between two whole numbers, and for rounding.
    return int(next_fast_len(2 * math.ceil(1.000001 * reach) + 8))


def turns_of(steps: Ints, sizes: Ints, cells: int) -> Complexes:
    """Returns e^{2 pi i step size / cells}, shape (steps, sizes)."""
    # Whole numbers are reduced exactly: a large angle would be off by more.
    parts = np.multiply.outer(steps, sizes) % cells
    turns: Complexes = np.exp(2j * np.pi * (parts / cells))
    return turns


def rounding_error(masses: Floats, in_exponent: float) -> float:
    """Returns a bound of the sum of rounding errors of transformed powers.

    Args:
        masses: The result.
        in_exponent: Bound of the error of any exponent, in units of rounding.
    """
    # Transforms are right to log2(cells) roundings of their Euclidean norm, generously.
    relative = ULP * (in_exponent + 16.0 * math.log2(masses.size) + 16.0)
    return 1.1 * math.sqrt(masses.size) * relative * float(np.linalg.norm(masses))
