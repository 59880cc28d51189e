"""Empirical risk under local privacy: excess risk of three losses, and its rates.

n users hold vectors in the cube of side 2 / sqrt(d), within the unit ball, and have the
budget eps. For every user one coordinate is drawn, in public, and the user sends one bit
about this entry (`OneBit`). With c = (e^eps + 1) / (e^eps - 1), the mean of

    sqrt(d) c (+-1) in that coordinate,  0 elsewhere,

is unbiased for the mean of the vectors and has E|error|^2 <= d c^2 / n. From it,

| loss of theta in the unit ball | private minimizer        | excess empirical risk       |
|--------------------------------|--------------------------|-----------------------------|
| strongly convex, |theta - x|^2 / 2 | the estimate          | d c^2 / (2 n)               |
| convex, -<theta, x>            | the estimate, normalized | <= 2 sqrt(d) c / sqrt(n)    |
| convex, logistic               | local SGD                | about sqrt(d) c / sqrt(n)   |

Local SGD asks n / T users in each of T rounds for the gradient at the current point,
moves, projects onto the ball, and returns the mean of all points: each user answers once.

Source: Wang, lecture notes, section 9.2, item 1; rates of Duchi, Jordan, Wainwright (2013),
"Local privacy and statistical minimax rates".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.types import Floats
from shuffledp_papers.lecture_notes.mean_errors import checked

# Entries may exceed 1 / sqrt(d) by this relative error, from rounding.
_ROUNDING = 1e-9
# (users, a point) -> gradients of these users' losses at the point, shape (users, d).
Gradients = Callable[[slice, Floats], Floats]


def private_mean(
    vectors: Floats, epsilon: float, *, rng: np.random.Generator
) -> Floats:
    """Returns an unbiased estimate of the mean of vectors, from one bit per user.

    Args:
        vectors: Entries in [-1, 1] / sqrt(d), shape (n, d).
        epsilon: The local budget of every user.
        rng: A simulation's generator.

    Returns:
        Shape (d,).

    Raises:
        InvalidInputError: If an entry is out of range.
    """
    if vectors.ndim != 2 or not vectors.size:
        raise InvalidInputError("Expected vectors of shape (n, d).")
    n, d = vectors.shape
    _, budget = checked(n, epsilon)
    # Written this way round, it refuses NaN, too.
    if not np.all(np.abs(vectors) * math.sqrt(d) <= 1.0 + _ROUNDING):
        raise InvalidInputError("Expected entries from -1 / sqrt(d) to 1 / sqrt(d).")
    # Drawn in public: only the bit about the entry is private.
    coordinates = rng.integers(d, size=n)
    # In [-1, 1] up to rounding, the range of the one-bit randomizer.
    entries = np.clip(vectors[np.arange(n), coordinates] * math.sqrt(d), -1.0, 1.0)
    bits = OneBit(-1.0, 1.0).randomize(entries, np.full(n, budget), rng=rng)
    signs = np.where(bits == 0, -1.0, 1.0)
    sums = np.bincount(coordinates, weights=signs, minlength=d).astype(np.float64)
    # c = (e^eps + 1) / (e^eps - 1) = 1 / tanh(eps / 2).
    estimate: Floats = sums * (math.sqrt(d) / math.tanh(budget / 2.0) / n)
    return estimate


def strongly_convex_risk(num_users: int, num_dimensions: int, epsilon: float) -> float:
    """Returns d c^2 / (2 n), an upper bound on the excess risk of squared distances."""
    people, budget = checked(num_users, epsilon)
    # The loss of the estimate is half its squared error, d c^2 / n.
    d = whole_number(num_dimensions, "dimensions", least=1, most=2**20)
    return d / math.tanh(budget / 2.0) ** 2 / (2.0 * people)


def convex_rate(num_users: int, num_dimensions: int, epsilon: float) -> float:
    """Returns sqrt(d) / (sqrt(n) eps), the rate of convex losses."""
    people, budget = checked(num_users, epsilon)
    # Printed with eps under the root; outside of it the rate agrees with that of strongly
    # convex losses, d / (n eps^2).
    return math.sqrt(num_dimensions / people) / budget


def printed_convex_rate(num_users: int, num_dimensions: int, epsilon: float) -> float:
    """Returns sqrt(d) / sqrt(n eps), as printed."""
    people, budget = checked(num_users, epsilon)
    return math.sqrt(num_dimensions / (people * budget))


def on_ball(point: Floats) -> Floats:
    """Returns the nearest point of the unit ball, shape (d,)."""
    nearest: Floats = point / max(1.0, float(np.linalg.norm(point)))
    return nearest


@dataclass(frozen=True)
class LocalSgd:
    """Stochastic gradient descent in which each user answers once; constant step size.

    Attributes:
        num_rounds: T.
    """

    num_rounds: int

    def __post_init__(self) -> None:
        whole_number(self.num_rounds, "rounds", least=1, most=10**6)

    def step(self, num_users: int, num_dimensions: int, epsilon: float) -> float:
        """Returns 1 / (G sqrt(T)), G^2 = 1 + d c^2 T / n a gradient's mean square."""
        # A round has n / T users, so that its gradient has T times the noise of all.
        noise = 2.0 * strongly_convex_risk(num_users, num_dimensions, epsilon)
        return 1.0 / math.sqrt(self.num_rounds * (1.0 + noise * self.num_rounds))

    def run(
        self,
        gradients: Gradients,
        *,
        num_users: int,
        num_dimensions: int,
        epsilon: float,
        rng: np.random.Generator,
    ) -> Floats:
        """Returns the mean of all points, shape (d,).

        Args:
            gradients: Of the losses of some users at a point; entries in
                [-1, 1] / sqrt(d).
            num_users: n, at least one for each round.
            num_dimensions: d.
            epsilon: The local budget of every user.
            rng: A simulation's generator.
        """
        people, budget = checked(num_users, epsilon)
        size = people // self.num_rounds
        if size < 1:
            raise InvalidInputError(
                f"Expected at least {self.num_rounds} people, got {people}."
            )
        step = self.step(people, num_dimensions, budget)
        point = np.zeros(num_dimensions)
        total = np.zeros(num_dimensions)
        for number in range(self.num_rounds):
            # Disjoint groups: each user answers in one round.
            batch = slice(number * size, (number + 1) * size)
            gradient = private_mean(gradients(batch, point), budget, rng=rng)
            point = on_ball(point - step * gradient)
            total += point
        mean: Floats = total / self.num_rounds
        return mean
