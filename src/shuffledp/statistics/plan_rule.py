"""The rule that every later plan of a collection must keep, agreed to before it begins.

Where people choose central targets, the protocol of their devices is planned once the
choices are counted. The rule stands in the task that all parties sign, and implies every
target for any plan that keeps it: devices judge a plan by the rule alone, and need not
trust its maker.
"""

from typing import Any, Protocol

from shuffledp.identity import Identity
from shuffledp.tally import Tally


class PlanRule(Protocol):
    """Judges plans, and makes the best plan that it allows: a frozen dataclass.

    A plan is the identity of the protocol that answers follow, together with the least
    number of people whose answers it relies on.
    """

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for the task, without its other terms."""
        ...

    def prove(self) -> None:
        """Certifies that the rule implies every target.

        Raises:
            CertificationError: If that cannot be proven.
        """
        ...

    def check(self, plan: Identity, minimum: int) -> None:
        """Checks that a plan keeps every target for any population of at least `minimum`.

        Args:
            plan: Of the answers.
            minimum: The least number of people who answer, absent people included.

        Raises:
            InvalidInputError: If the rule does not show it.
        """
        ...

    def plan(self, chosen: Tally, minimum: int, *, spare: int) -> Identity:
        """Returns the plan of least predicted error that `check` passes.

        Args:
            chosen: How many people chose each target.
            minimum: As in `check`.
            spare: How many of them may contribute no cover, besides absent people.

        Raises:
            InvalidInputError: If these are not choices, or too few people.
            CertificationError: If the rule allows no plan.
        """
        ...
