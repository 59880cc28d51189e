"""The populations of E-APES (Chen, Cao, Ge 2023), section 4.2.

10,000 users in three groups: conservative, moderate and liberal, with local budgets
epsilon_c, 0.5 and 1.0 and shares f_c, 1 - f_c - 0.09 and 0.09. One figure varies f_c from
0.01 to 0.5, another epsilon_c from 0.05 to 0.45; otherwise f_c = 0.54 and epsilon_c = 0.1.

The paper states (Corollaries 1 and 2) that every user has mu-GDP with

    mu = sqrt(2 / sum_{i < n} 1 / (1 + e^eps_i)),

without the error term of its Theorem 3, for any noise of the others: an asymptotic
statement, and not a certificate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.population import Population
from shuffledp_papers.bounds.gaussian_profile import gaussian_epsilon
from shuffledp_papers.figures.table import Cell

NUM_USERS = 10_000
DELTA = 1e-6
_LIBERAL, _MODERATE = 1.0, 0.5
_SHARE_LIBERAL = 0.09
_SHARES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5)
_BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
_USUAL_SHARE, _USUAL_BUDGET = 0.54, 0.1


@dataclass(frozen=True)
class ThreeGroups:
    """The users at one point of a figure.

    Attributes:
        varied: "f_c" or "epsilon_c".
        share: f_c.
        budget: epsilon_c.
    """

    varied: str
    share: float
    budget: float

    @property
    def at(self) -> float:
        """The number on the horizontal axis."""
        return self.share if self.varied == "f_c" else self.budget

    @property
    def people(self) -> Population:
        """The three groups."""
        careful = round(self.share * NUM_USERS)
        liberal = round(_SHARE_LIBERAL * NUM_USERS)
        return Population.from_counts(
            {
                self.budget: careful,
                _MODERATE: NUM_USERS - careful - liberal,
                _LIBERAL: liberal,
            }
        )

    @property
    def mu(self) -> float:
        """The mu of the paper."""
        # The sum is over n - 1 users; the one left out is of the most liberal group.
        people = self.people
        hidden = people.counts / (1.0 + np.exp(people.epsilons))
        return float(np.sqrt(2.0 / (hidden.sum() - 1.0 / (1.0 + np.exp(_LIBERAL)))))

    def cells(self, certified: Sequence[float]) -> dict[str, Cell]:
        """Returns the cells that all tables have: setting and guarantees.

        Args:
            certified: Epsilons of conservative, moderate and liberal users.
        """
        names = ("cert. C", "cert. M", "cert. L")
        return {
            "varied": self.varied,
            "at": self.at,
            "mu": self.mu,
            "eps(mu)": gaussian_epsilon(self.mu, DELTA),
            **dict(zip(names, certified, strict=True)),
        }


SETTINGS = (
    *(ThreeGroups("f_c", share, _USUAL_BUDGET) for share in _SHARES),
    *(ThreeGroups("epsilon_c", _USUAL_SHARE, budget) for budget in _BUDGETS),
)
