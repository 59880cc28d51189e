"""Guarantee of shuffled noisy gradient descent as E-APES states it: not proven.

In every epoch each client makes one step, in a random order. The paper states that an epoch
is mu-GDP, with the mu of Theorem 3 at the clients' budgets and without its error term, and
that T epochs compose to sqrt(T) mu. No part of it is proven.

Source: Chen, Cao, Ge (2023), "Enhancing Privacy in Personalized Differential Privacy under
the Shuffle Model", Algorithm 1 and Theorem 4.
"""

import math
from dataclasses import dataclass
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import Setting, Status
from shuffledp_papers.bounds.gaussian_profile import gaussian_epsilon
from shuffledp_papers.eapes.eapes_theorem import EapesTheorem, gdp_parameter
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@dataclass(frozen=True)
class StatedDescent:
    """The guarantee that the paper states for all clients.

    Attributes:
        mu: Of one epoch, as Gaussian differential privacy; infinite for one client.
        epsilon: Of all epochs, at delta; infinite beyond 1,000.
        status: The status of Theorem 3.
    """

    mu: float
    epsilon: float
    status: Status

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"mu": self.mu, "epsilon": self.epsilon, "status": self.status.value}

    def __str__(self) -> str:
        number = "infinite" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        return f"Published, central: {number}, whoever it is ({self.status.value})."


def stated_by_eapes(people: Population, *, epochs: int, delta: float) -> StatedDescent:
    """Returns the guarantee that is stated for a training.

    >>> clients = Population.from_counts({0.5: 50, 1.0: 50})
    >>> stated = stated_by_eapes(clients, epochs=1, delta=1e-5)
    >>> print(f"{stated.mu:.3f}-GDP, epsilon {stated.epsilon:.3f}")
    0.250-GDP, epsilon 0.925

    Args:
        people: The clients' levels: the epsilon of one step, at delta.
        epochs: T >= 1.
        delta: In (0, 1): of each step, and of the training.

    Raises:
        InvalidInputError: If a parameter is out of range.
    """
    if epochs < 1:
        raise InvalidInputError(f"Expected at least 1 epoch, got {epochs}.")
    # A single client has no others in the shuffle.
    if people.num_users < 2:
        return StatedDescent(math.inf, math.inf, EapesTheorem.proven)
    # Steps depend on the model after earlier ones. Theorem 3 is stated for such
    # sequences if budgets belong to places; here they are the clients' own.
    mu = gdp_parameter(Setting(people, delta_local=delta), delta_local=delta)
    # Composition of Gaussian differential privacy: squares of mu add up.
    total = math.sqrt(epochs) * mu
    try:
        epsilon = gaussian_epsilon(total, delta)
    except OutsidePreconditions:
        # The search for epsilon ends at 1,000.
        epsilon = math.inf
    return StatedDescent(mu, epsilon, EapesTheorem.proven)
