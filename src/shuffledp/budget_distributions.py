"""The distributions of personal budgets on which the literature reports its figures.

Different papers give the same name to different distributions, so a name here starts
with its paper:

* `e-apes/...`  Chen, Cao, Ge (2023), "Enhancing Privacy in Personalized Differential
  Privacy under the Shuffle Model", Table 3;
* `apes/...`    Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Table 2, and
  for the three whose name ends in 3 the caption of Figure 8;
* `f-dp/...`    Liu, Liu, Xiong, "Enhanced Privacy Bound for Shuffle Model with
  Personalized Privacy", Table 1.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_whole
from shuffledp.errors import InvalidInputError
from shuffledp.population import MAX_USERS
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats


@dataclass(frozen=True)
class Uniform:
    """Budgets uniform on [low, high]."""

    low: float
    high: float

    @property
    def clip_range(self) -> tuple[float, float]:
        """The smallest and the largest budget that can occur."""
        return self.low, self.high

    def draw(self, num_users: int, *, rng: Rng) -> Floats:
        """Draws one budget per person, shape (num_users,)."""
        return self.low + (self.high - self.low) * rng.random(num_users)


@dataclass(frozen=True)
class ClippedNormal:
    """Budgets from a mixture of normal distributions, clipped to a range.

    Attributes:
        parts: (mean, standard deviation, share of people) of each part.
        clip_range: Values outside move to the nearer end.
    """

    parts: tuple[tuple[float, float, float], ...]
    clip_range: tuple[float, float]

    def draw(self, num_users: int, *, rng: Rng) -> Floats:
        """Draws one budget per person, shape (num_users,)."""
        means, deviations, shares = np.array(self.parts).T
        # The last share is 1 minus the others: rounding cannot lead past the last part.
        part = np.searchsorted(np.cumsum(shares)[:-1], rng.random(num_users), "right")
        # Inversion of the distribution function: one uniform number for each person.
        budgets = means[part] + deviations[part] * ndtri(rng.random(num_users))
        clipped: Floats = np.clip(budgets, *self.clip_range)
        return clipped


def _normal(mean: float, deviation: float, low: float, high: float) -> ClippedNormal:
    # The papers' second parameter is read as a standard deviation, as in E-APES.
    return ClippedNormal(((mean, deviation, 1.0),), (low, high))


def _mixture(mean: float, liberal_mean: float, high: float) -> ClippedNormal:
    # 90% conservative and 10% liberal people, both with deviation 1.
    return ClippedNormal(((mean, 1.0, 0.9), (liberal_mean, 1.0, 0.1)), (0.05, high))


BUDGET_DISTRIBUTIONS: dict[str, Uniform | ClippedNormal] = {
    "e-apes/uniform1": Uniform(0.05, 1.0),
    "e-apes/uniform2": Uniform(0.01, 2.0),
    "e-apes/gauss1": _normal(0.5, 0.2, 0.05, 1.0),
    "e-apes/gauss2": _normal(1.0, 0.2, 0.01, 2.0),
    "e-apes/gauss3": _normal(1.0, 0.5, 0.01, 2.0),
    "apes/uniform1": Uniform(0.05, 0.5),
    "apes/uniform2": Uniform(0.05, 1.0),
    "apes/uniform3": Uniform(0.05, 3.0),
    "apes/gauss1": _normal(0.1, 1.0, 0.05, 0.5),
    "apes/gauss2": _normal(0.2, 1.0, 0.05, 1.0),
    "apes/gauss3": _normal(0.5, 1.0, 0.05, 3.0),
    "apes/mixgauss1": _mixture(0.1, 0.5, 0.5),
    "apes/mixgauss2": _mixture(0.2, 1.0, 1.0),
    "apes/mixgauss3": _mixture(0.5, 3.0, 3.0),
    "f-dp/uniform1": Uniform(0.05, 1.0),
    "f-dp/uniform2": Uniform(0.5, 2.0),
    "f-dp/gauss1": _normal(0.8, 0.5, 0.05, 1.0),
    "f-dp/gauss2": _normal(1.5, 0.5, 0.5, 2.0),
}


def draw_budgets(name: str, num_users: int, *, rng: Rng) -> Floats:
    """Draws one local budget per person from a distribution of the literature.

    >>> rng = np.random.default_rng(1)
    >>> draw_budgets("apes/uniform2", 4, rng=rng).round(3)
    array([0.536, 0.953, 0.187, 0.951])

    Args:
        name: Paper and name, such as "apes/mixgauss2"; upper case is accepted.
        num_users: How many people, >= 1.
        rng: The only source of randomness.

    Returns:
        Budgets in nats, shape (num_users,).

    Raises:
        InvalidInputError: If the name is unknown or `num_users` is below 1.
    """
    distribution = BUDGET_DISTRIBUTIONS.get(expect_instance(name, str).lower())
    if distribution is None:
        raise InvalidInputError(
            f"Expected one of {', '.join(BUDGET_DISTRIBUTIONS)}, got {name!r}."
        )
    if not 1 <= as_whole(num_users, "people") <= MAX_USERS:
        raise InvalidInputError(
            f"Expected 1 to {MAX_USERS:g} people, got {num_users:,}."
        )
    check_rng(rng)
    return distribution.draw(num_users, rng=rng)
