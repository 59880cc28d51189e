"""Private selection of the candidate, out of d, that most users approve of.

User i approves of some candidates, x_i in {0, 1}^d; the aim is a candidate whose share
of approval is nearly the largest.

* *Curator.* The exponential mechanism picks j with probability ~ exp(eps count_j / 2); its
  loss grows with log d / (n eps).
* *Local exponential mechanism.* Each user names one candidate, with probability
  ~ exp(eps x_ij / 2); the one named most often wins.
* *Local bit.* Each user is asked about one candidate, drawn uniformly, and answers by
  randomized response; the largest debiased share wins. Its loss grows with
  sqrt(d log d / n) / eps.

The gap in d between the first and the others is exponential, and intrinsic to the local
model (Ullman 2018, arXiv:1802.02638). The level of the local exponential mechanism is at
most eps; exactly it is the largest log ratio over all pairs of approvals:

    e^level = e^{eps/2} (1 + (d - 1) e^{eps/2}) / (e^{eps/2} + d - 1).

Source: Wang, lecture notes, section 9.2, item 2; McSherry, Talwar (2007), "Mechanism design
via differential privacy".
"""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.types import Floats, Ints
from shuffledp_papers.lecture_notes.mean_errors import checked

MOST_CANDIDATES = 2**16
# The largest d for which all 2^d approvals are enumerated.
_MOST_LISTED = 10


def naming_probabilities(approvals: NDArray[np.bool_], epsilon: float) -> Floats:
    """Returns the probabilities of naming each candidate.

    Args:
        approvals: Shape (n, d).
        epsilon: The local budget of every user.

    Returns:
        Shape (n, d).
    """
    if approvals.ndim != 2 or approvals.dtype != np.bool_ or approvals.shape[1] < 2:
        raise InvalidInputError("Expected approvals as booleans, shape (n, d), d >= 2.")
    _, budget = checked(max(approvals.shape[0], 1), epsilon)
    weights = np.where(approvals, 1.0, math.exp(-budget / 2.0))
    probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def name_candidates(
    approvals: NDArray[np.bool_], epsilon: float, *, rng: np.random.Generator
) -> Ints:
    """Draws the candidate that each user names, shape (n,)."""
    # The local exponential mechanism, by inversion of its distribution function.
    probabilities = naming_probabilities(approvals, epsilon)
    # Rounding may leave a sum a hair below 1.
    edges = np.cumsum(probabilities, axis=1)[:, :-1]
    drawn: Ints = (rng.random((len(probabilities), 1)) >= edges).sum(axis=1)
    return drawn


def listed_level(num_candidates: int, epsilon: float) -> float:
    """Returns the exact local level of `name_candidates`, over all pairs of approvals.

    >>> round(listed_level(2, 1.0), 4), round(listed_level(8, 1.0), 4)
    (0.5, 0.8716)
    """
    d = whole_number(num_candidates, "candidates", least=2, most=_MOST_LISTED)
    rows = np.array(list(itertools.product([False, True], repeat=d)))
    logs = np.log(naming_probabilities(rows, epsilon))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def level_formula(num_candidates: int, epsilon: float) -> float:
    """Returns the local level of `name_candidates` in closed form, for any d."""
    d = whole_number(num_candidates, "candidates", least=2, most=MOST_CANDIDATES)
    _, budget = checked(1, epsilon)
    # The largest ratio: approval of this candidate alone, or of all others alone.
    half = math.exp(budget / 2.0)
    return budget / 2.0 + math.log((1.0 + (d - 1) * half) / (half + d - 1))


def curators_choice(counts: Ints, epsilon: float, *, rng: np.random.Generator) -> int:
    """Draws a candidate by the exponential mechanism of a trusted curator.

    Args:
        counts: Number of users who approve of each candidate, shape (d,).
        epsilon: Central budget.
        rng: A simulation's generator.
    """
    _, budget = checked(1, epsilon)
    # The index of the largest score plus Gumbel noise has exactly this distribution.
    scores = 0.5 * budget * np.asarray(counts, dtype=np.float64)
    return int(np.argmax(scores + rng.gumbel(size=scores.size)))


def shares_of_bits(
    approved: NDArray[np.bool_],
    assigned: Ints,
    epsilon: float,
    *,
    num_candidates: int,
    rng: np.random.Generator,
) -> Floats:
    """Returns debiased shares of approval, shape (d,), each user asked about one.

    Args:
        approved: Whether each user approves of the assigned candidate, shape (n,).
        assigned: The assigned candidates, shape (n,).
        epsilon: The local budget of every user.
        num_candidates: d.
        rng: A simulation's generator.
    """
    _, budget = checked(max(approved.size, 1), epsilon)
    # One bit per user, by randomized response.
    levels = np.full(approved.size, budget)
    bits = OneBit().randomize(approved.astype(np.float64), levels, rng=rng)
    people = np.bincount(assigned, minlength=num_candidates)
    ones = np.bincount(assigned, weights=bits, minlength=num_candidates)
    growth = math.exp(budget)
    # Inverts E[bit] = (x (e^eps - 1) + 1) / (e^eps + 1).
    shares: Floats = (ones / np.maximum(people, 1) * (growth + 1.0) - 1.0) / (
        growth - 1.0
    )
    # A candidate about whom no user was asked must not win.
    return np.where(people > 0, shares, -np.inf)
