"""Covers for any randomizers, from three declared numbers per level.

For a pair x, x' of the target user's values and the other users' randomizers:

* p: R(x) <= p R(x') and R(x') <= p R(x);
* beta: the total variation distance of R(x) and R(x');
* q: R(x) <= q R_i(z) and R(x') <= q R_i(z) for every value z of every other user i.

Then omega = max(R(x), R(x')) / (1 + beta) is covered with weight (1 + beta) / q by each
other user, and the target user's loss is, in the worst case, that of three kinds of
messages: p to 1 for x, p to 1 for x', and neutral. With a = beta / (p - 1), their
probabilities under x are p a, a and 1 - a - p a. No smaller bound follows from p, beta
and q alone. The numbers are those of the variation ratio of Wang et al. (2024,
arXiv:2304.05007), whose own reduction is not an upper bound in general.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.cover import Attack, Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population

# Level 0 is certified as this one, which only tells more.
_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class DeclaredRatios:
    """A declaration, which the accountant takes on trust and repeats in the certificate.

    >>> import shuffledp as sdp
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> guarantee = sdp.account(sdp.DeclaredRatios(q=2.0), people, delta=1e-6)
    >>> [level.epsilon_central for level in guarantee.levels]
    [0.0366232, 0.0567189]

    Attributes:
        q: The largest of the ratios called q above, for all pairs of people; >= 1.
        beta: Total variation distance of a target user's two messages; None for the
            largest that their budget allows, (e^eps - 1) / (e^eps + 1).
    """

    q: float
    beta: float | None = None

    def __post_init__(self) -> None:
        q = as_number(self.q, "q")
        if not (math.isfinite(q) and q >= 1.0):
            raise InvalidInputError(f"Expected a finite q >= 1, got {q:g}.")
        if self.beta is not None:
            beta = as_number(self.beta, "beta")
            if not 0.0 < beta <= 1.0:
                raise InvalidInputError(f"Expected 0 < beta <= 1, got {beta:g}.")

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "declared-ratios"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        parameters_known: dict[str, int | float | str] = {"q": float(self.q)}
        if self.beta is not None:
            parameters_known["beta"] = float(self.beta)
        return parameters_known

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The declared numbers."""
        distance = "any" if self.beta is None else f"at most {self.beta:g}"
        return (
            "Declared, not measured: every level keeps its local budget; a person's two "
            f"messages have total variation distance {distance}; and none of them is more "
            f"than {self.q:g} times as likely as under anybody else's randomizer.",
        )

    @property
    def changes(self) -> int:
        """1: a report is one message."""
        return 1

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the largest divergence that the declaration allows."""
        if epsilon >= level:
            return 0.0
        beta = self._distance(level)
        # p a - e^epsilon a.
        return beta * -math.expm1(epsilon - level) / -math.expm1(-level) * (1 + 1e-12)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover per target user."""
        del delta
        covers: list[tuple[Cover, ...]] = []
        for budget in target_users:
            target_user = max(budget, _SMALLEST)
            beta = self._distance(target_user)
            # R_i(z) >= max(R(x), R(x')) / q = omega (1 + beta) / q; rounded down.
            gamma = min((1.0 + beta) / self.q, 1.0) * (1.0 - 1e-14)
            # Messages for x have omega = R(x) / (1 + beta) and R(x') = e^-target user
            # R(x).
            low = (1.0 + beta) * math.exp(-target_user)
            gap = (1.0 + beta) * -math.expm1(-target_user)
            # omega has p a / (1 + beta) on either telling kind.
            telling = min(2.0 * beta / -math.expm1(-target_user) / (1.0 + beta), 1.0)
            cover = Cover(
                np.full(population.num_levels, gamma),
                np.array([telling / 2.0, telling / 2.0, max(1.0 - telling, 0.0)]),
                np.array([gap, -gap, 0.0]),
                np.array([low, low + gap, 1.0 + beta]),
            )
            covers.append((cover,))
        return covers

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns none: nothing more is known about the messages."""
        del population
        return [() for _ in target_users]

    def _distance(self, level: float) -> float:
        # (e^eps - 1) / (e^eps + 1): no pair is farther apart at this budget.
        max_distance = math.tanh(level / 2.0)
        return max_distance if self.beta is None else min(self.beta, max_distance)
